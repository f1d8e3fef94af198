"""Experiments: the paper's tables as declarations, a store that resumes, engines that scale."""

from mage.experiments.engines import Engine, EngineError, LocalEngine, RayEngine, SerialEngine, make_engine
from mage.experiments.run import Plan, make_plan, open_store, run_plan
from mage.experiments.sources import Source
from mage.experiments.spec import Column, Experiment, Method, experiment_names, load_experiment
from mage.experiments.store import Store
from mage.experiments.tables import Cell, cells, export, paper_figures, rich_tables

__all__ = [
    "Cell",
    "Column",
    "Engine",
    "EngineError",
    "Experiment",
    "LocalEngine",
    "Method",
    "Plan",
    "RayEngine",
    "SerialEngine",
    "Source",
    "Store",
    "cells",
    "experiment_names",
    "export",
    "load_experiment",
    "make_engine",
    "make_plan",
    "open_store",
    "paper_figures",
    "rich_tables",
    "run_plan",
]
