"""Beyond Theorem 1: the scale c, sequences of probability 0, and what is kept."""

import numpy as np
import xarray as xr
from scipy.stats import binomtest

from piste.claims import Claim, Condition, Verdict, compare, decide, undecided
from piste.reproduction import Evidence
from piste.training import EVENT

from .reading import NAMES, by_kind, cells, first_size, numbers, size_of, sizes_in_words
from .theory.all_sequences import TIE

REGULAR = 0.01
"""Factors of the stated c from which on the time is fitted."""
FEWEST = 5
"""Factors that a fit needs, over a decade at least."""
FAR = 0.1
"""The bound must hold with this share of the stated c for c to be called far above."""
FOUND = "persistence-found"
"""The study of an instance that was chosen because it loses perfection."""


def fitted(data: xr.Dataset) -> np.ndarray:
    """Which factors are used for the fit."""
    reached = (numbers(data, "outcome") == EVENT) & (numbers(data, "time") > 0)
    return reached & (numbers(data, "factor") >= REGULAR)


def exponent(data: xr.Dataset) -> float:
    """The power of c in the time to perfection; not a number if there is too little."""
    used = fitted(data)
    factors, times = numbers(data, "factor")[used], numbers(data, "time")[used]
    if used.sum() < FEWEST or factors.max() < 10 * factors.min():
        return np.nan
    return float(np.polyfit(np.log(factors), np.log(times), 1)[0])


def failing_factor(data: xr.Dataset) -> float:
    """The largest factor of c at which the bound does not hold; 0 if there is none."""
    late = ~(numbers(data, "time") <= numbers(data, "bound"))
    return float(numbers(data, "factor")[late].max(initial=0.0))


def _scale(evidence: Evidence) -> list[Verdict]:
    found = []
    for name in ("scale", "scale-small"):
        found += [_power(evidence.dataset(name)), _room(evidence.dataset(name))]
    return found


def _power(data: xr.Dataset) -> Verdict:
    power, used = exponent(data), int(fitted(data).sum())
    return compare(
        f"{first_size(data)}, power of c",
        abs(power + 2),
        most=0.1,
        predicted="t* ∝ c^(−2): exponent within 0.1 of −2",
        numbers={"exponent": power, "factors": used},
    )


def _room(data: xr.Dataset) -> Verdict:
    factors, fails = numbers(data, "factor"), failing_factor(data)
    tried = bool(factors.size) and factors.min() <= FAR <= factors.max()
    reached = (numbers(data, "outcome") == EVENT) & np.isfinite(numbers(data, "time"))
    followed = reached | (numbers(data, "ended") >= numbers(data, "bound"))
    words = f"the bound first fails at c × {fails:.3g}"
    if not fails and factors.size:
        words = f"holds from c × {factors.min():.3g} on"
    return decide(
        f"{first_size(data)}, room below c",
        fails < FAR,
        predicted=f"the bound holds from c × {FAR:g} on",
        measured=words,
        needs=(
            Condition(f"factors on both sides of {FAR:g}", bool(tried)),
            Condition("flows up to the bound", bool(followed.all())),
        ),
        numbers={"bound fails at c times": fails},
    )


# --- is perfection kept? --------------------------------------------------------------


def lost(data: xr.Dataset) -> np.ndarray:
    """Which instances were seen to lose perfection."""
    return np.isfinite(numbers(data, "lost_from"))


def unknown(data: xr.Dataset) -> np.ndarray:
    """Which others were not followed all the way."""
    whole = (numbers(data, "unknown") == 0) & (numbers(data, "outcome") == EVENT)
    return ~lost(data) & ~(whole & np.isfinite(numbers(data, "at_the_end")))


def interval(data: xr.Dataset) -> tuple[float, float]:
    """The share of instances that lose perfection, with a probability of 95 %."""
    known = int((~unknown(data)).sum())
    if not known:
        return 0.0, 1.0
    found = binomtest(int(lost(data).sum()), known).proportion_ci(0.95)
    return float(found.low), float(found.high)


def _persistence(evidence: Evidence) -> list[Verdict]:
    found = []
    for name in ("persistence", "persistence-large", FOUND):
        if name in evidence:
            parts = by_kind(evidence.dataset(name))
            found += [_kept(kind, data, name == FOUND) for kind, data in parts.items()]
    return found or [undecided("all", "perfection is kept", "no flow was followed")]


