"""Benzene: molecules with and without a benzene ring."""

from mage.datasets.dataset_info import PaperFigures
from mage.datasets.graph_attribution import task_files, task_info
from mage.datasets.training_plans import TrainingPlan

SOURCE = task_files(
    "benzene",
    "benzene",
    "147786cae02df5b1b928b4c78148eb8c180793ba5a58b98b3e57da33ccd06f2f",
    "50d99b8c80ac19410029175787fd993d0634e7dc7b94fbc93739cd1110963d2e",
    "92db47ac62eecf9bcbb015ec1c5bfe6a7d32d5bdedd9a81ac4d42225acb68a9c",
    "aa52389639d0989dc5bb726c364fbc38ed520468d6606d67679d24b7e6720a28",
)

INFO = task_info(
    "benzene",
    "Benzene",
    ("no benzene ring", "benzene ring"),
    source=SOURCE,
    truth="benzene rings",
    paper=PaperFigures(graphs=12_000, nodes=20.58, edges=21.83, gcn=85.42, gin=91.92, gat=85.92),
    training=TrainingPlan(epochs=40, learning_rate=3e-3),
    changes={"gin": {"epochs": 100}},
)
