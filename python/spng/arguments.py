# SPDX-License-Identifier: Apache-2.0
"""Check arguments of public functions against their annotations, so that a wrong one is a spng.Error that names it."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from .errors import Error

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_WORDS: dict[Any, str] = {
    type(None): "None",
    bool: "True or False",
    int: "an integer of 32 bits",
    float: "a number",
    str: "text",
    os.PathLike: "a path",
    np.ndarray: "an array",
}
_SHOWN = 80  # characters of a wrong value


def checked(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function raise spng.Error for an argument that does not fit its annotation. NumPy's numbers become Python's.

    The elements of a Sequence or Collection are checked too; those of an Iterable are not, as it can be read only once.
    """
    signature = inspect.signature(function)
    annotations = {name: text for name, text in function.__annotations__.items() if name != "return"}

    @functools.cache
    def hints() -> dict[str, Any]:
        return get_type_hints(types.SimpleNamespace(__annotations__=annotations), function.__globals__)

    @functools.wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # whose message names the function
        for name, value in bound.arguments.items():
            kind = signature.parameters[name].kind
            if name not in hints() or kind is inspect.Parameter.VAR_KEYWORD:
                continue
            if kind is inspect.Parameter.VAR_POSITIONAL:
                for each in value:
                    _require(name, each, hints()[name])
            else:
                _require(name, value, hints()[name])
                if isinstance(value, np.generic):
                    bound.arguments[name] = value.item()
        return function(*bound.args, **bound.kwargs)

    return call


def _require(name: str, value: Any, hint: Any) -> None:
    if not fits(value, hint):
        raise Error(
            "Usage",
            "an argument has the wrong type or value",
            f"argument {name}",
            seen(value),
            words(hint),
            _hint(name, value),
        )


def _hint(name: str, value: Any) -> str:
    if value is None and name == "model":
        return "model='none' runs without a network"
    if value is None:
        return "leave the argument out to get its default"
    return "list(...) makes a list of it" if isinstance(value, Iterator) else ""


def seen(value: Any) -> str:
    """Return a value and its type for a message."""
    try:
        text = repr(value)
    except Exception:  # of a class of the caller
        text = "a value"
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
    return f"{text} of type {type(value).__name__}"


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value fits an annotation."""
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, types.UnionType):
        if isinstance(value, str) and any(get_origin(each) is os.PathLike for each in inner):
            return is_path(value)
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is Any:
        return True
    if origin is bool:
        return isinstance(value, (bool, np.bool_))
    if origin is int:
        is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        return is_integer and bool(-(2**31) <= value < 2**31)
    if origin is float:
        is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        return is_number and bool(value == value)
    if origin is str:
        return isinstance(value, str) and is_text(value)
    if origin is tuple:
        return isinstance(value, (tuple, list)) and len(value) == len(inner) and all(map(fits, value, inner))
    if origin is Mapping:
        return isinstance(value, Mapping) and all(fits(key, inner[0]) for key in value)
    if origin is Iterable:
        return isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    if origin in (Sequence, Collection):
        is_list = isinstance(value, (Sequence, Set)) and not isinstance(value, (str, bytes))
        is_array = isinstance(value, np.ndarray) and value.ndim == 1
        return (is_list or is_array) and all(fits(each, inner[0]) for each in value)
    return isinstance(value, origin)


def is_text(value: str) -> bool:
    """Tell whether a text can be written as UTF-8, and has no NUL."""
    try:
        return b"\0" not in value.encode()
    except UnicodeEncodeError:
        return False


def is_path(value: str) -> bool:
    """Tell whether a text can name a file: in contrast to other text it may have bytes that are not UTF-8."""
    try:
        return b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def words(hint: Any) -> str:
    """Return what an annotation admits."""
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(words, inner)))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is tuple:
        return " and ".join(map(words, inner))
    if origin is Mapping:
        return f"a dictionary with names of type {inner[0].__name__}"
    if origin in (Sequence, Collection, Iterable):
        return "several values, such as a list" if inner[0] is Any else f"several of: {words(inner[0])}"
    if origin in _WORDS:
        return _WORDS[origin]
    return f"spng.{origin.__name__}" if isinstance(origin, type) else str(origin)
