"""The type checker behind the annotations, while tests run."""

from typing import Annotated

from beartype import BeartypeConf, FrozenDict, beartype
from beartype.vale import Is

# A value checks its own numbers, and JAX rebuilds it around tracers and placeholders.
# (A plain ``Any`` would do, but beartype does not take it inside a union.)
ANYTHING = Annotated[object, Is[lambda _: True]]
NUMBERS = FrozenDict({float: ANYTHING, int: ANYTHING})

checker = beartype(conf=BeartypeConf(hint_overrides=NUMBERS))
