"""Log-likelihoods of sequences of decisions under a sigmoid belief network, and their gradients.

Sections 4 and 5 of Henderson and Titov (2010). With mu the means of a position's latent units after its decisions, the
natural parameters (logits) of a later position begin as

    theta = bias + sum_r J[r] mu[position that latent relation r leads to] + sum of its rows of decision weights

and each of its decisions d in turn has log P(d) = log softmax(W mu + c)[d], mu = sigmoid(theta), and then changes theta
in the way of the approximation (`mean_field.h`).

A pass over some sequences is made of independent pieces of work in four rounds: sequences forwards, groups of decisions
over the same outcomes, sequences backwards, parts of the parameters. Pieces of one round may run in any order, or at
the same time, and the result is the same to the last bit; one thread takes its sequences side by side, a position of
each at a time, since products of one matrix with several vectors cost much less than one by one.

    round                   feed-forward                        mean field
    forward                 means                               means, distributions of the decisions
    decide                  distributions, and their gradients  -
                            by the means
    backward                gradients by theta                  gradients by theta, adjoints of the decisions
    collect                 gradients by the parameters         gradients by the parameters
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.mean_field cimport (
    EXACT, FEED_FORWARD, MEAN_FIELD_STEP, Choice, Workspace, add_averages, add_inputs, add_outer_products, add_products,
    add_to_rows, choose_adjoint, normalise, padded, settle, settle_adjoint, sigmoid, softmax, step, step_adjoint)

from spacy_lpcfg.isbn.network import APPROXIMATIONS

ctypedef vector[int64_t] Numbers


@cython.final
cdef class Pass:
    """A pass over sequences, in pieces; see above.

    arrays (dict): Contiguous arrays by name, float32 where no type is given. The rows of vectors are padded with zeros
        to `width`.
        The sequences: all fields of `DecisionEvents`; position_of (int32, (n_choices,)); outcome_offsets (int64,
        (n_choices + 1,)): where the outcomes of each choice begin among those of all choices; group_offsets (int64,
        (n_groups + 1,)), group_choices (int32, (n_choices,)): the choices, those over the same outcomes together.
        The parameters: bias (width,), latent_weights (n_latent, n_states, width), decision_weights (n_inputs, width),
        outcome_weights (., width), outcome_bias (.,); transposed: latent_weights with the last two axes exchanged.
        What is computed forwards: means (n, width); passed (n, width): the same array, or, with keep (n, width), the
        means times `keep`; log_probabilities (float64, (n_choices,)); distributions (n_outcomes,): of the choices. Of
        mean fields also before (n_choices, width): the means before a choice, and of "mean-field" settled
        (n_outcomes,): the distributions after it.
        To go backwards: pulls (n_choices, width): gradients of choices by the means; asked, gradients (n, width): by
        the passed means, to which is added and which begin as 0, and by the first theta; by_bias, by_latent_weights ...
        of the shapes of the parameters, to which the gradients are added; of mean fields also turns (n_outcomes,).
        Distributions become the gradients by the logits.
    approximation (str), n_states (int).
    """

    cdef int approximation, n_states, n_latent, width
    cdef int64_t n_sequences, n_groups
    cdef const int64_t[::1] sequence_offsets, row_offsets, choice_offsets, outcome_offsets, group_offsets
    cdef const int32_t[::1] rows, position_of, group_choices
    cdef const int32_t[:, ::1] latent, choices
    cdef const uint8_t[:, ::1] masks
    cdef const float[::1] bias, outcome_bias
    cdef const float[:, ::1] decision_weights, outcome_weights, keep
    cdef const float[:, :, ::1] latent_weights, transposed
    cdef float[:, ::1] means, passed, before, pulls, asked, gradients
    cdef float[::1] distributions, settled, turns
    cdef double[::1] log_probabilities
    cdef float[::1] by_bias, by_outcome_bias
    cdef float[:, ::1] by_inputs, by_outcomes
    cdef float[:, :, ::1] by_latent

    def __init__(self, dict arrays, str approximation, int n_states):
        self.approximation, self.n_states = APPROXIMATIONS.index(approximation), n_states
        self.sequence_offsets, self.row_offsets = arrays["sequence_offsets"], arrays["row_offsets"]
        self.choice_offsets, self.outcome_offsets = arrays["choice_offsets"], arrays["outcome_offsets"]
        self.group_offsets, self.group_choices = arrays["group_offsets"], arrays["group_choices"]
        self.rows, self.position_of = arrays["rows"], arrays["position_of"]
        self.latent, self.choices, self.masks = arrays["latent"], arrays["choices"], arrays["masks"]
        self.bias, self.outcome_bias = arrays["bias"], arrays["outcome_bias"]
        self.decision_weights, self.outcome_weights = arrays["decision_weights"], arrays["outcome_weights"]
        self.latent_weights, self.transposed = arrays["latent_weights"], arrays["transposed"]
        self.keep, self.means, self.passed = arrays.get("keep"), arrays["means"], arrays["passed"]
        self.before, self.pulls = arrays.get("before"), arrays.get("pulls")
        self.asked, self.gradients = arrays.get("asked"), arrays.get("gradients")
        self.distributions, self.settled = arrays["distributions"], arrays.get("settled")
        self.turns, self.log_probabilities = arrays.get("turns"), arrays["log_probabilities"]
        self.by_bias, self.by_outcome_bias = arrays.get("by_bias"), arrays.get("by_outcome_bias")
        self.by_inputs, self.by_outcomes = arrays.get("by_decision_weights"), arrays.get("by_outcome_weights")
        self.by_latent = arrays.get("by_latent_weights")
        self.n_latent, self.width = <int>self.latent_weights.shape[0], padded(n_states)
        self.n_sequences, self.n_groups = self.sequence_offsets.shape[0] - 1, self.group_offsets.shape[0] - 1

    # Rounds: each takes the pieces first, first + stride, ...

    def forward(self, int64_t first, int64_t stride):
        """Compute the means of sequences, and under a mean field the distributions of their decisions."""
        with nogil:
            self.go_forward(first, stride)

    def decide(self, int64_t first, int64_t stride):
        """Compute the distributions of groups of decisions under feed-forward means."""
        cdef int64_t group = first
        with nogil:
            while group < self.n_groups:
                self.decide_group(group)
                group += stride

    def backward(self, int64_t first, int64_t stride):
        """Compute the gradients of sequences by theta."""
        with nogil:
            self.go_backward(first, stride)

    def collect(self, int64_t first, int64_t stride):
        """Add to the gradients by the parameters: groups of outcomes, then latent relations, then the inputs."""
        cdef int64_t part = first
        with nogil:
            while part <= self.n_groups + self.n_latent:
                if part < self.n_groups:
                    self.collect_outcomes(part)
                elif part < self.n_groups + self.n_latent:
                    self.collect_latent(part - self.n_groups)
                else:
                    self.collect_inputs()
                part += stride

    # Decisions

    cdef Choice choice(self, int64_t k) noexcept nogil:
        cdef Choice choice
        cdef int first = self.choices[k, 0], mask = self.choices[k, 2]
        choice.weights, choice.biases = &self.outcome_weights[first, 0], &self.outcome_bias[first]
        choice.allowed = &self.masks[mask, 0] if mask >= 0 else NULL
        choice.n_outcomes, choice.n_states = self.choices[k, 1] - first, self.n_states
        return choice

    cdef inline int chosen(self, int64_t k) noexcept nogil:
        return self.choices[k, 3] - self.choices[k, 0]

    cdef inline float* means_before(self, int64_t k) noexcept nogil:
        return &self.means[self.position_of[k], 0] if self.approximation == FEED_FORWARD else &self.before[k, 0]

    cdef inline float* means_after(self, int64_t k) noexcept nogil:
        """The means when choice k of a mean field is made."""
        cdef int64_t p = self.position_of[k]
        return &self.before[k + 1, 0] if k + 1 < self.choice_offsets[p + 1] else &self.means[p, 0]

    # Sequences side by side: what they need of a matrix at the same place is one product

    cdef int64_t take(self, Numbers& sequences, int64_t first, int64_t stride) except -1 nogil:
        """Take the sequences first, first + stride, ...; the positions of the longest."""
        cdef int64_t most = 0
        while first < self.n_sequences:
            sequences.push_back(first)
            most = max(most, self.sequence_offsets[first + 1] - self.sequence_offsets[first])
            first += stride
        return most

    cdef int positions_at(self, Numbers& positions, Numbers& firsts, const Numbers& sequences,
                          int64_t place) except -1 nogil:
        """The positions at a place of the sequences, of those that have it, and where these sequences begin."""
        cdef int64_t i, begin
        positions.clear()
        firsts.clear()
        for i in range(<int64_t>sequences.size()):
            begin = self.sequence_offsets[sequences[i]]
            if begin + place < self.sequence_offsets[sequences[i] + 1]:
                positions.push_back(begin + place)
                firsts.push_back(begin)

    # Forward

    cdef int go_forward(self, int64_t first, int64_t stride) except -1 nogil:
        cdef int64_t place, p, i
        cdef int h
        cdef Workspace workspace
        cdef Numbers sequences, positions, firsts
        cdef vector[float] thetas, logits
        for place in range(self.take(sequences, first, stride)):
            self.positions_at(positions, firsts, sequences, place)
            thetas.resize(positions.size() * self.width)
            self.enter(positions, firsts, thetas.data())
            for i in range(<int64_t>positions.size()):
                p = positions[i]
                sigmoid(&self.means[p, 0], &thetas[i * self.width], self.n_states)
                if self.approximation != FEED_FORWARD:
                    self.decide_in_turn(p, &thetas[i * self.width], logits, workspace)
                if self.keep is not None:
                    for h in range(self.width):
                        self.passed[p, h] = self.means[p, h] * self.keep[p, h]

    cdef int enter(self, const Numbers& positions, const Numbers& firsts, float* thetas) except -1 nogil:
        """Compute the first thetas of positions, whose sequences begin at `firsts`."""
        cdef int64_t i, p, r, earlier
        cdef vector[float*] targets
        cdef vector[const float*] sources
        for i in range(<int64_t>positions.size()):
            p = positions[i]
            memcpy(thetas + i * self.width, &self.bias[0], self.width * sizeof(float))
            add_inputs(thetas + i * self.width, &self.decision_weights[0, 0], &self.rows[self.row_offsets[p]],
                       <int>(self.row_offsets[p + 1] - self.row_offsets[p]), self.n_states)
        for r in range(self.n_latent):
            targets.clear()
            sources.clear()
            for i in range(<int64_t>positions.size()):
                earlier = self.latent[positions[i], r]
                if earlier >= 0:
                    targets.push_back(thetas + i * self.width)
                    sources.push_back(&self.passed[firsts[i] + earlier, 0])
            add_averages(targets.data(), sources.data(), &self.transposed[r, 0, 0], <int>targets.size(), self.n_states,
                         self.n_states)

    cdef int decide_in_turn(self, int64_t p, float* theta, vector[float]& logits,
                            Workspace& workspace) except -1 nogil:
        """Take the decisions of a position of a mean field one by one, each of which changes theta and means."""
        cdef int64_t k
        cdef float* means = &self.means[p, 0]
        cdef float* q
        cdef Choice choice
        for k in range(self.choice_offsets[p], self.choice_offsets[p + 1]):
            choice = self.choice(k)
            if <int>logits.size() < choice.n_outcomes:
                logits.resize(choice.n_outcomes)
            q = &self.distributions[self.outcome_offsets[k]]
            memcpy(&self.before[k, 0], means, self.width * sizeof(float))
            log_total = softmax(logits.data(), q, means, choice)
            self.log_probabilities[k] = logits[self.chosen(k)] - log_total
            workspace.fit(choice)
            if self.approximation == MEAN_FIELD_STEP:
                step(theta, q, choice, self.chosen(k), workspace)
                sigmoid(means, theta, self.n_states)
            else:
                memcpy(&self.settled[self.outcome_offsets[k]], q, choice.n_outcomes * sizeof(float))
                q = &self.settled[self.outcome_offsets[k]]
                settle(theta, means, logits.data(), q, choice, self.chosen(k), EXACT, workspace)

    cdef int decide_group(self, int64_t group) except -1 nogil:
        """Compute decisions over the same outcomes under feed-forward means, and `pulls`, their gradients by these."""
        cdef const int32_t* choices = &self.group_choices[self.group_offsets[group]]
        cdef int64_t n = self.group_offsets[group + 1] - self.group_offsets[group], i, k
        cdef vector[const float*] sources
        cdef vector[float*] targets, pulls
        cdef Choice choice = self.choice(choices[0])
        cdef float logit
        for i in range(n):
            k = choices[i]
            sources.push_back(&self.means[self.position_of[k], 0])
            targets.push_back(&self.distributions[self.outcome_offsets[k]])
            memcpy(targets[i], choice.biases, choice.n_outcomes * sizeof(float))
        add_products(targets.data(), choice.weights, sources.data(), <int>n, choice.n_outcomes, self.n_states)
        for i in range(n):
            k = choices[i]
            logit = targets[i][self.chosen(k)]
            self.log_probabilities[k] = logit - normalise(targets[i], targets[i], self.choice(k))
            to_errors(targets[i], choice.n_outcomes, self.chosen(k))
            if self.pulls is not None:
                pulls.push_back(&self.pulls[k, 0])
                memset(pulls[i], 0, self.width * sizeof(float))
        add_averages(pulls.data(), targets.data(), choice.weights, <int>pulls.size(), choice.n_outcomes, self.n_states)

    # Backward

    cdef int go_backward(self, int64_t first, int64_t stride) except -1 nogil:
        cdef int64_t place, i, r, earlier
        cdef Workspace workspace
        cdef Numbers sequences, positions, firsts
        cdef vector[float*] targets
        cdef vector[const float*] sources
        for place in range(self.take(sequences, first, stride) - 1, -1, -1):
            self.positions_at(positions, firsts, sequences, place)
            for i in range(<int64_t>positions.size()):
                self.leave(positions[i], workspace)
            for r in range(self.n_latent):
                targets.clear()
                sources.clear()
                for i in range(<int64_t>positions.size()):
                    earlier = self.latent[positions[i], r]
                    if earlier >= 0:
                        targets.push_back(&self.asked[firsts[i] + earlier, 0])
                        sources.push_back(&self.gradients[positions[i], 0])
                add_averages(targets.data(), sources.data(), &self.latent_weights[r, 0, 0], <int>targets.size(),
                             self.n_states, self.n_states)

    cdef int leave(self, int64_t p, Workspace& workspace) except -1 nogil:
        """Compute the gradient by a position's first theta from that by its passed means, which is complete."""
        cdef int64_t k
        cdef int h
        cdef float* asked = &self.asked[p, 0]
        cdef float* g = &self.gradients[p, 0]
        if self.keep is not None:
            for h in range(self.width):
                asked[h] *= self.keep[p, h]
        if self.approximation == FEED_FORWARD:
            for k in range(self.choice_offsets[p], self.choice_offsets[p + 1]):
                for h in range(self.width):
                    asked[h] += self.pulls[k, h]
        for h in range(self.width):
            g[h] = asked[h] * self.means[p, h] * (1 - self.means[p, h])
        if self.approximation != FEED_FORWARD:
            self.undo_in_turn(p, g, workspace)

    cdef int undo_in_turn(self, int64_t p, float* g, Workspace& workspace) except -1 nogil:
        """The adjoint of `decide_in_turn`: g is by theta after the decisions, and becomes that before them."""
        cdef int64_t k
        cdef Choice choice
        cdef float* q
        cdef float* turns
        cdef float* settled
        for k in range(self.choice_offsets[p + 1] - 1, self.choice_offsets[p] - 1, -1):
            choice = self.choice(k)
            q, turns = &self.distributions[self.outcome_offsets[k]], &self.turns[self.outcome_offsets[k]]
            workspace.fit(choice)
            if self.approximation == MEAN_FIELD_STEP:
                memcpy(&self.pulls[k, 0], g, self.width * sizeof(float))
                step_adjoint(g, turns, self.means_before(k), q, choice, workspace)
            else:
                settled = &self.settled[self.outcome_offsets[k]]
                settle_adjoint(g, turns, self.means_after(k), settled, choice, workspace)
                memcpy(&self.pulls[k, 0], g, self.width * sizeof(float))
                to_errors(settled, choice.n_outcomes, self.chosen(k))
            choose_adjoint(g, self.means_before(k), q, choice, self.chosen(k), workspace)
            to_errors(q, choice.n_outcomes, self.chosen(k))

    # Gradients by the parameters

    cdef int collect_outcomes(self, int64_t group) except -1 nogil:
        """Add the gradient by the outcome weights and biases of a group of choices."""
        cdef int64_t i, k, offset
        cdef vector[const float*] coefficients, vectors
        cdef int first = self.choices[self.group_choices[self.group_offsets[group]], 0]
        cdef int o, n_outcomes = self.choice(self.group_choices[self.group_offsets[group]]).n_outcomes
        cdef bint is_step = self.approximation == MEAN_FIELD_STEP
        for i in range(self.group_offsets[group], self.group_offsets[group + 1]):
            k, offset = self.group_choices[i], self.outcome_offsets[self.group_choices[i]]
            coefficients.push_back(&self.distributions[offset])
            vectors.push_back(self.means_before(k))
            if self.approximation != FEED_FORWARD:
                coefficients.push_back(&self.distributions[offset] if is_step else &self.settled[offset])
                vectors.push_back(&self.pulls[k, 0])
                coefficients.push_back(&self.turns[offset])
                vectors.push_back(self.means_before(k) if is_step else self.means_after(k))
                for o in range(n_outcomes):
                    self.by_outcome_bias[first + o] += self.turns[offset + o]
            for o in range(n_outcomes):
                self.by_outcome_bias[first + o] += self.distributions[offset + o]
        add_outer_products(&self.by_outcomes[first, 0], coefficients.data(), vectors.data(), <int>vectors.size(),
                           n_outcomes, self.n_states)

    cdef int collect_latent(self, int64_t relation) except -1 nogil:
        """Add the gradient by the latent weights of a relation."""
        cdef int64_t sequence, p, first, earlier
        cdef vector[const float*] coefficients, vectors
        for sequence in range(self.n_sequences):
            first = self.sequence_offsets[sequence]
            for p in range(first, self.sequence_offsets[sequence + 1]):
                earlier = self.latent[p, relation]
                if earlier >= 0:
                    coefficients.push_back(&self.gradients[p, 0])
                    vectors.push_back(&self.passed[first + earlier, 0])
        add_outer_products(&self.by_latent[relation, 0, 0], coefficients.data(), vectors.data(), <int>vectors.size(),
                           self.n_states, self.n_states)

    cdef void collect_inputs(self) noexcept nogil:
        """Add the gradient by the bias and the decision weights."""
        cdef int64_t p
        cdef int32_t only = 0
        for p in range(self.latent.shape[0]):
            add_to_rows(&self.by_bias[0], &only, &self.gradients[p, 0], 1, self.n_states)
            add_to_rows(&self.by_inputs[0, 0], &self.rows[self.row_offsets[p]], &self.gradients[p, 0],
                        <int>(self.row_offsets[p + 1] - self.row_offsets[p]), self.n_states)


cdef void to_errors(float* q, int n, int chosen) noexcept nogil:
    """Replace a distribution q by the gradient of log q[chosen] by its logits: 1[d = chosen] - q[d]."""
    cdef int o
    for o in range(n):
        q[o] = -q[o]
    q[chosen] += 1
