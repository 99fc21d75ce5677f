"""Scoring by the networks: log-probabilities of decisions, what these do to the means, and bounds on those of words.

A softmax over words is left out where it can make no difference: log P of a tag and a word under it are concave in the
means, so that their tangents at the means of one hypothesis bound them at those of all others.
"""

from libc.math cimport INFINITY, exp
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._types cimport FEED_FORWARD, NONE, STEP, Model, NetworkTable

cdef extern from "mean_field.h" namespace "isbn" nogil:
    void average(float* sum, const float* weights, const float* matrix, int n_rows, int n_states)
    void sigmoid(float* means, const float* theta, int n_states)
    float softmax(float* logits, float* q, const float* means, const Choice[float]& choice)
    void step(float* theta, const float* q, const Choice[float]& choice, int chosen, Workspace[float]& workspace)
    int settle(float* theta, float* means, float* logits, float* q, const Choice[float]& choice, int chosen,
               float tolerance, Workspace[float]& workspace)

cdef extern from "vectors.h" namespace "isbn" nogil:
    void add_logits(float* logits, const float* weights, const float* biases, const float* means, float scale,
                    int n_outcomes, int n_states)
    float log_sum_exp(float* logits, int n)
    float product_of(const float* x, const float* y, int width)

cdef double ROUNDING = 1e-4      # more than that of single floats adds to a bound
cdef float MIN_SHARE = 1e-4      # of the tolerance; less likely outcomes do not bend a Newton step


cdef class Scorer:
    """Decisions among ranges of outcomes by the means of a position.

    tolerance (float): residual of the equations for the means, where the approximation is "mean-field".
    """

    def __init__(self, Networks networks, float tolerance):
        cdef const Model* n = &networks.model
        self.networks, self.model, self.tolerance = networks, n, tolerance
        self.workspace.forcing = max(self.workspace.forcing, tolerance)
        self.workspace.negligible = max(self.workspace.negligible, MIN_SHARE * tolerance)
        self.logits.resize(n.max_outcomes)
        self.q.resize(3 * n.max_outcomes)
        self.spare_q.resize(n.max_outcomes)
        self.spare_means.resize(n.width)

    cdef void sigmoids(self, float* means, const float* theta) noexcept nogil:
        cdef const NetworkTable* table
        cdef int k
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            sigmoid(means + table.start, theta + table.start, table.n_states)

    cdef void decide(self, int stage, int first, int end, const uint8_t* allowed, const float* means,
                     float* log_probabilities) noexcept nogil:
        """log P of each outcome of a range."""
        cdef const Model* n = self.model
        cdef Choice[float] choice
        cdef float normaliser
        cdef int d
        if n.settles and n.n_networks == 1:
            choice = choice_of(&n.tables[0], first, end, allowed)
            normaliser = softmax(log_probabilities, &self.q[<size_t>stage * n.max_outcomes], means, choice)
        else:
            self.add_all_logits(first, end, allowed, means, log_probabilities)
            memcpy(&self.logits[0], log_probabilities, (end - first) * sizeof(float))
            normaliser = log_sum_exp(&self.logits[0], end - first)
        for d in range(end - first):
            log_probabilities[d] -= normaliser

    cdef double log_word(self, int outcome, int first, int end, const float* means) noexcept nogil:
        """log P of a word under its tag; leaves in `logits` what is proportional to P of all words of the tag."""
        cdef double logit
        self.n_word_softmaxes += 1
        self.n_word_outcomes += end - first
        self.add_all_logits(first, end, NULL, means, &self.logits[0])
        logit = self.logits[outcome - first]
        return logit - log_sum_exp(&self.logits[0], end - first)

    cdef void add_all_logits(self, int first, int end, const uint8_t* allowed, const float* means,
                             float* logits) noexcept nogil:
        """The mean of the networks' logits."""
        cdef const NetworkTable* table
        cdef int k, d
        memset(logits, 0, (end - first) * sizeof(float))
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            add_logits(logits, table.outcome_weights + <size_t>first * table.width, table.outcome_bias + first,
                       means + table.start, 1.0 / self.model.n_networks, end - first, table.n_states)
        if allowed != NULL:
            for d in range(end - first):
                if not allowed[d]:
                    logits[d] = -INFINITY

    cdef void update(self, int stage, int first, int end, const uint8_t* allowed, int chosen, float* theta,
                     const float* means) noexcept nogil:
        """Change theta by a decision among a range, which was taken by these means."""
        cdef const Model* n = self.model
        cdef Choice[float] choice
        cdef const NetworkTable* table
        cdef int k
        for k in range(n.n_networks):
            table = &n.tables[k]
            if table.approximation == FEED_FORWARD:
                continue
            choice = choice_of(table, first, end, allowed)
            if n.n_networks > 1:
                softmax(&self.logits[0], &self.spare_q[0], means + table.start, choice)
            else:
                memcpy(&self.spare_q[0], &self.q[<size_t>stage * n.max_outcomes], (end - first) * sizeof(float))
            if table.approximation == STEP:
                step(theta + table.start, &self.spare_q[0], choice, chosen - first, self.workspace)
            else:
                memcpy(&self.spare_means[0], means + table.start, table.width * sizeof(float))
                settle(theta + table.start, &self.spare_means[0], &self.logits[0], &self.spare_q[0], choice,
                       chosen - first, self.tolerance, self.workspace)


