"""The command line as a person types it: answers, mistakes, exit codes."""

import re
import subprocess
import sys

import pytest

from piste.cli import main

SMALL = [
    "--steps=40",
    "--task.samples=4",
    "--task.dimension=50",
    "--task.noise-coordinates=10",
    "--task.test-samples=20",
    "--model.key-width=5",
    "--model.value-width=2",
]


def one_line_error(capsys, *words: str) -> str:
    assert main(list(words)) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert shown.err.startswith("error: ")
    return shown.err.strip()


def test_list_names_every_preset(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "signgd/stages " in shown and "signgd/autodiff" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["signgd/stagse"],
            r"no preset 'signgd/stagse'; did you mean 'signgd/stages'\?",
        ),
        (["x"], r"no preset 'x'"),
        (
            ["signgd/stages", "--task.noise-coordinates", "5000"],
            r"task.noise-coordinates = 5000: must be between 1 and dimension − 1 = 1999",
        ),
        (
            ["signgd/stages", "--task.noise-coordinates", "2000"],
            r"task.noise-coordinates = 2000: must be between",
        ),
        (
            ["signgd/stages", "--task.samples", "0"],
            r"task.samples = 0: must be at least 1",
        ),
        (
            ["signgd/stages", "--task.samples=-3"],
            r"task.samples = -3: must be at least 1",
        ),
        (
            ["signgd/stages", "--rule.learning-rate", "-1"],
            r"rule.learning-rate = -1.0: must be greater than 0",
        ),
        (["signgd/stages", "--rule.learning-rate", "nan"], r"must be a finite number"),
        (["signgd/stages", "--steps", "ten"], r"steps = ten: must be a whole number"),
        (["signgd/stages", "--steps", "1.5"], r"steps = 1.5: must be a whole number"),
        (["signgd/stages", "--rule.b3", "1"], r"no field 'rule.b3'"),
        (
            ["signgd/stages", "--rule.lerning-rate", "1"],
            r"no field 'rule.lerning-rate'; did you mean 'rule.learning-rate'\?",
        ),
        (["signgd/stages", "--rul", "adam"], r"no field 'rul'; did you mean 'rule'\?"),
        (
            ["signgd/stages", "--rule", "adan"],
            r"rule = adan: must be one of adam, .*; did you mean 'adam'\?",
        ),
        (
            ["signgd/stages", "--precision", "float16"],
            r"precision = float16: must be one of float64, float32",
        ),
        (
            ["signgd/stages", "--form", "gram"],
            r"form = gram: does not hold for model two-layer, rule signgd",
        ),
        (["signgd/stages", "--seed"], r"seed: needs a value"),
        (["signgd/stages", "seed"], r"'seed': must be --field value"),
        (["signgd/stages", "--resume"], r"resume = True: no interrupted run"),
        (
            ["kernels/thm-1-gaussian", "--task.length", "1", "--model.train", "QK"],
            r"rule.unit = curvature: must be absolute, the curvature at the start is 0",
        ),
        (
            ["signgd/stages", "--task.dimension", "1000000000"],
            r"task.dimension = 1000000000: needs about 82 TB of memory, .* are free; "
            r"at most about \d+ fits here",
        ),
        (["signgd/stages", "--steps", "1" + "0" * 15], r"takes at least 32 years"),
        (["kernels/pathfinder-desk", "--task.train-samples", "1000000000"], r"1.1 TB"),
        (
            ["signgd/stages", "--steps=1000000000000", "--record.dense=1000000000000"],
            r"record.dense = 1000000000000: needs about 48 TB of memory",
        ),
        (
            ["decision-lists/repetition", "--task.vocabulary=8000"],
            r"vocabulary = 8000: 1.9e\+08 terms to sum, at most 1e\+07; give value-scale",
        ),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(capsys, tmp_path, words, message):
    out = tmp_path / "results"
    line = one_line_error(capsys, "run", *words, *(["--out", str(out)]))
    assert re.search(message, line), line
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce", "sigmgd"], "no paper 'sigmgd'; did you mean 'signgd'?"),
        (["reproduce", "signgd", "--quik"], "no option '--quik' here"),
        (
            ["verify", "signgd", "--out", "nowhere"],
            "out = nowhere: has no complete runs",
        ),
        (["show", "nowhere"], "run nowhere: no manifest.json here"),
    ],
)
def test_other_mistakes(capsys, words, message):
    assert message in one_line_error(capsys, *words)


