"""A small experiment: the network of the demo, few graphs, two methods."""

from mage.datasets import load
from mage.experiments import Column, Experiment, Inputs, Method
from mage.models import load_demo_model

METHODS = (
    Method("mage", "mage", {"permutations": 10}, "MAGE"),
    Method("mage-st", "mage", {"permutations": 5, "index": "shapley-taylor"}, "Shapley-Taylor"),
)


class SmallInputs(Inputs):
    """Few graphs and a network that comes with the library, the same in every process and on every machine."""

    def dataset(self, name):
        if name not in self._datasets:
            self._datasets[name] = load("ba_house_grid", count=300)
        return self._datasets[name]

    def model(self, dataset, name):
        return load_demo_model()


def small_experiment(
    metrics=("f1", "auc", "queries", "seconds"), methods=METHODS, seeds=(0,), columns=(("ba_house_grid", "gcn"),)
):
    table_columns = tuple(Column(dataset, model, tuple(metrics)) for dataset, model in columns)
    return Experiment("small", "Small", (1,), table_columns, tuple(methods), seeds)


def comparable(records):
    """Records without what no two runs share: the time taken, and NaN as something that equals itself."""
    return [
        tuple((key, str(value)) for key, value in sorted(record.items()) if "seconds" not in key) for record in records
    ]
