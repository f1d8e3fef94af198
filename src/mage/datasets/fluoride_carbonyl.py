"""Fluoride-Carbonyl, as the files are called: molecules with an unbranched alkane and a carbonyl, or not."""

from mage.datasets.graph_attribution import task_files, task_info

SOURCE = task_files(
    "fluoride_carbonyl",
    "logic8",
    "c48fdb8d0789e82a9c6c9c5a7b69bd139bcdaf946063bb1df13ad15d734a5a16",
    "3e6a1b7e86dad945522fd9cf838d2366f785e16c73e8f37e608ef9d3d467d655",
    "749d6f00695f799aeb1a0e7194a5caa0a68d8c0e99b5f05ff9161ced03bf84b2",
    "7c4d1863a2f6a026ef3dafc4c7f54519cdd75aa15ea1f298b08e64fa3b75d11d",
)

_CLASSES = ("not both", "unbranched alkane and carbonyl")
_TRUTH = "unbranched alkanes and carbonyls"
_REMARK = f"in spite of its name, the published ground truth marks {_TRUTH}"
INFO = task_info(
    "fluoride_carbonyl", "Fluoride-Carbonyl", _CLASSES, source=SOURCE, truth=_TRUTH, num_graphs=8671, remark=_REMARK
)
