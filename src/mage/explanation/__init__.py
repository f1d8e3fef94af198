"""Explanations: what a person keeps."""

from mage.explanation.construction import ModelOutput
from mage.explanation.crop import crop
from mage.explanation.explanation import Explanation
from mage.explanation.records import CoalitionOutput, Consequences, Effect, MotifFeatures, Origin, PlayersCap, Stage
from mage.explanation.storage import load
from mage.explanation.subject import (
    FeatureSubject,
    GraphSubject,
    ImageSubject,
    MoleculeSubject,
    SentenceSubject,
    Subject,
    TypedSubject,
    subject_of,
)

__all__ = [
    "CoalitionOutput",
    "Consequences",
    "Effect",
    "Explanation",
    "FeatureSubject",
    "GraphSubject",
    "ImageSubject",
    "ModelOutput",
    "MoleculeSubject",
    "MotifFeatures",
    "Origin",
    "PlayersCap",
    "SentenceSubject",
    "Stage",
    "Subject",
    "TypedSubject",
    "crop",
    "load",
    "subject_of",
]
