"""Odd inputs to what explanations, datasets and networks are made of: right, or refused by name."""

import dataclasses

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

import mage
from mage import datasets, models, motifs, plots
from mage.games import ModelGame
from mage.testing import random_game
from tests.helpers.odd_inputs import PATH, VALUES, Net, check_outcome, graph

INDEX = mage.interactions(random_game(5, PATH), order=2)
MOTIFS = mage.find_motifs(INDEX, tau=0.5, max_nodes=3)
REQUEST = mage.MotifRequest()


@pytest.fixture(scope="module")
def explanation():
    return mage.explain(Net().eval(), graph(), progress=False, tau=0.5, max_nodes=3, num_motifs=2)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(mage.Explanation)])
def test_fields_of_explanations(explanation, field):
    # Fields that must fit each other name each other.
    partners = {"task": ("target", "prediction"), "target": ("task",), "prediction": ("task", "target")}
    for value in VALUES.values():
        names = (field, *partners.get(field, ()), "motifs", "interactions", "edge_index", "players", "names")
        changed = check_outcome(lambda value=value: dataclasses.replace(explanation, **{field: value}), *names)
        if changed is not None:
            assert repr(changed)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(mage.MotifSet)])
def test_fields_of_sets_of_motifs(field):
    for value in VALUES.values():
        changed = check_outcome(lambda value=value: dataclasses.replace(MOTIFS, **{field: value}), field, "nodes")
        if changed is not None:
            assert "motifs" in repr(changed)


@pytest.mark.parametrize("field", ["nodes", "score", "names", "edges"])
def test_fields_of_motifs(field):
    for value in VALUES.values():
        motif = check_outcome(
            lambda value=value: mage.Motif(**{"nodes": (0, 1), "score": 1.0, field: value}), field, "names"
        )
        if motif is not None:
            assert all(type(node) is int for node in motif.nodes)


@pytest.mark.parametrize("name", VALUES)
def test_functions_of_motifs(name):
    value = VALUES[name]
    for call, *arguments in (
        (lambda: motifs.labels_of(value, 5), "motifs"),
        (lambda: motifs.labels_of(MOTIFS.motifs, value), "num_nodes"),
        (lambda: motifs.family_objective(value, MOTIFS), "interactions"),
        (lambda: motifs.family_objective(INDEX, value), "family"),
        (lambda: REQUEST.sizes_of(value), "num_nodes"),
        (lambda: REQUEST.sizes_of(5, value), "least"),
        (lambda: REQUEST.max_nodes_of(value), "num_nodes"),
        (lambda: REQUEST.max_nodes_of(5, value), "least"),
        (lambda: REQUEST.check_order(value), "order"),
        (lambda: REQUEST.objective_at(value), "order"),
    ):
        check_outcome(call, *arguments)


BY_NODES = ["nodes", "game", "data", "method", "max_nodes", "node_scores", "edge_scores", "edge_std_error", "masking"]


@pytest.mark.parametrize("argument", [*BY_NODES, "num_queries", "diagnostics", "subject", "names"])
def test_explanations_by_nodes(argument):
    game = ModelGame(Net().eval(), graph(), output="logit", masking="remove")
    other = "method_edge_scores" if argument == "edge_scores" else argument
    for value in VALUES.values():
        fields = {"nodes": [0, 1], "game": game, "data": graph(), "method": "mine"} | {argument: value}
        made = check_outcome(lambda fields=fields: mage.Explanation.from_nodes(**fields), argument, other)
        if made is not None:
            assert made.num_nodes == 5


@pytest.mark.parametrize("name", VALUES)
def test_pages_and_plots(name, explanation, tmp_path):
    value, page = VALUES[name], tmp_path / "page.html"
    for call, *arguments in (
        (lambda: explanation.save_html(page, value), "title"),
        (lambda: explanation.save_html(page, "", value), "text"),
        (lambda: mage.save_html(explanation, page, labels=value), "labels"),
        (lambda: mage.save_html(explanation, page, side_by_side=value), "side_by_side"),
        (lambda: mage.report.explanations_page(value), "explanations"),
        (lambda: mage.report.explanation_page(value), "explanations"),
    ):
        check_outcome(call, *arguments)
    if value is not None:
        assert check_outcome(lambda: explanation.plot(positions=value), "positions") is None


@pytest.mark.parametrize("name", VALUES)
def test_drawings_of_no_explanation(name, explanation, tmp_path):
    value, drawing, axes = VALUES[name], mage.drawing, Figure().add_subplot()
    pixels, regions = np.zeros((5, 2)), np.arange(5)[:, None].repeat(2, axis=1)
    for function in (
        *(plots.plot_explanation, plots.plot_sentence, plots.plot_image, plots.molecule_svg, mage.explanation.crop),
        *(drawing.scene_of, drawing.drawable, drawing.undirected_edges, drawing.motif_names, drawing.words_of),
        *(drawing.molecule_of, drawing.coloured_motifs, mage.report.solution_grid),
        *(lambda value: plots.draw_motifs(axes, value), lambda value: plots.draw_heat_map(axes, value)),
    ):
        assert check_outcome(lambda function=function: function(value), "explanation") is None
    for call, *arguments in (
        (lambda: mage.report.agreement(value, explanation), "first"),
        (lambda: mage.report.agreement(explanation, value), "second"),
        (lambda: plots.draw_interactions(axes, value), "interactions"),
        (lambda: plots.plot_indices(value), "results"),
        (lambda: plots.save_figure(value, tmp_path / "figure.svg"), "figure"),
        (lambda: plots.plot_sentence(explanation, value), "words"),
        (lambda: plots.plot_image(explanation, value, regions), "image", "segments"),
        (lambda: plots.plot_image(explanation, pixels, value), "segments", "image"),
        (lambda: plots.plot_explanation(explanation, heat_map=value), "heat_map"),
        (lambda: mage.explanation.crop(explanation, value), "most_nodes"),
    ):
        check_outcome(call, *arguments)


