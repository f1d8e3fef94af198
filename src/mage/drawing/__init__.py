"""What figures and pages share: layout, colours, and the scenes that explanations are drawn as."""

from mage.drawing.colours import AGAINST, FOR, coloured_motifs, side_colour
from mage.drawing.layout import across, stress_layout
from mage.drawing.molecules import Molecule, molecule_of
from mage.drawing.motif_names import MotifName, MotifNames, motif_names
from mage.drawing.node_names import player_names, shown_names
from mage.drawing.pictures import decode_runs, encode_runs, outlines, png_uri
from mage.drawing.scene import Scene
from mage.drawing.scene_builders import drawable, pattern_scene, scene_of, undirected_edges
from mage.drawing.sentences import words_of
from mage.drawing.svg import hatch_svg, pattern_svg, scene_svg
from mage.drawing.untangling import num_crossings

__all__ = [
    "AGAINST",
    "FOR",
    "Molecule",
    "MotifName",
    "MotifNames",
    "Scene",
    "across",
    "coloured_motifs",
    "decode_runs",
    "drawable",
    "encode_runs",
    "hatch_svg",
    "molecule_of",
    "motif_names",
    "num_crossings",
    "outlines",
    "pattern_scene",
    "pattern_svg",
    "player_names",
    "png_uri",
    "scene_of",
    "scene_svg",
    "shown_names",
    "side_colour",
    "stress_layout",
    "undirected_edges",
    "words_of",
]
