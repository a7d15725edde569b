"""Conversion of what users pass (numbers of NumPy or PyTorch, for instance) to plain Python values."""

from __future__ import annotations

import contextlib
import json
import math
import numbers
import operator
import os
from typing import Any, Iterator, Mapping, Optional, Union

from vernier._errors import InvalidValueError

Value = Union[bool, int, float, str]


@contextlib.contextmanager
def naming(core: str, argument: str) -> Iterator[None]:
    """Gives errors of the core about its field the name of the argument that the user gave."""
    try:
        yield
    except InvalidValueError as error:
        if not str(error).startswith((f"{core}.", f"{core}:")):
            raise
        rest = error.field[len(core) :] if error.field.startswith(core) else ""
        raise type(error)(argument + str(error)[len(core) :], error.reason, argument + rest) from None


def plain(value: Any, field: str) -> Value:
    """Returns a parameter's value as bool, int, float or str."""
    known = _plain(value, field)
    if known is None:
        raise TypeError(f"{field}: must be a number, text or a boolean, got {value!r}")
    return known


def _plain(value: Any, field: str) -> Optional[Value]:
    """As ``plain``; None: it is something else."""
    # Values of subclasses, such as numpy.float64 or an enum of text, lose their class.
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, field)
    if isinstance(value, int):
        return int(value)
    if type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return operator.index(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if not math.isfinite(number):
            raise InvalidValueError(f"{field}: must be finite, got {number}", field=field)
        return number
    return None


def finite(value: Any, field: str) -> Union[int, float]:
    """Returns a bound as a finite int or float."""
    number = _plain(value, field)
    if number is None or isinstance(number, (bool, str)):
        raise TypeError(f"{field}: must be a number, got {value!r}")
    try:
        float(number)
    except OverflowError:  # An int that no float comes near.
        raise InvalidValueError(f"{field}: must be finite, got a number of too many digits", field=field) from None
    return number


def flag(value: Any, field: str) -> bool:
    if not isinstance(_plain(value, field), bool):
        raise TypeError(f"{field}: must be True or False, got {value!r}")
    return bool(value)


def described(error: BaseException) -> str:
    """The class and the text of an exception, whose own conversion to text may fail."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return type(error).__name__ + (f": {text}" if text else "")


def whole(value: Any, field: str, least: int, most: int = 2**63 - 1) -> int:
    """Returns a whole number in a range."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{field}: must be a whole number, got {value!r}")
    number = operator.index(value)
    if not least <= number <= most:
        raise InvalidValueError(f"{field}: must be {least} to {most}, got {number}", field=field)
    return number


def text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{field}: must be text, got {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValueError(f"{field}: must be text without lone surrogates, got {value!a}", field=field) from None
    return str.__str__(value)


def token(value: Any, field: str) -> str:
    """Returns a token as it may stand in a header of HTTP. It may end with the line end of its file; no message shows it."""
    word = text(value, field).strip()
    if not word or not word.isascii() or not word.isprintable():
        raise InvalidValueError(f"{field}: must be printable ASCII characters, as in the file of the token", field=field)
    return word


def message(value: Any, field: str, most: int) -> str:
    """Returns at most `most` characters of a message, with a question mark for each that UTF-8 lacks."""
    if not isinstance(value, str):
        raise TypeError(f"{field}: must be text, got {value!r}")
    return value[:most].encode("utf-8", "replace").decode()


def document(value: Mapping[str, Any], field: str) -> str:
    """Returns the content of a study file as JSON."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"{field}: cannot be written as JSON: {error}", field=field) from None


def function(value: Any, field: str, what: str) -> Any:
    if not callable(value):
        raise TypeError(f"{field}: must be a function of {what}, got {value!r}")
    return value


def place(function: Any) -> str:
    """The name of a function of the user's, and where it is defined: "train (tune.py, line 7)"."""
    import functools
    import inspect

    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(inner)
    name = getattr(inner, "__name__", type(inner).__name__)
    if not hasattr(inner, "__code__"):  # A bound method, or an object that can be called.
        inner = getattr(inner, "__func__", type(inner).__call__)
    code = getattr(inner, "__code__", None)
    return name if code is None else f"{name} ({code.co_filename}, line {code.co_firstlineno})"


def texts(value: Any, field: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{field}: must be a mapping of texts to texts, got {value!r}")
    return {text(key, f"name of {field}"): text(one, f"{field}.{key}") for key, one in value.items()}


def path(value: Any, field: str) -> str:
    """Returns the path of a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{field}: must be the path of a file, got {value!r}")
    name = os.fsdecode(value)
    if "\0" in name:
        raise InvalidValueError(f"{field}: must be the path of a file, without null characters, got {name!r}", field=field)
    return name


def exceptions(value: Any, field: str) -> tuple[type[BaseException], ...]:
    """Returns classes of exceptions as for an except clause."""
    classes = value if isinstance(value, tuple) else (value,)
    for one in classes:
        if not isinstance(one, type) or not issubclass(one, BaseException):
            raise TypeError(f"{field}: must be a class of exceptions, or a tuple of them, got {one!r}")
    return classes


def metric(value: Any, name: str) -> float:
    """Returns a metric's value. NaN and infinities are allowed; a tensor or an array must have one element."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name}: must be a number, got {value!r}")
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: must be a number, got {value!r}") from error
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def metrics(values: Mapping[str, Any], field: str) -> dict[str, float]:
    if "" in values:
        raise InvalidValueError(f"{field}: the name of a metric must not be empty", field=field)
    return {text(name, "name of a metric"): metric(value, name) for name, value in values.items()}


def merged(given: Optional[Mapping[str, Any]], named: Mapping[str, Any]) -> dict[str, float]:
    """Returns the metrics of a report: those of the mapping and those given by name."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"metrics: must be a mapping of names to numbers, got {given!r}")
    for name in named:
        if name in (given or ()):
            raise InvalidValueError(f"metrics: '{name}' is given twice", field="metrics")
    both = {**(given or {}), **named}
    if not both:
        raise InvalidValueError("metrics: a report needs at least one value, such as accuracy=0.93", field="metrics")
    return metrics(both, "metrics")
