"""What is trained; ``_base.py`` is the contract of a model.

Here is what several papers use. Each paper brings its own.
"""

from ._base import MODELS, AbstractModel, model
from .classifier import Classifier, ClassifierWeights
from .sequence_classifier import AbstractSequenceClassifier

__all__ = [
    "MODELS",
    "AbstractModel",
    "AbstractSequenceClassifier",
    "Classifier",
    "ClassifierWeights",
    "model",
]
