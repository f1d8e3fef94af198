"""``mage benchmark group-attribution``: the paper's table 9, on images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from mage._core.optional import require

if TYPE_CHECKING:
    from mage.experiments.group_attribution import Settings, StudyStore, Subject

_FORMS = {".md": "markdown", ".csv": "csv", ".tex": "latex", ".html": "html"}


def run_group_attribution(
    console: Console,
    *,
    foreign: Mapping[str, object],
    models: Sequence[str] | None,
    methods: Sequence[str] | None,
    images: int | None,
    seeds: str | None,
    permutations: int | None,
    root: Path | None,
    store: Path,
    machine: tuple[str, int | None, str | None, float],
    status: bool,
    listed: bool,
    export: Path | None,
) -> None:
    """Run the study, or list its images, or say how far it is."""
    require("PIL.Image", "image")
    from mage import experiments
    from mage.experiments import group_attribution as study
    from mage.experiments.group_attribution_table import paired_tables, study_cells, study_tables

    given = [option for option, value in foreign.items() if value is not None]
    if given:
        raise ValueError(f"{given[0]} is for experiments on graphs; {study.NAME} takes --models")
    if seeds is not None and not seeds.isdecimal():
        raise ValueError(f"--seeds: {study.NAME} takes one seed, got {seeds!r}")
    if export is not None and export.suffix not in _FORMS:
        raise ValueError(f"--export: {export.name} must end in {', '.join(_FORMS)}")
    if images is not None and images < 1:
        raise ValueError(f"--graphs must be at least 1, got {images}")
    settings = _settings(methods, permutations, None if seeds is None else int(seeds))
    subjects = [study.load_subject(model, root, images) for model in models or study.MODELS]
    if listed:
        for subject in subjects:
            console.print(_image_list(subject))
        return
    kept = study.StudyStore(store)
    if status:
        _say_status(console, subjects, settings, kept)
        return
    study.run_study(subjects, settings, kept, experiments.make_engine(*machine))
    parts = [(subject.dataset, subject.classifier.name, len(subject.images)) for subject in subjects]
    records = list(study.finished(subjects, settings, kept))
    made = study_cells(records, parts, settings.indices)
    for table in (*study_tables(made), *paired_tables(records)):
        console.print(table)
    console.print(
        f"{settings.permutations} orderings for each index; {settings.groups} random groups of each kind an image, "
        f"sizes 1 to n − 1 equally likely; {settings.output} of the predicted class; seed {settings.seed}",
        soft_wrap=True,
        highlight=False,
    )
    if export is not None:
        from mage._core.files import atomic_path

        with atomic_path(export) as unfinished:
            unfinished.write_text(experiments.export(made, _FORMS[export.suffix], study.TITLE))
        console.print(f"wrote {export}", soft_wrap=True, markup=False, highlight=False)


def _settings(methods: Sequence[str] | None, permutations: int | None, seed: int | None) -> Settings:
    from mage.experiments.group_attribution import INDICES, Settings

    unknown = [method for method in methods or () if method not in INDICES]
    if unknown:
        raise ValueError(f"--methods: {unknown[0]!r} is none of {', '.join(INDICES)}")
    settings = Settings(indices=tuple(index for index in INDICES if not methods or index in methods))
    return replace(
        settings,
        permutations=settings.permutations if permutations is None else permutations,
        seed=settings.seed if seed is None else seed,
    )


def _say_status(console: Console, subjects: Sequence[Subject], settings: Settings, store: StudyStore) -> None:
    from mage.experiments.group_attribution import make_jobs

    jobs = make_jobs(subjects, settings)
    for number, subject in enumerate(subjects):
        own = [job for job in jobs if job.subject == number]
        done = sum(store.has(job.key) for job in own)
        name = f"{subject.dataset} {subject.classifier.name}"
        console.print(f"{name}: {done} of {len(own)} images", highlight=False)


def _image_list(subject: Subject) -> Table:
    """Images with what the classifier takes them for."""
    import torch

    table = Table(title=f"{subject.dataset}: what {subject.classifier.name} sees")
    for heading in ("image", "class", "probability"):
        table.add_column(heading)
    for name, image in subject.images.items():
        with torch.no_grad():
            sure = torch.softmax(subject.classifier(image[None])[0].double(), 0)
        best = int(sure.argmax())
        table.add_row(name, subject.classifier.class_name(best), f"{float(sure[best]):.2f}")
    return table
