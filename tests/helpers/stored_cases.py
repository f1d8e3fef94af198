"""Explanations and interactions with fixed inputs, whose numbers are kept in a file.

All models compute in double precision with weights drawn by numpy, so that numbers differ by rounding only from machine
to machine. The cases use public names with keyword arguments, so that older versions of the library can run them too:
``python -m tests.helpers.stored_cases FILE`` writes the numbers of the version that is installed.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch_geometric.nn import global_add_pool, global_max_pool

import mage
from tests.helpers.stored_models import BEFORE, GraphNet, ImageNet, LinkNet, NodeNet, explained, graph, with_weights

FILE = Path(__file__).parents[1] / "explainers" / "stored_numbers.json"
MOST_VALUES = 40  # of a case; the others are in the checksum
CASES = {}


def case(function):
    """Keep a function that makes an explanation or interactions, by its name."""
    CASES[function.__name__] = function
    return function


# -- graphs -----------------------------------------------------------------------------------------------------------


@case
def graph_exact_order_1():
    return explained(GraphNet(), order=1, method="exact", tau=0.5)


@case
def graph_exact_order_2():
    return explained(GraphNet(), method="exact")


@case
def graph_exact_order_3():
    return explained(GraphNet(pool=global_max_pool), method="exact", order=3, tau=0.3, max_nodes=4)


@case
def graph_exact_tau_0():
    return explained(GraphNet("gin", global_add_pool), method="exact", tau=0.0, num_motifs=1)


@case
def graph_split_probability():
    return explained(GraphNet(), method="exact", masking="split", output="probability", tau=0.5)


@case
def graph_zero_log_probability():
    return explained(GraphNet("gat"), method="exact", masking="zero", output="log-probability", tau=0.7)


@case
def graph_mean_masking():
    return explained(GraphNet("gin"), method="exact", masking="mean", tau=0.5, target=2)


@case
def graph_shapley_taylor_disconnected():
    return explained(GraphNet(), index="shapley-taylor", method="exact", connected=False, tau=0.5, noise_floor=0.0)


@case
def graph_permutation_order_1():
    return explained(GraphNet(), graph(14, 5), index="myerson", order=1, method="permutation", permutations=12, tau=0.5)


@case
def graph_permutation_order_2():
    return explained(GraphNet("gin"), graph(14, 5), method="permutation", permutations=20, seed=3)


@case
def graph_permutation_order_3():
    return explained(GraphNet(), graph(10, 4), order=3, method="permutation", permutations=8, seed=1, tau=0.4)


@case
def graph_permutation_budget():
    return explained(GraphNet(), graph(14, 5), method="permutation", budget=600, seed=2, tau=0.5)


@case
def graph_surrogate_ridge():
    return explained(
        GraphNet(pool=global_max_pool), graph(15, 5), method="surrogate", regressor="ridge", budget=400, seed=1, tau=0.5
    )


@case
def graph_surrogate_order_1():
    return explained(GraphNet("gin"), graph(15, 6), order=1, method="surrogate", regressor="ridge", budget=300, tau=0.5)


@case
def graph_exact_local():
    model = GraphNet("gin", global_add_pool)
    return explained(model, graph(16, 4), method="exact-local", masking="split", tau=0.5, max_nodes=6)


@case
def graph_exact_local_order_3():
    model = GraphNet("gcn", global_add_pool)
    return explained(model, graph(12, 2), method="exact-local", masking="split", order=3, tau=0.6)


@case
def graph_auto():
    return explained(GraphNet())


@case
def graph_groups():
    groups = [[0, 1, 2], [3, 4], [5, 6], [7, 8]]
    return explained(GraphNet(), groups=groups, method="exact", tau=0.5)


@case
def graph_communities_refined():
    return explained(GraphNet(), graph(40, 12), groups="communities", refine=True, max_players=12, tau=0.5, seed=1)


@case
def graph_in_stages():
    return explained(GraphNet(), graph(360, 60), tau=0.5, max_nodes=6)


@case
def graph_include_exclude_milp():
    return explained(GraphNet(), method="exact", include=[3], exclude=[0, 5], solver="milp", tau=0.5, noise_floor=0.0)


@case
def graph_regression():
    return explained(GraphNet(classes=1), method="exact", tau=0.5)


@case
def graph_binary():
    return explained(GraphNet(classes=1), method="exact", task="binary", target=1, output="probability", tau=0.5)


# -- nodes and links --------------------------------------------------------------------------------------------------


@case
def node_exact():
    return explained(NodeNet(), graph(20, 4), node=5, method="exact", tau=0.5)


@case
def node_permutation():
    return explained(NodeNet("gat"), graph(20, 6), node=2, method="permutation", permutations=10, tau=0.5, seed=4)


@case
def node_of_few_players():
    return explained(NodeNet("gin"), graph(60, 30), node=0, max_players=8, tau=0.5, method="exact")


@case
def link_exact():
    return explained(LinkNet(), graph(20, 2), edge=(4, 11), task="binary", target=1, method="exact", tau=0.5)


# -- sentences and images ---------------------------------------------------------------------------------------------

WORDS = ["the", "film", "is", "not", "at", "all", "good"]
EDGES = [(0, 1), (1, 6), (2, 6), (3, 6), (4, 5), (5, 3)]
TEXT = {"max_nodes": 4, "num_motifs": 2, "edges": EDGES, "noise_floor": 0.1, "order": 2, "progress": False}
TEXT |= {"output": "logit", "objective": "paper"}


def classify(texts):
    """Three classes by which words there are, and by which of them together."""
    rows = []
    for text in texts:
        present = np.array([float(word in text.split()) for word in WORDS])
        pairs = present[3] * present[6], present[4] * present[5], present[1] * present[6]
        rows.append([present @ np.linspace(-1, 1, 7), 2 * pairs[0] - present[6], 0.7 * pairs[1] + 0.4 * pairs[2]])
    return np.array(rows)


def letters(sentences):
    """Numbers for each word: its length, its first letter, its place."""
    return [np.array([[len(w), ord(w[0]) % 7, p, 1] for p, w in enumerate(words)]) / 8 for words in sentences]


@case
def text_classifier():
    return mage.explain_text(classify, WORDS, tau=0.5, target=1, **TEXT)


@case
def text_classifier_mask_word():
    return mage.explain_text(classify, WORDS, tau=0.3, absent="[MASK]", **{**TEXT, "order": 3, "output": "probability"})


@case
def text_graph_network():
    return mage.explain_text(with_weights(GraphNet()), WORDS, tau=0.5, encoder=letters, method="exact", **TEXT)


@case
def image_patches():
    image = torch.from_numpy(np.random.default_rng(0).uniform(size=(3, 12, 12)))
    options = {"tau": 0.5, "max_nodes": 3, "num_motifs": 2, "patches": (3, 3), "progress": False}
    options |= {"output": "logit", "objective": "paper", "order": 2}
    return mage.explain_image(with_weights(ImageNet()), image, **options)


@case
def image_segments_permutation():
    generator = np.random.default_rng(1)
    image = torch.from_numpy(generator.uniform(size=(1, 16, 16)))
    segments = np.kron(np.arange(16).reshape(4, 4), np.ones((4, 4), dtype=int))
    options = {"tau": 0.5, "max_nodes": 4, "num_motifs": 2, "method": "permutation", "permutations": 6, "seed": 5}
    options |= {"output": "logit", "objective": "paper"}
    return mage.explain_image(with_weights(ImageNet()), image, segments=segments, fill=0.25, progress=False, **options)


# -- games ------------------------------------------------------------------------------------------------------------


def random_game(players=8):
    edges = [(v, v + 1) for v in range(players - 1)] + [(0, 4), (2, 7)]
    weights = np.random.default_rng(7).normal(size=(players, players))

    def value(masks):
        present = masks.astype(np.float64)
        return np.tanh(np.einsum("qi,ij,qj->q", present, weights, present) / players)

    return mage.Game(value, players, edges)


@case
def game_shapley():
    return mage.interactions(random_game(), index="shapley", method="exact")


@case
def game_myerson_taylor_order_3():
    return mage.interactions(random_game(), index="myerson-taylor", order=3, method="exact")


@case
def game_surrogate_trees():
    options = {"method": "surrogate", "regressor": "trees", "budget": 150, "seed": 2}
    return mage.interactions(random_game(12), index="myerson-taylor", order=2, **options)


# -- other explainers -------------------------------------------------------------------------------------------------


def by(name, parameters=None, **options):
    settings = {"max_nodes": 4, "num_motifs": 2, "seed": 1, **BEFORE, "masking": "split"}
    explainer = mage.explainers.get(name, **(parameters or {}))
    return explainer.explain(with_weights(GraphNet()), graph(11, 4), **{**settings, **options})


@case
def explainer_mage():
    return by("mage", {"permutations": 10, "method": "permutation", "tau": 0.5})


@case
def explainer_subgraphx():
    return by("subgraphx", {"rollouts": 5})


@case
def explainer_same():
    return by("same")


@case
def explainer_gstarx():
    return by("gstarx", {"prior": [0.3, 0.4, 0.3]}, masking="remove")


@case
def explainer_edgeshaper():
    return by("edgeshaper", {"num_samples": 12})


@case
def explainer_edge_search():
    return by("edge-search", {"scores": "edgeshaper", "num_samples": 12})


@case
def explainer_gradcam():
    return by("gradcam")


@case
def explainer_random():
    return by("random")


# -- numbers ----------------------------------------------------------------------------------------------------------


def numbers(result):
    """The numbers of an explanation, or of interactions: what is kept of them."""
    interactions = getattr(result, "interactions", result)
    values = interactions.values
    stored = {
        "index": interactions.index,
        "order": interactions.order,
        "method": interactions.method,
        "exact": interactions.exact,
        # What follows from motifs is asked afterwards.
        "num_queries": result.num_queries - getattr(getattr(result, "consequences", None), "num_queries", 0),
        "scale": float(np.abs(values).max(initial=0.0)),
        "values": values[:MOST_VALUES].tolist(),
        "checksum": checksum(values),
        "error_checksum": checksum(np.nan_to_num(interactions.std_error)),
    }
    if result is interactions:
        return stored
    return stored | {
        "target": result.target,
        "prediction": result.prediction.tolist(),
        "players": len(result.players),
        "motifs": [list(motif.nodes) for motif in result.motifs],
        "objective": float(result.motifs.objective),
        "optimal": result.motifs.optimal,
        "edge_checksum": checksum(result.edge_scores),
    }


def checksum(values):
    """A sum in which every value and its place count."""
    return float(np.asarray(values) @ np.cos(np.arange(len(values))))


if __name__ == "__main__":
    stored = {name: numbers(make()) for name, make in CASES.items()}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in stored.items())
    Path(sys.argv[1]).write_text("{\n" + text + "\n}\n", encoding="utf-8")
