import pytest

from mage import explainers
from mage.experiments import (
    Inputs,
    Method,
    SerialEngine,
    Store,
    cells,
    export,
    make_plan,
    rich_tables,
    run_plan,
)
from mage.experiments.tables import _latex
from mage.explainers import Explainer, UnsupportedError
from tests.helpers.experiments import METHODS, small_experiment


class Refusing(Explainer):
    title = "Refusing"

    def compute(self, model, data, request):
        raise UnsupportedError("no hook on this model")


def test_gaps_are_stated_not_counted(tmp_path, inputs, with_explainer):
    with_explainer("refusing", Refusing)
    methods = [*METHODS[:1], Method("refusing", "refusing"), Method("gradcam-of-tomorrow", "gradcam-of-tomorrow")]
    plan, store = make_plan(small_experiment(methods=methods), inputs, limit=3), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    cells_by_name = {(cell.method.name, cell.metric): cell for cell in cells(plan, store)}
    assert cells_by_name["mage", "f1"].ours.count == 3
    assert cells_by_name["mage", "f1"].paper == 0.832
    assert cells_by_name["mage", "f1"].difference == pytest.approx(cells_by_name["mage", "f1"].ours.mean - 0.832)
    assert cells_by_name["refusing", "f1"].ours is None
    assert cells_by_name["refusing", "f1"].gap == "no hook on this model"
    assert "not registered" in cells_by_name["gradcam-of-tomorrow", "f1"].gap
    (table,) = rich_tables(list(cells_by_name.values()))
    assert table.row_count == 3


def test_a_missing_dataset_or_model_is_a_gap(tmp_path):
    class Nothing(Inputs):
        def model(self, dataset, name):
            raise ValueError("no such network")

    plan = make_plan(small_experiment(), Nothing())
    assert plan.batches == []
    assert set(plan.gaps.values()) == {"no such network"}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", "dataset,model,method,metric,ours,± error,paper,difference,graphs,failed,undefined,gap\n"),
        ("markdown", "| dataset | model | method |"),
        ("latex", r"ba\_house\_grid & gcn & MAGE & f1"),
        ("html", "<td>ba_house_grid</td><td>gcn</td><td>MAGE</td>"),
    ],
)
def test_tables_are_exported(tmp_path, inputs, form, expected):
    plan, store = make_plan(small_experiment(methods=METHODS[:1]), inputs, limit=1), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    assert expected in export(cells(plan, store), form, "Title")
    with pytest.raises(ValueError, match="'pdf' is none of markdown"):
        export(cells(plan, store), "pdf")


class Unteachable(Explainer):
    title = "Unteachable"
    needs_training = True

    def fit(self, model, dataset, seed=0):
        raise UnsupportedError("nothing to learn from")

    def compute(self, model, data, request):
        raise AssertionError


class Moody(Explainer):
    """Refuses all graphs but the largest."""

    title = "Moody"

    def compute(self, model, data, request):
        if data.num_nodes < 29:
            raise UnsupportedError("too small")
        return explainers.get("mage", permutations=5).compute(model, data, request)


def test_methods_that_cannot_be_taught_or_refuse_some_graphs(tmp_path, inputs, with_explainer):
    with_explainer("unteachable", Unteachable)
    with_explainer("moody", Moody)
    methods = [
        Method("unteachable", "unteachable"),
        Method("moody", "moody"),
        Method("wrong", "mage", {"surprise": 1}),
        METHODS[0],
    ]
    plan, store = make_plan(small_experiment(methods=methods), inputs, limit=8), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    cells_by_name = {(cell.method.name, cell.metric): cell for cell in cells(plan, store)}
    assert cells_by_name["unteachable", "f1"].gap == "nothing to learn from"
    assert "wrong parameters" in cells_by_name["wrong", "f1"].gap
    moody = cells_by_name["moody", "f1"]
    assert moody.results + moody.failed == moody.expected == 8
    assert moody.failed > 0
    assert moody.ours.count == moody.results
    assert moody.gap == "too small"
    assert cells_by_name["mage", "f1"].results == 8


def test_seeds_are_no_more_graphs(tmp_path, inputs):
    plan, store = make_plan(small_experiment(methods=METHODS[:1], seeds=(0, 1)), inputs, limit=4), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    cell = next(cell for cell in cells(plan, store) if cell.metric == "f1")
    assert cell.ours.count == 4
    assert cell.results == cell.expected == 8
    assert small_experiment().restricted(seeds=[0, 0, 1]).seeds == (0, 1)


def test_latex_survives_any_text():
    text = _latex("50 % of {a_b} & $x^2$ ~ \\ n")
    expected = r"50 \% of \{a\_b\} \& \$x\textasciicircum{}2\$ \textasciitilde{} \textbackslash{} n"
    assert text == expected
