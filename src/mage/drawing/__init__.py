"""What figures and pages share: layout, colours, and the grounds that explanations are drawn on."""

from mage.drawing.colours import AGAINST, FOR, coloured_motifs, side_colour
from mage.drawing.grounds import drawable, ground, undirected_edges
from mage.drawing.layout import across, stress_layout
from mage.drawing.molecules import Molecule, molecule_of
from mage.drawing.motif_names import MotifName, motif_names
from mage.drawing.pictures import decode_runs, encode_runs, outlines, png_uri
from mage.drawing.sentences import words_of

__all__ = [
    "AGAINST",
    "FOR",
    "Molecule",
    "MotifName",
    "across",
    "coloured_motifs",
    "decode_runs",
    "drawable",
    "encode_runs",
    "ground",
    "molecule_of",
    "motif_names",
    "outlines",
    "png_uri",
    "side_colour",
    "stress_layout",
    "undirected_edges",
    "words_of",
]
