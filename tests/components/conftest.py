"""Fixtures of the tests of components; `pipelines.py` makes pipelines and reads what they write."""

import pytest


@pytest.fixture
def with_settings(request, nlp):
    """Makes a module's `pipeline` with other settings, whose component has learned what that of `nlp` has."""

    def make(**config):
        other = request.module.pipeline(**config)
        name = other.pipe_names[-1]
        other.get_pipe(name).learned = nlp.get_pipe(name).learned
        return other

    return make
