"""The contract of a probe."""

from typing import Any

import jax
import numpy as np

from piste.experiment import Experiment
from piste.probes import OFTEN, RARELY, Probe
from piste.training import System, build

from ._contract import alike, dtypes_of, require, same


def check_probe(name: str, where: Experiment | System) -> None:
    """Check a probe in a small experiment, or a system that was built of one.

    It must have a LaTeX symbol between dollars and a meaning of one line, give an array
    with an axis for each of its ``dims`` and some finite number in it, in the precision of
    the run, be pure, and give the same under ``jit``.
    """
    system = build(where) if isinstance(where, Experiment) else where
    found = {probe.name: probe for probe in system.probes()}
    text = f"probe {name}: is not measured here; there are {', '.join(found)}"
    require(name in found, text)
    probe = found[name]
    check_words(probe)
    with jax.enable_x64(True):
        _check_measured(probe, _seen(probe, system), system)


def check_words(probe: Probe) -> None:
    """Check what a probe says of itself."""
    about = f"probe {probe.name}"
    require(probe.name.isidentifier(), f"{about}: must be a name that Python takes")
    symbol = probe.symbol
    enclosed = len(symbol) > 2 and symbol[0] == symbol[-1] == "$"
    require(enclosed, f"{about}: its symbol {symbol!r} is no LaTeX between dollars")
    one_line = bool(probe.meaning.strip()) and "\n" not in probe.meaning
    require(one_line, f"{about}: must have a meaning in one line")
    text = f"{about}: is measured along '{probe.along}'; must be {OFTEN} or {RARELY}"
    require(probe.along in (OFTEN, RARELY), text)
    dims = probe.dims
    text = f"{about}: its axes {dims} must be different words, and none a step"
    distinct = len(set(dims)) == len(dims) and not {OFTEN, RARELY, "cell"} & set(dims)
    require(distinct and all(dim.isidentifier() for dim in dims), text)


def _seen(probe: Probe, system: System) -> Any:
    form = system.form
    params = form.initial()
    if probe.on_form:
        return form, params
    return form.test_view(params) if probe.on_test else form.view(params)


def check_array(probe: Probe, measured: Any, system: System) -> None:
    """Check the axes and the type of what a probe has measured."""
    about, rank = f"probe {probe.name}", np.ndim(measured)
    require(
        rank == len(probe.dims),
        f"{about}: declares {len(probe.dims)} axes ({', '.join(probe.dims)}) but gives "
        f"an array of {rank}",
    )
    # Some entries may stand for nothing, such as slots that a list does not have.
    some = bool(np.isfinite(np.asarray(measured)).any()) or not np.size(measured)
    require(some, f"{about}: has no finite number at the start")
    kinds, here = dtypes_of(measured), dtypes_of(system.form.initial())
    text = f"{about}: is in {', '.join(kinds)} where the run is in {', '.join(here)}"
    require(kinds <= here, text)


def _check_measured(probe: Probe, seen: Any, system: System) -> None:
    about, measured = f"probe {probe.name}", probe.compute(seen)
    check_array(probe, measured, system)
    again = probe.compute(seen)
    require(alike(again, measured), f"{about}: differs when measured again; not pure")
    compiled = jax.jit(lambda seen: probe.compute(seen))(seen)
    same(compiled, measured, f"{about}: differs under jit", slack=1e3)
