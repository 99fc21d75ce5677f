"""Adam (Kingma and Ba 2015) with weight decay and averaging, for tables of which a step touches some rows only.

A row is brought up to date when it is needed next. Where it had no gradient for k steps, its moments shrank as those of
all others; what they moved it by in these steps is summed in closed form, the rate and the second moment taken for
constant; its weights decayed; and its average went towards where it was then. So every row is all but where it would be
had all rows been visited at every step.

Weight decay is the gradient of a normal prior, `decay * weight`, that is scaled as Adam scales the gradient of the
likelihood, so that both balance at the mode of the posterior, but is kept out of the moments, and taken at where the
step leads to: what is seldom seen decays fast, and nothing ever overshoots 0.
"""

import numpy as np

from libc.math cimport exp, sqrt
from libc.stdint cimport int32_t, int64_t

cdef extern from *:
    """
    #include <cmath>
    #include "lanes.h"

    /* What happens at all steps: `move` multiplies the moments, and `decay` the prior's gradient. */
    struct Step { float move, decay, first_decay, second_decay, average_decay; };

    /* A row after steps without a gradient, from the root of the second moment half way */
    SIMD_CLONES static void rest(float *value, float *first, float *second, float *average, const Step &step, int n) {
        const float half_way = std::sqrt(std::sqrt(step.second_decay));
    #pragma omp simd
        for (int i = 0; i < n; ++i) {
            const float root = std::sqrt(second[i]), start = value[i] + step.move * first[i] / (root + 1e-12f);
            value[i] = start / (1 + step.decay / (half_way * root + 1e-12f));
            first[i] *= step.first_decay;
            second[i] *= step.second_decay;
            average[i] = step.average_decay * average[i] + (1 - step.average_decay) * value[i];
        }
    }

    /* A row after one step with a gradient, which is cleared */
    SIMD_CLONES static void climb(float *value, float *first, float *second, float *average, float *gradient,
                                  const Step &step, int n) {
    #pragma omp simd
        for (int i = 0; i < n; ++i) {
            const float square = (1 - step.second_decay) * gradient[i] * gradient[i] + 1e-30f;
            first[i] = step.first_decay * first[i] + (1 - step.first_decay) * gradient[i];
            second[i] = step.second_decay * second[i] + square;
            const float root = std::sqrt(second[i]) + 1e-12f;
            value[i] = (root * value[i] + step.move * first[i]) / (root + step.decay);
            average[i] = step.average_decay * average[i] + (1 - step.average_decay) * value[i];
            gradient[i] = 0;
        }
    }
    """
    struct Step:
        float move
        float decay
        float first_decay
        float second_decay
        float average_decay
    void rest(float*, float*, float*, float*, const Step&, int) nogil
    void climb(float*, float*, float*, float*, float*, const Step&, int) nogil

cdef double FIRST_DECAY = 0.9       # of the moments, at every step
cdef double SECOND_DECAY = 0.999
cdef int MAX_MOVING_STEPS = 100     # steps after which a moment moves nothing


cdef class Schedule:
    """The rates of all steps.

    rates (float64, (n_steps,)): of learning.
    weight_decay (float): the prior's gradient is minus this times the weight.
    averaging (float): the average keeps as much of itself at a step, and less at the first ones: (1 + t) / (10 + t).
    """

    cdef readonly int n_steps
    cdef double[::1] moves              # (n_steps + 1,): what moments are multiplied by at step t, corrected for bias
    cdef double[::1] decays             # (n_steps + 1,): sums until step t of moves * weight_decay
    cdef double[::1] log_averages       # and of what the average keeps

    def __init__(self, rates, double weight_decay, double averaging):
        steps = np.arange(1, len(rates) + 1)
        self.n_steps = len(rates)
        moves = rates * np.sqrt(1 - SECOND_DECAY**steps) / (1 - FIRST_DECAY**steps)
        self.moves = np.concatenate([[0.0], moves])
        self.decays = np.concatenate([[0.0], weight_decay * np.cumsum(moves)])
        keeps = np.minimum(averaging, (1 + steps) / (10 + steps)) if averaging else np.full(len(rates), 1e-300)
        self.log_averages = np.concatenate([[0.0], np.cumsum(np.log(keeps))])

    cdef Step between(self, int last, int now) noexcept nogil:
        """All that happens after step `last` until step `now`, with no gradient."""
        cdef double move = 0, power = 1
        cdef int t
        cdef Step step
        for t in range(last + 1, min(now, last + MAX_MOVING_STEPS) + 1):
            power *= FIRST_DECAY / sqrt(SECOND_DECAY)
            move += power * self.moves[t]
        step.move, step.decay = move, self.decays[now] - self.decays[last]
        step.first_decay, step.second_decay = FIRST_DECAY ** (now - last), SECOND_DECAY ** (now - last)
        step.average_decay = exp(self.log_averages[now] - self.log_averages[last])
        return step

    cdef Step at(self, int now) noexcept nogil:
        """Step `now`, with a gradient."""
        cdef Step step = self.between(now - 1, now)
        step.move, step.first_decay, step.second_decay = self.moves[now], FIRST_DECAY, SECOND_DECAY
        return step


cdef class AdamTable:
    """Weights under Adam. Rows are fetched before their weights are used, and moved by `step` up their gradient.

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
        cdef int width = self._weights.shape[1], last = now
        cdef Step step
        with nogil:
            for i in range(rows.shape[0]):
                r = rows[i]
                if self._last[r] < now:
                    if self._last[r] != last:  # as rows are visited in blocks, those side by side often have the same
                        last = self._last[r]
                        step = self.schedule.between(last, now)
                    rest(&self._weights[r, 0], &self._first[r, 0], &self._second[r, 0], &self._averages[r, 0], step,
                         width)
                    self._last[r] = now

    def step(self, const int64_t[::1] rows, int now):
        """Step `now`, up the gradient of rows that are up to date with the step before it."""
        cdef int64_t i, r
        cdef int width = self._weights.shape[1]
        cdef Step step = self.schedule.at(now)
        with nogil:
            for i in range(rows.shape[0]):
                r = rows[i]
                climb(&self._weights[r, 0], &self._first[r, 0], &self._second[r, 0], &self._averages[r, 0],
                      &self._gradient[r, 0], step, width)
                self._last[r] = now