@pytest.fixture(scope="module")
def dataset():
    return datasets.load("ba_house_grid", count=12)


@pytest.mark.parametrize("name", VALUES)
def test_datasets(name, dataset):
    value = VALUES[name]
    network = models.GIN(dataset.num_features, 2, width=4, num_layers=1)
    graphs = [graph(y=torch.tensor([0])), graph(y=torch.tensor([1]))]
    for call, *arguments in (
        (lambda: datasets.info(value), "name"),
        (lambda: datasets.where(value), "name"),
        (lambda: datasets.load(value), "name"),
        (lambda: datasets.load("ba_house_grid", download=value, count=3), "download"),
        (lambda: datasets.load("ba_house_grid", seed=value, count=3), "seed"),
        (lambda: datasets.load("ba_house_grid", count=value), "count"),
        (lambda: datasets.load("ba_house_grid", value, count=3), "root"),
        (lambda: datasets.data_folders(value), "root"),
        (lambda: datasets.paper_split(value), "size"),
        (lambda: datasets.motifs_of(value), "data"),
        (lambda: dataset.batch(value), "positions"),
        (lambda: list(dataset.batches(value, 2)), "positions"),
        (lambda: list(dataset.batches([0], value)), "size"),
        (lambda: dataset.prepare(value), "positions"),
        (lambda: dataset.motifs(value), "index"),
        (lambda: dataset.settings(value), "index"),
        (lambda: dataset.explained(network, value), "limit"),
        (lambda: datasets.GraphDataset.from_graphs(value, graphs), "name"),
        (lambda: datasets.GraphDataset.from_graphs("mine", value), "graphs"),
        (lambda: datasets.GraphDataset.from_graphs("mine", graphs, value), "settings"),
        (lambda: datasets.GraphDataset.from_graphs("mine", graphs, None, value), "split"),
        (lambda: datasets.GraphDataset.from_graphs("mine", graphs, None, None, value), "class_names"),
        (lambda: models.make_network(value), "architecture"),
    ):
        check_outcome(call, *arguments)


@pytest.mark.parametrize("argument", ["num_features", "num_classes", "width", "num_layers", "normalize", "readout"])
def test_networks(argument):
    for value in VALUES.values():
        fields = {"kind": "gcn", "num_features": 3, "num_classes": 2, "width": 4} | {argument: value}
        network = check_outcome(lambda fields=fields: models.make_network(fields), argument)
        if network is not None:
            assert network(torch.ones(2, fields["num_features"]), torch.tensor([[0], [1]])).isfinite().all()


@pytest.mark.parametrize("name", VALUES)
def test_training_and_checkpoints(name, dataset, tmp_path):
    value, network = VALUES[name], models.GIN(dataset.num_features, 2, width=4, num_layers=1)
    quick = {"plan": models.TrainingPlan(epochs=1), "progress": False}
    for call, *arguments in (
        (lambda: models.train(value, "gin"), "dataset"),
        (lambda: models.train(dataset, value), "kind"),
        (lambda: models.train(dataset, "gin", seed=value, **quick), "seed"),
        (lambda: models.train(dataset, "gin", **quick | {"progress": value}), "progress"),
        (lambda: models.accuracy(network, value, [0]), "dataset"),
        (lambda: models.accuracy(network, dataset, value), "positions"),
        (lambda: models.predictions(network, dataset, value), "positions"),
        (lambda: models.demo_graph(value), "seed"),
        (lambda: models.pretrained(value, "gin"), "dataset"),
        (lambda: models.pretrained("ba_house_grid", value), "model"),
        (lambda: models.rule_network(value), "dataset"),
        (lambda: models.save_checkpoint(tmp_path / "network", value, {}), "model"),
        (lambda: models.save_checkpoint(tmp_path / "network", network, value), "about"),
    ):
        check_outcome(call, *arguments)
    if value is not None:
        assert check_outcome(lambda: models.train(dataset, "gin", plan=value), "plan") is None
    if not isinstance(value, str):
        for call, *arguments in (
            (lambda: models.load_checkpoint(value), "path"),
            (lambda: models.save_checkpoint(value, network, {}), "path"),
            (lambda: models.authors_checkpoint(value, "mutagenic", "gin"), "folder"),
            (lambda: models.authors_datasets(value), "folder"),
            (lambda: models.load_image_classifier(value), "source"),
        ):
            assert check_outcome(call, *arguments) is None


def test_positions_of_other_graphs(dataset):
    assert dataset.batch([-1]).num_graphs == 1
    for positions in ([12], [-13], np.array([0, 99])):
        with pytest.raises(ValueError, match="positions must be 0 … 11"):
            dataset.batch(positions)
