"""The studies of the paper: names, data that may be missing, and sizes."""

import pytest

from piste.errors import InputError
from piste.papers import data_at_hand, find_paper
from piste.papers.signgd import presets, studies
from piste.papers.signgd.study_names import VARIANTS, studies_on


def test_all_studies_have_distinct_names(monkeypatch):
    every = studies.studies(quick=False)
    names = [study.name for study in every]
    assert len(set(names)) == len(names)
    for at_hand, there, absent in (
        (True, "mnist", "digits"),
        (False, "digits", "mnist"),
    ):
        monkeypatch.setattr(studies, "data_at_hand", lambda _, found=at_hand: found)
        kept = [study.name for study in studies.available(every)]
        assert f"{there}-gd" in kept and f"{absent}-gd" not in kept
        line = find_paper("signgd").contents().skipped_text(studies.available(every))
        assert f"{absent}-gd" in line and f"{there}-gd" not in line


def test_results_name_studies_that_there_are():
    names = {study.name for study in studies.studies(quick=False)}
    shared = {
        *VARIANTS,
        *studies_on("snr"),
        *studies_on("mnist"),
        *studies_on("digits"),
    }
    assert shared <= names
    contents = find_paper("signgd").contents()
    for made in (*contents.claims, *contents.figures, *contents.tables):
        assert set(made.needs) <= names, made.name


def test_a_wrong_data_folder_is_an_error_and_no_reason_to_fall_back(monkeypatch):
    monkeypatch.setenv("PISTE_DATA", "/nowhere")
    with pytest.raises(InputError, match="PISTE_DATA = /nowhere"):
        data_at_hand(presets.mnist().task)


def test_the_snr_sweep_is_large_enough():
    for study in studies.snr_studies():
        cells = study.sweep.cells()
        assert len({cell.experiment.task.signal_norm for cell in cells}) >= 8
        assert len({cell.experiment.seed for cell in cells}) >= 5
        assert len({cell.experiment.task.noise_scale for cell in cells}) == 1
