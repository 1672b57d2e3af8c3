"""How cases of the fuzzer are made: words of commands, and files to give to them."""

import csv
import dataclasses
import gzip
import io
import json
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ODD = [
    "", " ", "0", "-1", "-0", "1e3", "nan", "inf", "-inf", "1e400", "1e-320", "0.1",
    "2", "3", "5", "9" * 30, "9" * 5000, "0x10", "1_000", "true", "None", "[]", "{}",
    "[red]", "[/red]", "[bold", ":warning:", "\x1b[31m", "a\nb", "\t", "\u202e", "\x7f",
    "é", "日本", "\udcff", "١٢", "%s", "{0}", "$HOME", "'", '"', ";", "-", "=", "a=b",
    "1,2", "../..", "/", "/etc/passwd", "/dev/null", "softmax", "x" * 5000, "\u2028",
    str(2**31), str(2**63 - 1), str(2**63), str(10**12), str(10**9), "1e308", "--", "-x",
    "a" * 256, "σ≤✓", "null", '{"type": {}}', "@file", "~", "*", "0.5", "1.5", "100",
]  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of case: how often it is taken, and its words (and files)."""

    name: str
    weight: int
    make: Callable[[random.Random, Path], list[str]]


def prepare(base: Path) -> None:
    """What all cases share: a few reviews, and a small run to damage."""
    from piste.experiment import Schedule
    from piste.papers.signgd.presets import stages
    from piste.store import Store
    from piste.values import override

    data = base / "data" / "imdb"
    data.mkdir(parents=True)
    rows = [(k % 2, f"review {k}") for k in range(40)]
    for part in ("train", "test"):
        (data / f"{part}.csv.gz").write_bytes(_table([(a, part + b) for a, b in rows]))
    sizes = {"task.samples": 2, "task.dimension": 8, "task.noise-coordinates": 2}
    sizes |= {"task.test-samples": 2, "model.key-width": 2, "model.value-width": 2}
    small = override(
        dataclasses.replace(stages(), steps=2, record=Schedule(chunk=4)), sizes
    )
    Store(base / "made").run(small, "made")


def _table(rows) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("label", "text"), *rows])
    return gzip.compress(text.getvalue().encode())


# --- words ----------------------------------------------------------------------------


def some_text(chance: random.Random) -> str:
    """Any text, mostly of few characters, from all of Unicode."""
    length = chance.choice([1, 2, 5, 20, 300])
    points = (chance.choice([127, 0x2FF, 0xFFFF, 0x10FFFF]) for _ in range(length))
    text = "".join(chr(chance.randrange(point + 1)) for point in points)
    return text.replace("\0", "")


def some_number(chance: random.Random) -> str:
    """A number of any size, whole or not."""
    if chance.random() < 0.7:
        return str(chance.randrange(10 ** chance.randrange(1, 20)))
    return repr(chance.choice([-1, 1]) * 10 ** chance.uniform(-320, 308))


def some_value(chance: random.Random) -> str:
    """A value that may or may not make sense."""
    makers = [lambda c: c.choice(ODD), some_text, some_number]
    return chance.choices(makers, [5, 1, 4])[0](chance)


def fields(chance: random.Random, experiment, count: int) -> list[str]:
    """Options for fields, most of which exist, many with values that are allowed."""
    from piste.values import fields_of

    known = _known(experiment)
    found = []
    for _ in range(count):
        own = list(fields_of(experiment))
        name = chance.choice(own if chance.random() < 0.85 else list(known))
        right = chance.random() < 0.6
        value = _allowed(chance, known[name]) if right else some_value(chance)
        name = _misspelt(chance, name) if chance.random() < 0.05 else name
        found += (
            [f"--{name}={value}"] if chance.random() < 0.5 else [f"--{name}", value]
        )
    return found


def _known(experiment) -> dict[str, dataclasses.Field]:
    """The fields of an experiment, and those of all other tasks, models and rules."""
    from piste.errors import dashed
    from piste.models import MODELS
    from piste.rules import RULES
    from piste.tasks import TASKS

    parts = [("", type(experiment)), ("record.", type(experiment.record))]
    parts += [("rate.", type(experiment.rate))]
    for family, name in ((TASKS, "task"), (MODELS, "model"), (RULES, "rule")):
        parts += [(f"{name}.", cls) for cls in family.values()]
    return {
        prefix + dashed(field.name): field
        for prefix, cls in parts
        for field in dataclasses.fields(cls)
    }


def _allowed(chance: random.Random, field: dataclasses.Field) -> str:
    """A value of the right kind for a field, whatever the others are."""
    from piste.models import MODELS
    from piste.rules import RULES
    from piste.tasks import TASKS

    families = {"task": TASKS, "model": MODELS, "rule": RULES}
    if field.name in families:
        return chance.choice(list(families[field.name]))
    if "choices" in field.metadata:
        return chance.choice(list(field.metadata["choices"]))
    if field.type is bool:
        return chance.choice(["true", "false"])
    if field.type is int:
        return str(chance.choice([1, 2, 3, 4, 5, 8, 10, 16, 50, 64, 100, 1000, 4000]))
    return chance.choice(["0", "0.5", "0.9", "1", "2", "1e-6", "1e6", "1e-300"])


def _misspelt(chance: random.Random, name: str) -> str:
    place = chance.randrange(len(name))
    return (
        name[:place] + chance.choice(["", "_", ".", "x", "-", "É"]) + name[place + 1 :]
    )


def some_preset(chance: random.Random) -> tuple[str, object]:
    """A preset, and its experiment."""
    from piste.papers import papers, preset
    from piste.papers.signgd.presets import stages

    names = [f"{p.name}/{n}" for p in papers().values() for n in p.presets]
    name = chance.choice(names)
    if chance.random() < 0.05:
        return chance.choice([_misspelt(chance, name), *ODD]), stages()
    return name, preset(name)


def some_folder(chance: random.Random, folder: Path) -> str:
    """A place for results: mostly a good one."""
    (folder / "a file").write_text("x", "utf-8")
    odd = [*ODD, "a file", "a file/x", "x" * 300, "/proc/x", "/dev/null", "/dev/full/x"]
    if chance.random() < 0.8:
        return chance.choice(["out", "res[1]", "res[red]", "a b/c", "é"])
    word = chance.choice(odd)
    return word if word not in ("/", "../..", "", " ", "-", "~") else "out"


def run_words(chance: random.Random, folder: Path) -> list[str]:
    """`piste run` with fields anywhere, options repeated or without their values."""
    name, experiment = some_preset(chance)
    words = [name, *fields(chance, experiment, chance.randrange(5))]
    if chance.random() < 0.2:
        words += chance.choices(["--fresh", "--resume", "--out", "--with"], k=2)
    if chance.random() < 0.1:
        chance.shuffle(words)
    return ["run", *words, "--out", some_folder(chance, folder)]


def landscape_words(chance: random.Random, folder: Path) -> list[str]:
    """`piste landscape`, its own options too."""
    from piste.cli.arguments import LANDSCAPE

    name, experiment = some_preset(chance)
    words = []
    if "pathfinder" in name:  # its images are drawn to see whether they can be
        for part in ("train", "validation", "test"):
            words += [f"--task.{part}-samples", "128"]
    words += fields(chance, experiment, chance.randrange(3))
    for option in chance.choices(list(LANDSCAPE), k=chance.randrange(3)):
        words += [f"--{option}", some_value(chance)]
    return ["landscape", name, *words, "--out", some_folder(chance, folder)]


def other_words(chance: random.Random, folder: Path) -> list[str]:
    """Commands and options that there may not be."""
    commands = ["list", "show", "verify", "reproduce", "run", "landscape", "help", "-h"]
    papers = ["signgd", "kernels", "decision-lists", "sigmgd"]
    options = ["--quick", "--theory", "--only", "--only=stages", "--fresh", "--help"]
    options += ["--out", "--out=out", "--with", "--resume", "--version", "--quik"]
    count = chance.randrange(4)
    pool = [*papers, *options, *ODD]
    first = chance.choice([*commands, *commands, *ODD])
    return [first, *chance.choices(pool, k=count)]


def reproduce_words(chance: random.Random, folder: Path) -> list[str]:
    """`piste reproduce` of some studies."""
    paper = chance.choice(["signgd", "kernels", "decision-lists"])
    only = chance.choice(["stages", "imdb", "theorem-1", "", ",", "x,y", *ODD])
    words = ["reproduce", paper, "--quick", f"--only={only}"]
    words += ["--theory"] * (chance.random() < 0.3)
    return [*words, "--out", some_folder(chance, folder)]


def file_words(chance: random.Random, folder: Path) -> list[str]:
    """A Python file to import first."""
    texts = [
        "x = (",
        "raise SystemExit",
        "1/0",
        "import nowhere",
        "\0",
        "",
        "é = 1",
        "#",
    ]
    texts += [
        "from piste.attention import kernel\nkernel('[red]')(lambda q, k: q @ k.T)"
    ]
    texts += ["from piste.attention import kernel\nkernel('mine')(lambda q, k: 0)"]
    texts += [
        "from piste.attention import kernel\nkernel('mine')(lambda q, k: q @ k.T)"
    ]
    (folder / "mine.py").write_text(chance.choice(texts), "utf-8")
    file = chance.choice(["mine.py"] * 8 + ["nowhere.py", ".", *ODD])
    words = ["run", "signgd/stages", "--with", file, *chance.choice(
        [[], ["--model.kernel", "mine"], ["--model.kernel", "[red]"], ["--steps", "x"]]
    )]  # fmt: skip
    return [*words, "--out", "out"]


# --- files ----------------------------------------------------------------------------


def some_bytes(chance: random.Random, good: bytes) -> bytes:
    """Good content, damaged in one way or another; or none of it."""
    cut, place = chance.randrange(len(good) + 1), chance.randrange(len(good))
    flipped = bytearray(good)
    flipped[place] ^= 1 << chance.randrange(8)
    return chance.choice(
        [b"", good[:cut], good[cut:], bytes(flipped), good + b"x", chance.randbytes(50)]
    )


def some_table(chance: random.Random) -> bytes:
    """The text of a table of reviews, which may have anything in it."""
    header = chance.choice(["label,text"] * 6 + ["text", "label", "", "a" * 9999, "\0"])
    pool = ["1,good", "0,bad", "1,", ",x", "2,x", '"', '1,"a\nb"', "1,a,b", "\0", "١,x"]
    pool += ["1," + "y" * 200_000, "\r", "9" * 5000 + ",x", "1,\udcff", "1,日本"]
    rows = chance.choices(pool, k=chance.randrange(8))
    text = chance.choice(["\n", "\r\n", "\r"]).join([header, *rows])
    return text.encode("utf-8", "surrogateescape")


def data_words(chance: random.Random, folder: Path) -> list[str]:
    """Data of the user's that are damaged, or something else altogether."""
    data = folder / "mine"
    data.mkdir()
    imdb = chance.random() < 0.75
    names = ["train.csv.gz", "test.csv.gz"] if imdb else ["train-images-idx3-ubyte.gz"]
    names = names if chance.random() < 0.9 else ["aclImdb_v1.tar.gz"]
    for name in names:
        good = gzip.compress(some_table(chance))
        content = good if chance.random() < 0.6 else some_bytes(chance, good)
        (data / name).write_bytes(content)
    if chance.random() < 0.1:
        (data / names[0]).unlink()
        chance.choice([Path.mkdir, os.mkfifo])(data / names[0])
    if chance.random() < 0.15:
        _extracted(chance, data)
    preset = chance.choice(["imdb-desk", "landscape-desk"]) if imdb else ""
    words = ["run", f"kernels/{preset}" if imdb else "signgd/mnist"]
    sizes = {"validation-samples": "1", "batch": "1", "test-samples": "1"}
    if imdb and chance.random() < 0.5:
        words += [word for k, v in sizes.items() for word in (f"--task.{k}", v)]
    return [*words, "--task.folder", chance.choice(["mine"] * 9 + ODD), "--out", "out"]