def test_landscapes_that_cannot_be_held(capsys, tmp_path):
    for option, what in (("models", "disk"), ("snapshots", "memory")):
        out = tmp_path / option
        words = ["landscape", "kernels/thm-1-softmax", f"--{option}", "1000000000000"]
        line = one_line_error(capsys, *words, "--out", str(out))
        assert f"{option} = 1000000000000: needs about" in line and what in line
        assert not out.exists()


def test_unwritable_folder(capsys, tmp_path):
    file = tmp_path / "a file"
    file.touch()
    words = ["run", "signgd/stages", "--out", str(file / "results")]
    assert "must be a folder that can be written" in one_line_error(capsys, *words)


def test_unknown_command_is_one_line():
    words = [sys.executable, "-m", "piste.cli", "frobnicate"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "frobnicate" in done.stderr


def test_run_then_show_then_again(capsys, tmp_path):
    words = ["run", "signgd/stages", "--rule", "adam", "--rule.b2", "0.99", *SMALL]
    assert main([*words, "--out", str(tmp_path)]) == 0
    first = capsys.readouterr().out
    assert "rule.b2" in first and "0.99" in first
    (folder,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"stages-adam-b2=0.99-steps=40-.*-[0-9a-f]{8}", folder.name)
    assert main(["show", str(folder)]) == 0
    assert "reduced form · float64" in capsys.readouterr().out
    assert main([*words, "--out", str(tmp_path)]) == 0
    assert "already run" in capsys.readouterr().out


def test_divergence_is_said(capsys, tmp_path):
    wild = ["--rule", "gd", "--rule.learning-rate", "1e200", "--form", "full"]
    assert main(["run", "signgd/stages", *SMALL, *wild, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"stopped at step \d+: the loss is not finite", out)
    # The last numbers are those before it, and say of which time they are.
    last = out.strip().splitlines()[-1]
    assert re.fullmatch(r"at t = \d+: .*test loss [\d.e+]+ · test error [\d.]+", last)
    assert "nan" not in out and "inf" not in last


def test_a_flow_that_stops_at_once_has_one_record_and_nothing_to_compare(
    capsys, tmp_path
):
    hasty = ["--rule", "flow", "--rule.time-step", "9", "--rule.max-steps", "1"]
    assert main(["run", "signgd/stages", *SMALL, *hasty, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "stopped at step 0: the flow stopped before the next record" in out
    assert "the same weights" not in out and "at t = 0: train loss" in out


def test_light_commands_do_not_import_jax():
    code = (
        "import sys; from piste.cli import main; main(['list']); "
        "heavy = {'jax', 'numpy', 'xarray', 'matplotlib', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("folder", "words", "message"),
    [
        ("/nowhere", [], "error: PISTE_DATA = /nowhere: is not a folder"),
        (
            "",
            ["--task.folder", "/nowhere"],
            "error: task.folder = /nowhere: is not a folder",
        ),
        ("", ["--task.snr", "0"], "error: task.snr = 0.0: must be greater than 0"),
        ("", ["--task.samples", "7"], "error: task.samples = 7: must be even"),
        (
            "",
            ["--task.dataset", "digits", "--task.samples", "1000"],
            "error: task.samples = 1000: must be at most",
        ),
    ],
)
def test_mistakes_with_images(capsys, tmp_path, monkeypatch, folder, words, message):
    monkeypatch.setenv("PISTE_DATA", folder)
    out = tmp_path / "results"
    line = one_line_error(capsys, "run", "signgd/mnist", *words, "--out", str(out))
    assert line.startswith(message), line
    assert not out.exists()
