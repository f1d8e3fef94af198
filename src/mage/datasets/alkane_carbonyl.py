"""Alkane-Carbonyl, as the files are called: molecules with a fluoride and a carbonyl, or not."""

from mage.datasets.graph_attribution import task_files, task_info

SOURCE = task_files(
    "alkane_carbonyl",
    "logic7",
    "9b48ce0ad9aa147a8fafd4031563bb1e0323335cf5a7cd4b5d6228f2775fce9c",
    "20577c22a6975f20c033a2cf213df9108c10756e7971e83cdd6009f05f2896d5",
    "842a6985ee45f8a85a5e7294199cfa7fc866365357ff1bae371a7a23467b00b2",
    "7915107a397240cec3daf027d713db2bed107d19d9d941b6d36a4a334a5dfae8",
)

_CLASSES = ("not both", "fluoride and carbonyl")
_TRUTH = "fluorides and carbonyls"
_REMARK = f"in spite of its name, the published ground truth marks {_TRUTH}"
INFO = task_info(
    "alkane_carbonyl", "Alkane-Carbonyl", _CLASSES, source=SOURCE, truth=_TRUTH, num_graphs=4326, remark=_REMARK
)