def _extracted(chance: random.Random, data: Path) -> None:
    for part in ("train", "test"):
        for label in ("neg", "pos"):
            if chance.random() < 0.9:
                (data / "aclImdb" / part / label).mkdir(parents=True)
                file = data / "aclImdb" / part / label / "0_1.txt"
                file.write_bytes(chance.choice([b"good", b"", b"\xff", b" ", b"a\0b"]))


def some_json(chance: random.Random, depth: int = 2):
    """Any plain data."""
    leaves = [
        None,
        True,
        0,
        -1,
        2.5,
        10**30,
        "",
        "x",
        "[red]",
        "\u202e",
        [],
        {},
        "1e999",
    ]
    if depth and chance.random() < 0.3:
        return chance.choice(
            [[some_json(chance, depth - 1)], {"type": some_json(chance, depth - 1)}]
        )
    return chance.choice(leaves)


def _damaged(chance: random.Random, data: dict) -> None:
    """Change, remove or add one thing somewhere in plain data."""
    while True:
        inner = [v for v in data.values() if isinstance(v, dict) and v]
        if not inner or chance.random() < 0.5:
            break
        data = chance.choice(inner)
    name = chance.choice([*data, "new"])
    if chance.random() < 0.3:
        data.pop(name, None)
    else:
        data[name] = some_json(chance)


