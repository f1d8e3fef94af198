"""``mage report``: a folder of explanations, a store of results, both, or neither."""

import shutil

import pytest
from typer.testing import CliRunner

from mage.cli import app
from mage.experiments import Column, Experiment, Method, Store, paper_figures
from mage.experiments.pages import run_page
from mage.experiments.pages.stored_cells import mixed, read_parts, tables
from tests.helpers.corpora import write_molecules
from tests.helpers.data import data_path


def run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


def records(method="mage", dataset="ba_2motifs", model="gcn", seed=0, graphs=(3, 5), **figures):
    figures = {"f1": 0.8, "auc": 0.9, "queries": 5000.0, "seconds": 0.2, "nodes": "[[1]]", **figures}
    return [
        {
            "dataset": dataset,
            "model": model,
            "method": method,
            "seed": seed,
            "graph": graph,
            "position": place,
            **figures,
        }
        for place, graph in enumerate(graphs)
    ]


@pytest.fixture
def store(tmp_path):
    filled_store = Store(tmp_path / "store")
    filled_store.write("a" * 32, [*records(graphs=(3,), f1=0.7), *records(graphs=(5,), f1=0.9)])
    filled_store.write("b" * 32, records("mage-unconnected", f1=0.5))
    return filled_store


def stored(folder):
    return read_parts(sorted((folder / "parts").glob("*.parquet")))


def test_a_page_of_explanations_is_written(tmp_path):
    write_molecules(tmp_path / "run")
    result = run("report", tmp_path / "run", "--output", tmp_path / "page.html", "--title", "Twelve & more")
    assert result.exit_code == 0, result.output
    assert "12 explanations" in result.output
    text = (tmp_path / "page.html").read_text()
    assert "<h1>Twelve &amp; more</h1>" in text
    assert "default-src &#x27;none&#x27;" in text


def test_a_page_of_results_shows_ours_beside_the_papers(store, tmp_path):
    result = run("report", store.folder, "-o", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert "4 benchmark results" in result.output
    text = (tmp_path / "page.html").read_text()
    assert "Index and connectivity" in text
    assert "Myerson-Taylor, connected" in text
    assert "0.800 ± 0.100" in text
    paper = paper_figures()[3, "ba_2motifs", "gcn", "mage", "f1"]
    assert f'<td class="number">{paper:.3f}</td>' in text
    assert f"{0.8 - paper:+.3f}".replace("-", "−") in text
    assert text.count("<svg") > 8


def test_both_are_on_one_page(store, tmp_path):
    write_molecules(store.folder)
    page = run_page(store.folder)
    assert (page.explanations, page.results) == (12, 4)
    assert "What recurs in the motifs" in page.text
    assert "Index and connectivity" in page.text


def test_results_are_summed_up_over_seeds_and_graphs(tmp_path):
    store = Store(tmp_path)
    store.write("a" * 32, records(seed=0, f1=0.2))
    store.write("b" * 32, records(seed=1, f1=0.6))
    # Another experiment did not measure F1; it says nothing about it.
    store.write("c" * 32, records(seed=2, f1=None, graphs=(3, 5, 7)))
    results, skipped = stored(tmp_path)
    assert skipped == []
    ((_, cells),) = tables(results)
    cell = next(cell for cell in cells if cell.metric == "f1" and cell.method.name == "mage")
    assert cell.ours.mean == pytest.approx(0.4)
    assert cell.ours.std_error == pytest.approx(0.0)
    assert (cell.ours.count, cell.ours.undefined) == (2, 1)


def test_the_fewest_experiments_that_show_all_results_are_taken(tmp_path):
    store = Store(tmp_path)
    store.write("a" * 32, [*records(), *records("mage-unconnected"), *records("mage-3"), *records("mine", "own:data")])
    names = [experiment.name for experiment, _ in tables(stored(tmp_path)[0])]
    assert sorted(names) == ["ablation", "orders", "others"]
    text = run_page(tmp_path).text
    assert "Other results" in text
    assert "own:data, gcn" in text


def test_results_of_several_runs_are_told(tmp_path):
    store = Store(tmp_path)
    store.write("a" * 32, records())
    store.write("b" * 32, records(nodes="[[2]]"))
    assert mixed(stored(tmp_path)[0]) == ["ba_2motifs gcn mage"]
    assert "there more than once" in run_page(tmp_path).text
    store.write("b" * 32, records())
    assert mixed(stored(tmp_path)[0]) == []


def test_methods_that_refuse_say_why(tmp_path):
    failure = {"error": "explains <graphs>, not nodes", "f1": None, "auc": None, "queries": None, "seconds": None}
    Store(tmp_path).write("a" * 32, [*records(), *records("gradcam", **failure)])
    text = run_page(tmp_path).text
    assert "GradCAM, no result 2 times: explains &lt;graphs&gt;, not nodes" in text


def test_the_study_of_images_has_its_table(tmp_path):
    indices = ("shapley", "myerson", "shapley-taylor", "myerson-taylor")
    shared = {"dataset": "mnist", "model": "mnist-vit", "seed": 0, "queries": 400.0, "infid_minus": 0.3}
    for number in range(2):
        lines = [{**shared, "method": name, "image": f"digit {number}", "infid_plus": 0.1 + number} for name in indices]
        Store(tmp_path).write(str(number) * 32, lines)
    page = run_page(tmp_path)
    assert page.results == 8
    assert "Infid⁺ ↓" in page.text
    assert "0.600 ± 0.500" in page.text
    assert "resnet50: the paper's own network" in page.text
    paper = paper_figures()[9, "imagenet50", "resnet50", "myerson-taylor", "infid_plus"]
    assert f'<td class="number">{paper:.3f}</td>' in page.text


def test_hostile_names_of_results_stay_text(tmp_path):
    Store(tmp_path).write("a" * 32, records("<script>alert(1)</script>", "<b>data</b>", "<i>model</i>"))
    text = run_page(tmp_path).text
    assert "<script" not in text
    assert "<b>data" not in text
    assert "<i>model" not in text


def test_damaged_parts_are_named_and_left_out(store, tmp_path):
    (store.parts / f"{'c' * 32}.parquet").write_bytes(b"PAR1 nonsense")
    result = run("report", store.folder, "-o", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert f"left out {'c' * 32}.parquet" in result.stderr
    assert "1 damaged parts" not in (tmp_path / "page.html").read_text()
    assert "1 damaged part is left out" in (tmp_path / "page.html").read_text()


def test_the_same_store_gives_the_same_bytes(store, tmp_path):
    first = run_page(store.folder).text
    shutil.copytree(store.folder, tmp_path / "copy")
    assert run_page(tmp_path / "copy").text == first


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda folder: None, "does not exist"),
        (lambda folder: folder.mkdir(), "neither explanations (*.mage) nor benchmark results"),
        (lambda folder: (folder.mkdir(), (folder / "a.mage").write_bytes(b"x")), "none of the 1 files"),
        (lambda folder: folder.write_text("a file"), "does not exist"),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path, prepare, message):
    prepare(tmp_path / "run")
    result = run("report", tmp_path / "run", "-o", tmp_path / "page.html")
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not (tmp_path / "page.html").exists()


