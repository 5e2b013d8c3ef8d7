"""The error classes: one text, facts as attributes, built-in bases, and they survive a process border."""

from __future__ import annotations

import pickle

import pytest

from device_api import errors
from device_api.errors import DeviceApiError

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, DeviceApiError)
]


@pytest.mark.parametrize("kind", CLASSES)
def test_the_text_says_what_to_what_why_and_what_to_do(kind):
    error = kind("cannot do it", subject="that", why="a reason", remedy="Do this.")
    assert str(error) == "cannot do it: that: a reason. Do this."
    assert (error.why, error.remedy) == ("a reason", "Do this.")
    assert str(kind("only this")) == "only this"


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_survives_pickling(kind):
    error = pickle.loads(pickle.dumps(kind("cannot", why="because", remedy="Try again.")))
    assert type(error) is kind
    assert str(error) == "cannot: because. Try again."
    assert error.remedy == "Try again."


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("PluginNotFound", LookupError),
        ("InvalidDevice", ValueError),
        ("DeviceOutOfMemory", MemoryError),
        ("DeviceTimeout", TimeoutError),
        ("ShapeError", ValueError),
        ("AxisError", IndexError),
        ("DTypeError", TypeError),
        ("DeviceMismatch", ValueError),
        ("AttributeValueError", ValueError),
        ("IndexOutOfRange", IndexError),
        ("UnsupportedOp", NotImplementedError),
        ("GradientError", RuntimeError),
    ],
)
def test_code_that_knows_only_built_in_errors_catches_them(name, base):
    assert issubclass(getattr(errors, name), base)


def test_facts_are_attributes_and_default_to_none():
    error = errors.AbiMismatch("x", plugin_version=(2, 1), host_version=(1, 4), path="/p")
    assert (error.plugin_version, error.host_version, error.path, error.detail) == (
        (2, 1),
        (1, 4),
        "/p",
        None,
    )


def test_an_unknown_fact_is_a_programming_error():
    with pytest.raises(TypeError, match="colour"):
        errors.PluginError("x", colour="red")
