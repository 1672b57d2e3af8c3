"""What is written for readers: each file is the old one or the new one, never a half."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from piste.claims import Judgements
from piste.figures import Picture
from piste.papers import Paper
from piste.report import page
from piste.reproduction import Evidence, Results
from piste.reproduction.writing import write_captions, write_pictures, write_tables
from support.faults import Crash, Disk

PAPER = Paper("mine", "A Title", "me", "my desk", "", "A summary.", __name__)


def write_all(folder, caption: str, monkeypatch) -> None:
    frame = pd.DataFrame({"caption": [caption]})
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, caption)
    pictures = {"loss": Picture(figure, frame, caption)}
    write_pictures(folder, pictures)
    write_captions(folder, pictures)
    write_tables(folder / "tables", {"loss": (caption, frame)})
    monkeypatch.setattr(page, "render", lambda *given: caption)
    results = Results(folder, (), (), Evidence(), Judgements(), {}, {}, ())
    page.write_page(PAPER, results, "")


def contents(folder) -> dict[str, bytes]:
    """All files that a reader would open."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".new" and path.name[0] != "."
    }


@pytest.mark.parametrize("half", [False, True])
def test_a_killed_process_leaves_whole_files(tmp_path, monkeypatch, half):
    """End the process at every operation on files, also in the middle of a write."""
    truth = {}
    for caption in ("old", "new"):
        (tmp_path / caption).mkdir()
        write_all(tmp_path / caption, caption, monkeypatch)
        truth[caption] = contents(tmp_path / caption)
    assert len(truth["old"]) == 7 and truth["old"].keys() == truth["new"].keys()
    with Disk(tmp_path / "old") as disk:
        write_all(tmp_path / "old", "old", monkeypatch)
    # In steps of three, halves shifted by one: both go through every kind of operation.
    for stop_at in range(int(half), len(disk.operations), 3):
        folder = tmp_path / f"stopped-{stop_at}"
        folder.mkdir()
        write_all(folder, "old", monkeypatch)
        with Disk(folder, stop_at, half), pytest.raises(Crash):
            write_all(folder, "new", monkeypatch)
        for name, content in contents(folder).items():
            assert content in (truth["old"][name], truth["new"][name]), name
