"""The benchmark of the stages of spectral learning times functions by their names."""

from pkgutil import resolve_name

import pytest

from benchmarks.papers.stages import STAGES


@pytest.mark.parametrize("name", [name for names in STAGES.values() for name in names])
def test_stages_of_spectral_learning_are_functions_of_the_package(name):
    assert callable(resolve_name(name))
