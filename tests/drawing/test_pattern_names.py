from mage.drawing.labelled_graphs import LabelledGraph
from mage.drawing.pattern_names import pattern_text


def test_few_labels_are_listed_and_many_are_counted():
    assert pattern_text(LabelledGraph(("region 3", "region 7")), False) == "region 3 · region 7"
    many = pattern_text(LabelledGraph(tuple(f"region {i}" for i in range(22))), False)
    assert many.startswith("region 0 · region 1 · ")
    assert many.endswith("region 7 … (22 in all)")
