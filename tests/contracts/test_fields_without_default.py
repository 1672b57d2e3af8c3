"""Members whose fields have no default: everything works once the field is given."""

import pytest

from piste.cli import main
from piste.testing import check_rule
from support.families import forgotten

MEMBERS = """
import jax
import optax
from piste import models, rules, tasks, training
from piste.streams import Stream, stream
from piste.values import option

@tasks.task("points")
class Points(tasks.AbstractTask):
    count: int = option(minimum=2)

    def datasets(self, loaded, *, seed):
        return jax.random.normal(stream(seed, Stream.DATA), (self.count, 2)), None

@models.model("centre")
class Centre(models.AbstractModel):
    scale: float = option(greater_than=0)

    def draw_weights(self, task, *, key):
        return self.scale * jax.random.normal(key, (2,))

@training.autodiff_form("full", for_task=Points, for_model=Centre)
class View(training.LossView):
    def loss(self):
        return ((self.data - self.weights) ** 2).mean()

@rules.rule("plain")
class Plain(rules.AbstractDescent):
    rate: float = option(greater_than=0)

    def transform(self, norm):
        return optax.sgd(self.rate, momentum=0.5)
"""
PAPER = """
from piste.experiment import Experiment
from piste.papers import Paper, Preset

PAPER = Paper(name="points", title="T", authors="A", venue="V", link="L", summary="S",
              package=__name__, presets={"small": Preset("three points", "1 s"),
                                          "by-gd": Preset("the same by gd", "1 s")})

def small():
    return Experiment(Points(3), Centre(1.0), Plain(0.1), steps=5)

def by_gd():
    return Experiment(Points(3), Centre(1.0), rules.GD(), steps=5)
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "points.py"
    path.write_text(MEMBERS + PAPER, "utf-8")
    with forgotten():
        yield path


def test_a_run_trains(file, tmp_path, capsys):
    words = ["run", "points/small", "--with", str(file), "--out", str(tmp_path / "r")]
    assert main([*words, "--task.count", "4"]) == 0, capsys.readouterr().err


def test_a_run_that_is_too_large_is_refused_in_one_line(file, tmp_path, capsys):
    words = ["run", "points/small", "--with", str(file), "--out", str(tmp_path / "r")]
    assert main([*words, "--steps", str(10**15)]) == 2
    said = capsys.readouterr().err
    assert "steps = 1000000000000000" in said and said.count("\n") == 1
    assert not (tmp_path / "r").exists()


def test_switching_to_it_asks_for_the_field(file, tmp_path, capsys):
    words = ["run", "points/by-gd", "--with", str(file), "--out", str(tmp_path / "r")]
    assert main([*words, "--rule", "plain"]) == 2
    assert "rule.rate: must be given" in capsys.readouterr().err
    assert main([*words, "--rule", "plain", "--rule.rate", "0.1"]) == 0


def test_its_check_asks_for_a_value(file):
    from piste.brought import import_file

    module = import_file(file)
    assert module is not None
    plain = module.Plain
    with pytest.raises(AssertionError, match=r"rate has no default; check a value"):
        check_rule(plain)
    check_rule(plain(0.1), plain(0.2))