cdef Choice[float] choice_of(const NetworkTable* table, int first, int end, const uint8_t* allowed) noexcept nogil:
    cdef Choice[float] choice
    choice.weights = table.outcome_weights + <size_t>first * table.width
    choice.biases = table.outcome_bias + first
    choice.allowed = allowed
    choice.n_outcomes, choice.n_states = end - first, table.n_states
    return choice


cdef class Tangents:
    """Tangents of the log-probabilities of a word's candidates, which are concave in the means: upper bounds.

    Each candidate that has tangents has two: of the word under its tag (0), and of tag and word together (1).
    """

    def __init__(self, Networks networks):
        self.networks, self.model = networks, &networks.model
        self.tag_weights.resize(self.model.first_word - self.model.n_actions)

    cdef void begin(self, int first, int end) noexcept nogil:
        """Begin a word that has these candidates: none has tangents yet."""
        self.first = first
        self.slopes.clear()
        self.intercepts.clear()
        self.number_of.assign(end - first, NONE)

    cdef double bound(self, int candidate, int which, const float* means) noexcept nogil:
        """What log P of a word under its tag (which = 0), or of both (1), does not exceed at some means."""
        cdef size_t number = 2 * self.number_of[candidate - self.first] + which
        cdef int width = self.model.width
        return self.intercepts[number] + product_of(&self.slopes[number * width], means, width) + ROUNDING

    cdef void draw(self, int candidate, int tag, int outcome, const float* means, double log_word,
                   const float* word_weights, const float* log_tags) noexcept nogil:
        """Draw the tangents of a candidate at some means.

        log_word: of the word under its tag; word_weights: proportional to P of all words of the tag.
        log_tags: of all tags.
        """
        cdef const Model* n = self.model
        cdef int d, i, width = n.width
        cdef float* slopes
        cdef size_t number = self.intercepts.size()
        self.number_of[candidate - self.first] = <int32_t>(number / 2)
        self.slopes.resize((number + 2) * width)
        slopes = &self.slopes[number * width]
        self.slope(slopes, outcome, n.word_offsets[tag], n.word_offsets[tag + 1], word_weights)
        for d in range(n.first_word - n.n_actions):
            self.tag_weights[d] = exp(log_tags[d])
        self.slope(slopes + width, n.n_actions + tag, n.n_actions, n.first_word, &self.tag_weights[0])
        for i in range(width):
            slopes[width + i] += slopes[i]
        self.intercepts.push_back(log_word - product_of(slopes, means, width))
        self.intercepts.push_back(log_word + log_tags[tag] - product_of(slopes + width, means, width))

    cdef void slope(self, float* slope, int outcome, int first, int end, const float* weights) noexcept nogil:
        """The gradient by the means of an outcome's log P, where those of its range are proportional to weights."""
        cdef const NetworkTable* table
        cdef const float* own
        cdef double total = 0
        cdef int k, d, i
        for d in range(end - first):
            total += weights[d]
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            average(slope + table.start, weights, table.outcome_weights + <size_t>first * table.width, end - first,
                    table.n_states)
            own = table.outcome_weights + <size_t>outcome * table.width
            for i in range(table.width):
                slope[table.start + i] = (own[i] - slope[table.start + i] / total) / self.model.n_networks
