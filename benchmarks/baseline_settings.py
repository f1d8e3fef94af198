"""Settings of baselines on validation graphs: ``python benchmarks/baseline_settings.py gnnexplainer [--graphs 8]``.

Needs the data and checkpoints of the paper in ``MAGE_DATA``. For each dataset, network and setting it explains rightly
predicted validation graphs, which no table reports, and prints node F1 (one motif) or AMI (several), edge AUC and CPU
seconds per graph. The tables take the setting with the best mean for the row "tuned".
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from paper import checkpoints

from mage import datasets, explainers
from mage.datasets.prediction import predicted_classes
from mage.metrics import ExplainedGraph, measure_case
from mage.models import authors_checkpoint

CELLS = [("ba_2motifs", "gcn"), ("ba_2motifs", "gin"), ("ba_house_grid", "gcn"), ("mutagenic", "gin")]
YING = {"epochs": 100, "edge_size": 0.005, "edge_ent": 1.0}
SETTINGS: dict[str, list[dict[str, object]]] = {
    "gnnexplainer": [
        {},
        {"message_weights": "raw"},
        YING,
        {**YING, "lr": 0.1},
        {**YING, "lr": 0.1, "message_weights": "raw"},
    ],
    "pgexplainer": [
        {},
        {"epochs": 10, "lr": 0.01, "edge_size": 0.0, "edge_ent": 0.0},
        {"edge_size": 0.05, "edge_ent": 1.0, "temperatures": (5.0, 2.0)},
    ],
    "refine": [{}, {"contrast": 1.0}, {"contrast": 0.0}],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("method", choices=SETTINGS)
    parser.add_argument("--graphs", type=int, default=8)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    means: dict[int, list[float]] = {}
    for dataset, kind in CELLS:
        graphs, model = datasets.load(dataset), authors_checkpoint(checkpoints(), dataset, kind)
        validation = graphs.split.validation
        validation = validation[predicted_classes(model, graphs, validation) == graphs.labels[validation]]
        positions = [i for i in validation.tolist() if (graphs[i].node_motif >= 0).any()][: arguments.graphs]
        metric = "f1" if graphs.info.settings.num_motifs == 1 else "ami"
        for number, setting in enumerate(SETTINGS[arguments.method]):
            explainer = explainers.get(arguments.method, **setting)
            if explainer.needs_training:
                explainer.fit(model, graphs, 0)
            start, records = time.process_time(), []
            for i in positions:
                settings = graphs.settings(i)
                explanation = explainer.explain(model, graphs[i], seed=i, **settings)
                records.append(measure_case(ExplainedGraph(model, graphs[i], explanation, settings), ()))
            seconds = (time.process_time() - start) / len(positions)
            scores = [record[metric] for record in records]
            means.setdefault(number, []).append(float(np.mean(scores)))
            print(
                f"{dataset:14s} {kind} {setting}: {metric} {np.mean(scores):.3f} ± "
                f"{np.std(scores) / np.sqrt(len(scores)):.3f}, AUC {np.nanmean([r['auc'] for r in records]):.3f}, "
                f"{seconds:.2f} CPU s",
                flush=True,
            )
    for number, values in means.items():
        print(f"mean of {len(values)} networks {np.mean(values):.3f}: {SETTINGS[arguments.method][number]}")


if __name__ == "__main__":
    main()
