from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mage
from mage.drawing import AGAINST, FOR, shown_names
from mage.plots import molecule_svg, plot_explanation, plot_indices, plot_sentence, plot_superpixels, save_figure
from tests.helpers.demo import demo_of_both_sides
from tests.helpers.graph_models import OneLayerNet, molecule


@pytest.fixture(scope="module")
def explanation():
    return demo_of_both_sides(1)


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_pictures_repeat_byte_by_byte(explanation, tmp_path, kind):
    for name in ("a", "b"):
        save_figure(plot_explanation(explanation), tmp_path / f"{name}.{kind}")
    first, second = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("a", "b"))
    assert first == second
    assert len(first) > 5000


def test_colours_tell_for_from_against(explanation, tmp_path):
    save_figure(explanation.plot(heat_map=False), tmp_path / "graph.svg")
    text = (tmp_path / "graph.svg").read_text()
    assert FOR in text
    assert AGAINST in text


def test_names_are_no_formulas(explanation, tmp_path):
    # An unknown command between two dollar signs is an error where matplotlib reads it.
    names = tuple(r"$\nonsense$" for _ in explanation.names)
    index = replace(explanation.interactions, names=names)
    odd = replace(explanation, names=names, interactions=index, class_names=(r"$\a$", r"$\b$"))
    save_figure(odd.plot(), tmp_path / "explanation.svg")
    save_figure(plot_sentence(odd), tmp_path / "sentence.svg")
    save_figure(plot_indices([index]), tmp_path / "indices.svg")
    assert all((tmp_path / name).stat().st_size > 5000 for name in ("explanation.svg", "sentence.svg", "indices.svg"))


def test_molecules_are_drawn_as_molecules():
    data = molecule("c1ccccc1[N+](=O)[O-]")
    explanation = mage.explain(OneLayerNet(8), data, num_motifs=2, max_nodes=4, tau=0.5)
    svg = molecule_svg(explanation)
    assert svg.count("<path") > 10
    assert 'class="bonds"' in svg
    assert molecule_svg(explanation, data.smiles) == svg
    other = "C1CCCC1C(=O)OO"
    for smiles, message in (
        ("CC", "8 atoms"),
        ("not a molecule", "cannot read"),
        ("", "carries none"),
        (other, "bonds"),
    ):
        with pytest.raises(ValueError, match=message):
            molecule_svg(explanation, smiles)


def test_sentences_keep_their_words(tmp_path):
    words = ["a", "truly", "dreadful", "<film>", "&", "more"]
    edges = torch.tensor([[0, 1, 2, 3, 4], [3, 2, 3, 5, 3]])
    data = Data(x=torch.randn(6, 4), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    explanation = mage.explain(OneLayerNet(4), data, names=words, tau=0.5, masking="zero")
    save_figure(plot_sentence(explanation), tmp_path / "sentence.svg")
    assert "<film>" not in (tmp_path / "sentence.svg").read_text()
    with pytest.raises(ValueError, match="2 words for 6 nodes"):
        plot_sentence(explanation, ["a", "b"])


def test_superpixels_lie_over_their_image(tmp_path):
    edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
    data = Data(x=torch.rand(4, 4), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    explanation = mage.explain(OneLayerNet(4), data, max_nodes=2, tau=0.5, masking="zero")
    segments = np.repeat(np.repeat(np.array([[0, 1], [2, 3]]), 8, axis=0), 8, axis=1)
    save_figure(
        plot_superpixels(explanation, np.random.default_rng(0).random((16, 16)), segments), tmp_path / "image.png"
    )
    assert (tmp_path / "image.png").stat().st_size > 1000
    with pytest.raises(ValueError, match="segments"):
        plot_superpixels(explanation, np.zeros((16, 16)), segments + 3)


def test_figures_show_themselves(explanation, capsys, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    figure = explanation.plot(heat_map=False)
    assert figure._repr_png_().startswith(b"\x89PNG")
    figure.show()
    assert capsys.readouterr().out.startswith("wrote ")


def test_what_is_drawn_does_not_depend_on_where(explanation):
    """Pages, pictures without scripts and figures have one scene."""
    from mage.drawing import scene_of

    scene = scene_of(explanation)
    figure = plot_explanation(explanation, heat_map=False)
    circles = [patch for patch in figure.axes[0].patches if type(patch).__name__ == "Circle"]
    np.testing.assert_allclose(sorted(patch.center for patch in circles), sorted(map(tuple, scene.places)))
    written = {text.get_text() for text in figure.axes[0].texts}
    assert {label.text for label in scene.labels} <= written


def test_positions_of_ones_own_are_kept(explanation):
    angle = np.arange(explanation.num_nodes)
    place = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    figure = plot_explanation(explanation, positions=place, heat_map=False)
    circles = [patch.center for patch in figure.axes[0].patches if type(patch).__name__ == "Circle"]
    centres = np.array(circles) * (1, -1)
    scale = centres[0, 0] / place[0, 0]
    np.testing.assert_allclose(centres, scale * place, atol=1e-9)
    with pytest.raises(ValueError, match="positions must have shape"):
        plot_explanation(explanation, positions=place[:3])


def test_the_heat_map_shows_the_same_pairs_as_the_page():
    explanation = mage.explain(mage.models.load_demo_model(), mage.models.demo_graph(1), order=3)
    heat_map = plot_explanation(explanation).axes[1].images[0].get_array()
    assert sorted(np.ravel(heat_map)) == pytest.approx(sorted(explanation.interactions.pair_values.ravel()))


def test_types_are_named_above_the_drawing():
    from matplotlib.figure import Figure

    from mage.drawing.scene_builders import graph_scene
    from mage.plots.scene import draw_scene
    from tests.helpers.explanations import made_up

    graph = nx.path_graph(4)
    scene = graph_scene(tuple("abcd"), list(graph.edges()), types=("user", "item", "user", "item"))
    figure = Figure()
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.6))
    draw_scene(axes, made_up(graph), scene)
    figure.draw_without_rendering()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["user", "item"]
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1


def test_every_kind_of_file_that_is_offered_can_be_written(explanation, tmp_path):
    save_figure(explanation.plot(heat_map=False), tmp_path / "why.gif")
    assert (tmp_path / "why.gif").read_bytes().startswith(b"GIF8")


def test_atoms_have_the_same_names_in_figure_table_and_comparison():
    explanation = mage.explain(OneLayerNet(8), molecule("c1ccccc1[N+](=O)[O-]"), num_motifs=2, max_nodes=4, tau=0.5)
    assert explanation.names[6] == "6"
    assert shown_names(explanation) == ["C0", "C1", "C2", "C3", "C4", "C5", "N6", "O7", "O8"][: explanation.num_nodes]
    ticks = {tick.get_text() for tick in explanation.plot().axes[1].get_xticklabels()}
    assert ticks == set(shown_names(explanation))
    motif = explanation.all_motifs[0]
    table = mage.report.explanation_page(explanation).partition("<noscript>")[2]
    assert ", ".join(shown_names(explanation)[atom] for atom in motif.nodes) in table