def manifest_words(chance: random.Random, folder: Path) -> list[str]:
    """A stored run whose manifest, or anything else in it, is damaged."""
    (made,) = (folder.parent / "made").iterdir()
    run = folder / "out" / "runs" / made.name
    shutil.copytree(made, run)
    path = run / "manifest.json"
    data = json.loads(path.read_text("utf-8"))
    how = chance.random()
    if how < 0.7:
        for _ in range(chance.randrange(1, 4)):
            _damaged(chance, data)
        path.write_text(json.dumps(data), "utf-8")
    elif how < 0.9:
        path.write_bytes(some_bytes(chance, path.read_bytes()))
    else:
        odd = [
            "[" * 100_000,
            "9" * 5000,
            "NaN",
            "[]",
            "null",
            '{"format": {}}',
            "\ufeff{}",
        ]
        path.write_text(chance.choice(odd), "utf-8")
    return chance.choice(
        [["show", str(run)]] * 4
        + [["show", chance.choice(ODD)], ["verify", "signgd", "--out", "out"]]
    )


CASES = [
    Kind("run", 45, run_words),
    Kind("landscape", 10, landscape_words),
    Kind("words", 15, other_words),
    Kind("reproduce", 2, reproduce_words),
    Kind("with", 3, file_words),
    Kind("data", 15, data_words),
    Kind("manifest", 10, manifest_words),
]
