"""Tests of the Python module: run.sh makes the environment, `make test-python` runs them."""

import importlib.util
import warnings

import pytest

collect_ignore = [f"test_{name}.py" for name in ("torch", "jax") if not importlib.util.find_spec(name)]


@pytest.fixture(autouse=True)
def no_silent_copies():
    """A copy that a test does not expect is a failure: those that want one say so."""
    import tcgemm

    with warnings.catch_warnings():
        warnings.simplefilter("error", tcgemm.CopyWarning)
        yield


@pytest.fixture
def copies_allowed(no_silent_copies):
    import tcgemm

    warnings.simplefilter("ignore", tcgemm.CopyWarning)