def test_an_output_folder_that_is_not_there_is_told(tmp_path):
    write_molecules(tmp_path / "run")
    result = run("report", tmp_path / "run", "-o", tmp_path / "nowhere" / "page.html")
    assert result.exit_code == 2
    assert "nowhere does not exist; create it first" in result.stderr


def test_own_experiments_have_their_metrics():
    parts = tables(records("mine", "own:data", sparsity=0.5))
    assert [type(experiment) for experiment, _ in parts] == [Experiment]
    assert parts[0][0].columns == (Column("own:data", "gcn", ("f1", "auc", "sparsity", "queries", "seconds")),)
    assert parts[0][0].methods == (Method("mine", "mine", title="mine"),)


def test_the_mutagens_motifs_are_nitro_and_amino(tmp_path):
    data_path("mutagenicity")
    arguments = (
        *("explain", "--dataset", "mutagenic", "--model", "gin", "--all", "--graphs", 12, "--engine", "serial"),
        *("--method", "permutation", "--permutations", 4),
    )
    result = run(*arguments, "--folder", tmp_path / "run")
    assert result.exit_code == 0, result.output
    from mage.report.corpus.content import corpus_content
    from mage.report.corpus.entries import read_entries

    entries, _ = read_entries(sorted((tmp_path / "run").iterdir()))
    assert {entry.right for entry in entries} == {True}
    content = corpus_content(entries)
    section = content["sections"][0]
    assert content["classes"][section["target"]] == "mutagen"
    leading = [content["patterns"][core["pattern"]]["text"] for core in section["cores"][:2]]
    assert set(leading) == {"NO₂", "NH₂"}
    assert "12 explanations, 0 new, 12 from an earlier run" in run(*arguments, "--folder", tmp_path / "run").output


def test_all_test_graphs_have_both_classes_and_wrong_predictions_too(tmp_path):
    data_path("mutagenicity")
    result = run(
        *("explain", "--dataset", "mutagenic", "--model", "gcn", "--all", "--which", "test", "--graphs", 8),
        *("--method", "permutation", "--permutations", 2, "--engine", "serial", "--folder", tmp_path / "run"),
    )
    assert result.exit_code == 0, result.output
    content = run_page(tmp_path / "run")
    assert content.explanations == 8
    assert "as mutagen" in content.text
    assert "as non-mutagen" in content.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--which", "test", "--dataset", "mutagenic"], "--which needs --all"),
        (["--which", "some", "--all", "--dataset", "mutagenic"], "--which must be one of paper, test, all"),
    ],
)
def test_which_graphs_to_explain_is_checked(arguments, message):
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
