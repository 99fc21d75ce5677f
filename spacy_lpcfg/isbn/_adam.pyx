# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Adam (Kingma and Ba 2015) with weight decay and averaging, for tables of which a step touches some rows only.

A row is brought up to date when it is needed next. Where it had no gradient for k steps, its moments shrank as those of
all others; what they moved it by in these steps is summed in closed form, the rate and the second moment taken for
constant; its weights decayed; and its average went towards where it was then. So every row is all but where it would be
had all rows been visited at every step.
"""

import numpy as np

from libc.math cimport exp, sqrt
from libc.stdint cimport int32_t, int64_t

cdef extern from *:
    """
    #include <cmath>
    #include "lanes.h"

    /* value and moments of a row after steps without a gradient */
    SIMD_CLONES static void rest(float *value, float *first, float *second, float *average, float move, float decay,
                                 float first_decay, float second_decay, float average_decay, int n) {
    #pragma omp simd
        for (int i = 0; i < n; ++i) {
            value[i] = decay * (value[i] + move * first[i] / (std::sqrt(second[i]) + 1e-12f));
            first[i] *= first_decay;
            second[i] *= second_decay;
            average[i] = average_decay * average[i] + (1 - average_decay) * value[i];
        }
    }

    /* and after one with a gradient, which is cleared */
    SIMD_CLONES static void climb(float *value, float *first, float *second, float *average, float *gradient, float move,
                                  float decay, float first_decay, float second_decay, float average_decay, int n) {
    #pragma omp simd
        for (int i = 0; i < n; ++i) {
            first[i] = first_decay * first[i] + (1 - first_decay) * gradient[i];
            second[i] = second_decay * second[i] + ((1 - second_decay) * gradient[i] * gradient[i] + 1e-30f);
            value[i] = decay * (value[i] + move * first[i] / (std::sqrt(second[i]) + 1e-12f));
            average[i] = average_decay * average[i] + (1 - average_decay) * value[i];
            gradient[i] = 0;
        }
    }
    """
    void rest(float*, float*, float*, float*, float, float, float, float, float, int) nogil
    void climb(float*, float*, float*, float*, float*, float, float, float, float, float, int) nogil

cdef double FIRST_DECAY = 0.9       # of the moments, at every step
cdef double SECOND_DECAY = 0.999
cdef int LONGEST_MOVE = 100         # steps after which a moment moves nothing


cdef class Schedule:
    """The rates of all steps.

    rates (float64, (n_steps,)): of learning.
    weight_decay (float): a step takes this times its rate from the weights.
    averaging (float): the average keeps as much of itself at a step, and less at the first ones: (1 + t) / (10 + t).
    """

    cdef readonly int n_steps
    cdef double[::1] moves              # (n_steps + 1,): what moments are multiplied by at step t, corrected for bias
    cdef double[::1] log_decays         # (n_steps + 1,): sums until step t
    cdef double[::1] log_averages

    def __init__(self, rates, double weight_decay, double averaging):
        steps = np.arange(1, len(rates) + 1)
        self.n_steps = len(rates)
        moves = rates * np.sqrt(1 - SECOND_DECAY**steps) / (1 - FIRST_DECAY**steps)
        self.moves = np.concatenate([[0.0], moves])
        self.log_decays = np.concatenate([[0.0], np.cumsum(np.log1p(-rates * weight_decay))])
        keeps = np.minimum(averaging, (1 + steps) / (10 + steps)) if averaging else np.full(len(rates), 1e-300)
        self.log_averages = np.concatenate([[0.0], np.cumsum(np.log(keeps))])

    cdef double move_between(self, int last, int now) noexcept nogil:
        """How far the moments of step `last` move a weight in all steps after it until `now`."""
        cdef double total = 0, power = 1
        cdef int t
        for t in range(last + 1, min(now, last + LONGEST_MOVE) + 1):
            power *= FIRST_DECAY / sqrt(SECOND_DECAY)
            total += power * self.moves[t]
        return total


cdef class Table:
    """Weights under Adam. Fetch rows before their weights are used; step adds what their gradient asks for.

    weights (float32, (n_rows, width)): changed in place.
    """

    cdef Schedule schedule
    cdef readonly object weights
    cdef readonly object gradient       # (n_rows, width): add to it between `fetch` and `step`, which clears it
    cdef readonly object averages
    cdef float[:, ::1] _weights
    cdef float[:, ::1] _gradient
    cdef float[:, ::1] _averages
    cdef float[:, ::1] _first
    cdef float[:, ::1] _second
    cdef int32_t[::1] _last             # step until which a row is up to date

    def __init__(self, weights, Schedule schedule):
        self.schedule, self.weights = schedule, weights
        self.gradient, self.averages = np.zeros_like(weights), weights.copy()
        self._weights, self._gradient, self._averages = weights, self.gradient, self.averages
        self._first, self._second = np.zeros_like(weights), np.zeros_like(weights)
        self._last = np.zeros(len(weights), dtype=np.int32)

    def fetch(self, const int64_t[::1] rows, int now):
        """Bring rows up to date with step `now`."""
        cdef int64_t i, r
        cdef int last, width = self._weights.shape[1]
        cdef Schedule s = self.schedule
        with nogil:
            for i in range(rows.shape[0]):
                r, last = rows[i], self._last[rows[i]]
                if last < now:
                    rest(&self._weights[r, 0], &self._first[r, 0], &self._second[r, 0], &self._averages[r, 0],
                         s.move_between(last, now), exp(s.log_decays[now] - s.log_decays[last]),
                         FIRST_DECAY ** (now - last), SECOND_DECAY ** (now - last),
                         exp(s.log_averages[now] - s.log_averages[last]), width)
                    self._last[r] = now

    def step(self, const int64_t[::1] rows, int now):
        """Step `now`, up the gradient of rows that are up to date with the step before it."""
        cdef int64_t i, r
        cdef int width = self._weights.shape[1]
        cdef Schedule s = self.schedule
        with nogil:
            for i in range(rows.shape[0]):
                r = rows[i]
                climb(&self._weights[r, 0], &self._first[r, 0], &self._second[r, 0], &self._averages[r, 0],
                      &self._gradient[r, 0], s.moves[now], exp(s.log_decays[now] - s.log_decays[now - 1]),
                      FIRST_DECAY, SECOND_DECAY, exp(s.log_averages[now] - s.log_averages[now - 1]), width)
                self._last[r] = now
