"""Small studies in the place of a paper's own."""

import dataclasses
from collections.abc import Callable, Sequence

from piste.reproduction import Study


def in_place_of(
    whole: Callable[[bool], Sequence[Study]], small: Sequence[Study]
) -> tuple[Study, ...]:
    """Some studies, and after them all others of a paper, which only their names run.

    A claim names its studies, and a name that no study has is refused.
    """
    names = {study.name for study in small}
    others = (study for study in whole(False) if study.name not in names)
    return (*small, *(dataclasses.replace(study, by_name=True) for study in others))
