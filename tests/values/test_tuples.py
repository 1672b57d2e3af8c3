"""Fields of several values: in Python, in JSON and on the command line."""

import jax
import numpy as np
import pytest

from piste.errors import InputError
from piste.values import digest, fields_of, from_json, option, override, to_json, value


@value
class Sizes:
    widths: tuple[int, ...] = option(default=(1, 2), minimum=1)
    rates: tuple[float, ...] = option(default=(), greater_than=0, less_than=1)
    names: tuple[str, ...] = option(default=("a",), choices=("a", "b", "c"))
    flags: tuple[bool, ...] = ()
    words: tuple[str, ...] = ()


@value
class Outer:
    inner: Sizes = Sizes()
    scale: float = 1.0


FULL = Sizes((3, 4, 5), (0.1, 0.25), ("b", "a"), (True, False), ("x y", "z"))


@pytest.mark.parametrize("given", [Sizes(), FULL, Sizes(widths=(), names=())])
def test_several_values_come_back_from_json_as_they_were(given):
    assert from_json(Sizes, to_json(given)) == given
    assert to_json(Outer(given))["inner"] == to_json(given)
    assert to_json(FULL)["widths"] == [3, 4, 5]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"widths": "1,2,3"}, {"widths": (1, 2, 3)}),
        ({"widths": " 1, 2 "}, {"widths": (1, 2)}),
        ({"widths": "7"}, {"widths": (7,)}),
        ({"widths": 7}, {"widths": (7,)}),
        ({"widths": ""}, {"widths": ()}),
        ({"widths": [4, "5"]}, {"widths": (4, 5)}),
        ({"rates": "1e-3,.5"}, {"rates": (1e-3, 0.5)}),
        ({"names": "c,a"}, {"names": ("c", "a")}),
        ({"flags": "true,False"}, {"flags": (True, False)}),
        ({"words": "one,two"}, {"words": ("one", "two")}),
    ],
)
def test_the_command_line_separates_them_by_commas(changes, expected):
    assert override(Sizes(), changes) == Sizes(**expected)
    nested = {f"inner.{name}": text for name, text in changes.items()}
    assert override(Outer(), nested).inner == Sizes(**expected)


def test_every_spelling_of_equal_values_is_one_value():
    spelt = [(3, 4), [3, 4], range(3, 5), np.array([3, 4]), (np.int32(3), 4)]
    assert {Sizes(widths=given) for given in spelt} == {Sizes(widths=(3, 4))}
    assert Sizes(rates=(np.float32(0.5),)) == Sizes(rates=(0.5,))
    whole = Sizes(rates=(np.float64(0.5), 0.25)).rates
    assert [type(rate) for rate in whole] == [float, float]
    assert digest(Sizes(widths=[3, 4])) == digest(Sizes(widths=(3, 4)))


def test_every_item_and_their_order_count_in_the_digest():
    several = [(), (1,), (1, 2), (2, 1), (1, 2, 3)]
    assert len({digest(Sizes(widths=widths)) for widths in several}) == len(several)


MISTAKES = [
    ({"widths": "1,x"}, "widths = 1,x: each must be a whole number"),
    ({"widths": "1,,2"}, "widths = 1,,2: each must be a whole number"),
    ({"widths": "1.5"}, "widths = 1.5: each must be a whole number"),
    ({"widths": [1, True]}, "widths = 1,True: each must be a whole number"),
    ({"widths": [[1]]}, "widths = [1]: each must be a whole number"),
    ({"widths": None}, "widths = None: each must be a whole number"),
    ({"widths": "3,0"}, "widths = 3,0: each must be at least 1"),
    ({"rates": "0.5,1"}, "rates = 0.5,1.0: each must be less than 1"),
    ({"rates": "0.5,nan"}, "rates = 0.5,nan: each must be a finite number"),
    ({"names": "a,d"}, "names = a,d: each must be one of a, b, c"),
    ({"flags": "yes"}, "flags = yes: each must be true or false"),
]


@pytest.mark.parametrize(("changes", "line"), MISTAKES)
def test_a_mistake_shows_all_of_them_and_what_each_must_be(changes, line):
    with pytest.raises(InputError) as caught:
        override(Sizes(), changes)
    assert str(caught.value) == line
    nested = {f"inner.{name}": text for name, text in changes.items()}
    with pytest.raises(InputError) as caught:
        override(Outer(), nested)
    assert str(caught.value) == f"inner.{line}"
    (name,) = changes
    assert caught.value.field == f"inner.{name}"
    assert caught.value.expected.startswith("each must be ")


def test_constructors_check_every_item():
    with pytest.raises(InputError, match="^widths = 1,0: each must be at least 1$"):
        Sizes(widths=(1, 0))
    with pytest.raises(InputError, match="^widths = 1,2.5: each must be a whole"):
        Sizes(widths=(1, 2.5))  # type: ignore
    with pytest.raises(InputError, match="^words = 1: each must be a word$"):
        Sizes(words=(1,))  # type: ignore
    with pytest.raises(InputError, match="^widths = 3: must be several values, as in"):
        Sizes(widths=3)  # type: ignore


def test_fields_of_gives_them_back():
    listed = fields_of(Outer(FULL))
    assert listed["inner.widths"] == (3, 4, 5)
    assert override(Outer(), listed) == Outer(FULL)


def test_they_are_static_in_a_jax_tree():
    assert jax.tree.leaves(Outer(FULL)) == [1.0]
    doubled = jax.tree.map(lambda leaf: 2 * leaf, Outer(FULL))
    assert doubled == Outer(FULL, 2.0)


@pytest.mark.parametrize("hint", [tuple[int, int], tuple[int], tuple[dict, ...]])
def test_a_tuple_that_json_cannot_bring_back_is_refused_where_it_is_declared(hint):
    class Pair:
        pair = (1, 2)
        __annotations__ = {"pair": hint}

    with pytest.raises(TypeError, match="must be one of tuple.int, ...., tuple.float"):
        value(Pair)