def _kept(kind: str, data: xr.Dataset, chosen: bool) -> Verdict:
    gone, open_, count = lost(data), unknown(data), data.sizes["cell"]
    low, high = interval(data)
    measured = f"{gone.sum()} of {count} lose it (95 %: {low:.2%} to {high:.2%})"
    if chosen:
        measured = f"lost in {gone.sum()} of {count}, chosen because of it"
    if gone.any():
        measured += f"; {_example(data)}"
    if open_.any():
        measured += f"; {open_.sum()} not followed to the end"
    follow, step = (float(numbers(data, n).max()) for n in ("follow", "resolution"))
    # One that was chosen because it loses perfection shows nothing where it does not.
    needs = (
        Condition("all followed", not open_.any()),
        Condition("instances that were not chosen", not chosen),
    )
    return decide(
        f"{NAMES[kind]}, {sizes_in_words(data)}",
        not gone.any(),
        predicted=f"perfect from t* to {follow:g} t*, at records {step:.2%} of t apart",
        measured=measured,
        needs=() if gone.any() else needs,
        numbers={
            "instances": count,
            "lose it": int(gone.sum()),
            "share at least": low,
            "share at most": high,
            "perfect at the end": int((numbers(data, "at_the_end") > 0).sum()),
        },
    )


def _example(data: xr.Dataset) -> str:
    """The longest loss, in words."""
    spans = numbers(data, "lost_to") / numbers(data, "lost_from")
    cell = cells(data)[int(np.nanargmax(spans))]
    span = f"{float(cell.lost_from):.3g} to {float(cell.lost_to):.3g} t*"
    return f"{size_of(cell)} from {span}"


# --- sequences of probability 0 ---------------------------------------------------------


def _unseen(evidence: Evidence) -> list[Verdict]:
    return [_all_sets(*item) for item in by_kind(evidence.dataset("unseen")).items()]


def _all_sets(kind: str, data: xr.Dataset) -> Verdict:
    data = data.isel(cell=np.flatnonzero(numbers(data, "others") > 0))
    count, times = data.sizes["cell"], np.asarray(data.multiple, float)
    margins, tied = np.asarray(data.all_sets, float), numbers(data, "tied") == 1
    known = bool(count) and bool(np.isfinite(margins).all())
    right, shares = margins > TIE, np.asarray(data.sets, float)
    all_right = known and bool(right[:, -1].all())
    measured = (
        f"{right[:, -1].sum()} of {count} instances; {tied.sum()} never can (a tie); "
        f"share of the other sets right: {_spread(shares[:, 0])} at {times[0]:.3g} t*"
    )
    # A tie is a proof; what is merely not right yet could be so later.
    decided = Condition(
        f"all right by {times[-1]:g} t*, or a tie for ever",
        all_right or bool(tied.any()),
    )
    return decide(
        f"{NAMES[kind]}, {sizes_in_words(data)}" if count else NAMES[kind],
        all_right and not tied.any(),
        predicted=f"all sets of distinct tokens right by {times[-1]:g} t*",
        measured=measured if known else "no numbers for all sets",
        needs=(Condition("numbers for all instances", known), decided),
        numbers={
            "instances": count,
            f"right at {times[0]:.3g} t*": int(right[:, 0].sum()),
            f"right at {times[-1]:.3g} t*": int(right[:, -1].sum()),
            "tied for ever": int(tied.sum()),
            "median share of tokens": _median(data.tokens),
            "median share of sets": _median(data.sets),
            "median share of sequences with repetition": _median(data.repeated),
        },
    )


def _median(series: xr.DataArray) -> float:
    """Over the instances, at the first moment."""
    values = np.asarray(series, float)[:, 0]
    return float(np.median(values)) if values.size else np.nan


def _spread(values: np.ndarray) -> str:
    if not values.size:
        return "none"
    return f"median {np.median(values):.3f}, smallest {values.min():.3f}"


CLAIMS = (
    Claim(
        "Theorem 1 on all sequences",
        "Where the distribution has few sets, the flow also classifies all other sets of "
        "distinct tokens.",
        _unseen,
        ("unseen",),
        "",
        "The abstract says perfect classification; on sets of probability 0 it is judged "
        "here, exactly, by the order of the scores. Scores of tokens that never meet stay "
        "0, so some sets stay ties. Sequences with repetition need leads of log(n − 1); "
        "their share is in the table.",
    ),
    Claim(
        "The time falls like 1/c²",
        "A larger scale c of V = cP makes the flow faster; the stated c is far above "
        "what the bound needs.",
        _scale,
        ("scale", "scale-small"),
        "scale",
        f"Fitted over factors of at least {REGULAR:g} of the stated c.",
    ),
    Claim(
        "Perfection is kept",
        "Once the flow classifies perfectly it does so from then on. The theorem does "
        "not say this.",
        _persistence,
        ("persistence",),
        "persistence",
        "Judged family by family. A loss shorter than the distance of two records could "
        "be missed.",
    ),
)
