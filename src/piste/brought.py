"""Code that is not piste's own: files that a user names, and packages of others.

What such code adds to a family works everywhere. It is part of the address of whatever it
takes part in, so that changed code is never answered from an old result.
"""

import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import sys
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from piste.errors import InputError, field_error, reason
from piste.installed import bring_members

PREFIX = "piste_with_"
"""How the modules of users' files are named; their digest follows."""


def import_file(path: Path | None) -> ModuleType | None:
    """Import a user's Python file, so that what it adds to the families is known.

    A file that has been imported already is not run again.
    """
    if path is None:
        return None
    if not path.is_file():
        raise field_error("with", path, "is not a file")
    # Named by its content: an edited file is another module, as it is another address.
    try:
        name = PREFIX + hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise field_error("with", path, f"cannot be read ({error.strerror})") from None
    if name in sys.modules:
        return sys.modules[name]
    bring_members()  # the file must not take the name of a member that comes later
    spec = importlib.util.spec_from_loader(name, _Source(name, path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Before it runs, because dataclasses look their own module up there.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        # Half a module must not be found by the next attempt.
        del sys.modules[name]
        if isinstance(error, InputError):
            raise field_error("with", path, f"{error}") from None
        # Ctrl-C ends the command, not only the import.
        if not isinstance(error, (Exception, SystemExit)):
            raise
        # The last line of the user's own code, and never a page of ours.
        message = f"cannot be imported ({reason(error)})"
        raise field_error("with", path, message) from None
    return module


def file_of(module: str) -> Path | None:
    """The user's file that a module was made of by :func:`import_file`, if it was."""
    if not module.startswith(PREFIX) or module not in sys.modules:
        return None
    return Path(str(sys.modules[module].__file__))


class _Source(importlib.machinery.SourceFileLoader):
    """A file of any name; nothing is written beside it."""

    def __init__(self, name: str, path: Path):
        super().__init__(name, str(path))

    def _cache_bytecode(self, source_path, bytecode_path, data):
        pass  # the folder is the user's


def is_brought(member: Any) -> bool:
    """Whether a class or a function is somebody else's."""
    return _module(member).split(".")[0] != "piste"


def full_name(member: Any) -> str:
    """The module and the name of a class or a function."""
    own = getattr(member, "func", member)
    return f"{_module(member)}.{getattr(own, '__qualname__', type(own).__name__)}"


def source_digest(member: Any) -> str:
    """Digest of the code that a class or a function comes with.

    That is its file, or all files of its package: what it calls may be in another one.
    Code that is in no file, such as a cell of a notebook, is told by its bytecode.
    """
    top = sys.modules.get(_module(member).split(".")[0])
    folders = [Path(folder) for folder in getattr(top, "__path__", ())]
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    files = files or _own_file(member)
    if not files:
        return hashlib.sha256(repr(compiled_facts(member)).encode()).hexdigest()
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _own_file(member: Any) -> list[Path]:
    try:
        own = inspect.unwrap(getattr(member, "func", member))
        path = Path(inspect.getfile(own))
    except (OSError, TypeError):
        return []
    return [path] if path.is_file() else []  # a notebook names files that are none


# --- code that is in no file ----------------------------------------------------------


def compiled_facts(given: Any, seen: frozenset[int] = frozenset()) -> list[Any]:
    """What a function or a class does, as Python has compiled it: code and constants.

    What it names is followed, up to what is in a file, which is told by its content. An
    object of which nothing is known is told by its ``repr``: where that has an address in
    memory it never repeats itself, so that nothing old is taken for an answer.

    >>> def double(x, factor=2):
    ...     return factor * x
    >>> first = compiled_facts(double)
    >>> double.__defaults__ = (3,)
    >>> first == compiled_facts(double)
    False
    """
    given = inspect.unwrap(given) if callable(given) else given
    # Functions may call each other in a circle.
    if id(given) in seen:
        return []
    seen |= {id(given)}
    for file in _own_file(given):
        return [full_name(given), hashlib.sha256(file.read_bytes()).hexdigest()]
    if isinstance(given, functools.partial):
        parts = [given.func, *given.args, given.keywords]
        return [fact for part in parts for fact in compiled_facts(part, seen)]
    if isinstance(given, type):
        return _class_facts(given, seen)
    if isinstance(given, FunctionType):
        return _function_facts(given, seen)
    return [repr(given)]


def _class_facts(cls: type, seen: frozenset[int]) -> list[Any]:
    # Python's own classes do not change; their names are enough.
    if cls.__module__ == "builtins":
        return [cls.__qualname__]
    facts: list[Any] = [cls.__qualname__]
    for name, part in sorted(vars(cls).items()):
        own = getattr(part, "__func__", getattr(part, "fget", part))
        constant = isinstance(part, (int, float, str, bytes, tuple, type(None)))
        if name.startswith("__") and not isinstance(own, FunctionType):
            continue  # made by Python, and of no effect
        if constant or isinstance(own, (FunctionType, type)):
            facts += [name, *compiled_facts(own, seen)]
    return facts + [
        fact for base in cls.__bases__ for fact in compiled_facts(base, seen)
    ]


def _function_facts(function: FunctionType, seen: frozenset[int]) -> list[Any]:
    codes, names = _codes(function.__code__), set()
    facts: list[Any] = [repr(function.__defaults__), repr(function.__kwdefaults__)]
    for code in codes:
        names.update(code.co_names)
        # A code object's repr has an address in memory; inner functions are in `codes`.
        constants = [c for c in code.co_consts if not isinstance(c, CodeType)]
        facts += [code.co_code.hex(), repr(constants), code.co_names, code.co_varnames]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    named = [
        function.__globals__[n] for n in sorted(names) if n in function.__globals__
    ]
    for part in [*cells, *named]:
        facts += compiled_facts(part, seen)
    return facts


def _codes(code: CodeType) -> list[CodeType]:
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return [code, *(found for part in inner for found in _codes(part))]


def _module(member: Any) -> str:
    # A partial function has none of its own.
    member = getattr(member, "func", member)
    return getattr(member, "__module__", "") or ""
