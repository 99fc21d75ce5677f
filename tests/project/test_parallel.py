"""Calls that come back in their order, by every kind of backend that joblib has."""

from __future__ import annotations

import os
import time
import warnings

import numpy as np
import pytest
from joblib import parallel_config

from spacy_lpcfg.parallel import MOST_DEATHS, as_completed, in_order, in_processes

BACKENDS = ["sequential", "threading", "loky", "multiprocessing"]  # the last has no generators, as Ray and Spark


@pytest.mark.parametrize("backend", BACKENDS)
def test_calls_come_back_in_order(backend):
    calls = ((np.full(3, i), 2) for i in range(150))
    with parallel_config(backend=backend, n_jobs=2):
        found = list(in_order(np.multiply, calls))
    assert [value.tolist() for value in found] == [[2 * i] * 3 for i in range(150)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_call_raises_is_raised(backend):
    with parallel_config(backend=backend, n_jobs=2), pytest.raises(ZeroDivisionError):
        list(in_order(divmod, [(1, 1), (1, 0)]))


def test_settings_of_joblib_are_checked():
    with pytest.raises(ValueError, match="n_jobs"):
        list(in_order(abs, [(1,)], n_jobs=0))


def test_death_of_a_process_is_raised():
    with parallel_config(backend="loky", n_jobs=2), pytest.raises(RuntimeError, match="terminated"):
        list(in_order(os._exit, [(1,)] * 3))


def dies_at_three(item: int) -> int:
    if item == 3:
        os._exit(1)
    return item


def test_call_that_kills_each_process_is_given_up_and_all_others_are_made():
    found = dict(as_completed(dies_at_three, range(6), 2))
    assert found == {0: 0, 1: 1, 2: 2, 3: None, 4: 4, 5: 5}
    assert MOST_DEATHS > 1


@pytest.mark.parametrize("run", [in_processes, as_completed])
def test_results_that_nobody_takes_are_left_without_a_warning(run):
    results = run(time.sleep, [i / 100 for i in range(20)], 2)
    next(results)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        results.close()
    assert told == []
