"""Experiments: the paper's tables as declarations, a store that resumes, engines that scale."""

from mage.experiments.all_tables import AllTables, CellStatus, TableCell, load_tables
from mage.experiments.cells import Cell, cells
from mage.experiments.engines import Engine, EngineError, Failure, LocalEngine, RayEngine, SerialEngine, make_engine
from mage.experiments.inputs import Inputs
from mage.experiments.paper import paper_figures
from mage.experiments.plan import Batch, Plan, Procedure, make_plan
from mage.experiments.run import open_store, run_plan
from mage.experiments.spec import Column, Experiment, Method, experiment_names, load_experiment
from mage.experiments.store import Store
from mage.experiments.tables import export, rich_tables, table_rows

__all__ = [
    "AllTables",
    "Batch",
    "Cell",
    "CellStatus",
    "Column",
    "Engine",
    "EngineError",
    "Experiment",
    "Failure",
    "Inputs",
    "LocalEngine",
    "Method",
    "Plan",
    "Procedure",
    "RayEngine",
    "SerialEngine",
    "Store",
    "TableCell",
    "cells",
    "experiment_names",
    "export",
    "load_experiment",
    "load_tables",
    "make_engine",
    "make_plan",
    "open_store",
    "paper_figures",
    "rich_tables",
    "run_plan",
    "table_rows",
]
