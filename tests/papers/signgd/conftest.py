"""A run that shows all stages, for all tests of the claims."""

import dataclasses

import pytest
import xarray as xr

import piste
from piste.papers.signgd import presets


@pytest.fixture(scope="session")
def run() -> xr.Dataset:
    """The paper's setting at a tenth of the size, long enough for every stage."""
    return piste.run(
        dataclasses.replace(presets.stages_quick(), steps=2200), quiet=True
    )
