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
    decide                  distributions, and what they ask    -
                            of the means
    backward                gradients by theta                  gradients by theta, adjoints of the decisions
    collect                 gradients by the parameters         gradients by the parameters
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

cdef extern from "mean_field.h" namespace "isbn" nogil:
    cppclass Choice[Number]:
        const Number* weights
        const Number* biases
        const uint8_t* allowed
        int n_outcomes
        int n_states
    cppclass Workspace[Number]:
        Number exact
    int padded(int)
    void add_products[Number](Number*const*, const Number*, const Number*const*, int, int, int)
    void add_outer_products[Number](Number*, const Number*const*, const Number*const*, int, int, int)
    void add_inputs[Number](Number*, const Number*, const int32_t*, int, int)
    void add_averages[Number](Number*const*, const Number*const*, const Number*, int, int, int)
    void add_to_rows[Number](Number*, const int32_t*, const Number*, int, int)
    void sigmoid[Number](Number*, const Number*, int)
    Number softmax[Number](Number*, Number*, const Number*, const Choice[Number]&)
    Number normalise[Number](Number*, Number*, const Choice[Number]&)
    void step[Number](Number*, const Number*, const Choice[Number]&, int, Workspace[Number]&)
    int settle[Number](Number*, Number*, Number*, Number*, const Choice[Number]&, int, Number, Workspace[Number]&)
    void choose_adjoint[Number](Number*, const Number*, const Number*, const Choice[Number]&, int, Workspace[Number]&)
    void step_adjoint[Number](Number*, Number*, const Number*, const Number*, const Choice[Number]&, Workspace[Number]&)
    void settle_adjoint[Number](Number*, Number*, const Number*, const Number*, const Choice[Number]&,
                                Workspace[Number]&)

cdef extern from *:
    """
    /* All arrays of a pass. The rows of vectors are padded. */
    template <typename Real> struct Arrays {
        int n_states, n_latent, approximation;
        const Real *bias, *latent, *inputs, *outcomes, *outcome_bias; /* parameters */
        const Real *transposed;       /* latent weights, for products that need no sums across a vector */
        const Real *keep;             /* by position: what multiplies the means that latent relations pass; or NULL */
        Real *means, *passed;         /* by position */
        Real *before;                 /* by choice: the means before it; of mean fields */
        Real *distributions;          /* by outcome of choice; then the gradients by the logits */
        Real *settled;                /* likewise, after the choice, of "mean-field" */
        Real *turns, *pulls;          /* by outcome of choice, and by choice: what its adjoint found */
        Real *asked, *gradients;      /* by position: gradients by the means passed, and by the first theta */
        Real *by_bias, *by_latent, *by_inputs, *by_outcomes, *by_outcome_bias;
        double *log_probabilities;    /* by choice */
    };
    """
    cppclass Arrays[Number]:
        int n_states, n_latent, approximation
        const Number* bias
        const Number* latent
        const Number* inputs
        const Number* outcomes
        const Number* outcome_bias
        const Number* transposed
        const Number* keep
        Number* means
        Number* passed
        Number* before
        Number* distributions
        Number* settled
        Number* turns
        Number* pulls
        Number* asked
        Number* gradients
        Number* by_bias
        Number* by_latent
        Number* by_inputs
        Number* by_outcomes
        Number* by_outcome_bias
        double *log_probabilities

ctypedef fused Real:
    float
    double

cdef enum Approximation:
    FEED_FORWARD, MEAN_FIELD, MEAN_FIELD_STEP

cdef enum Round:
    FORWARD, DECIDE, BACKWARD, COLLECT

ROUNDS = {"forward": FORWARD, "decide": DECIDE, "backward": BACKWARD, "collect": COLLECT}
CODES = {"feed-forward": FEED_FORWARD, "mean-field": MEAN_FIELD, "mean-field-step": MEAN_FIELD_STEP}


cdef struct Decisions:
    const int64_t* sequence_offsets
    const int32_t* latent
    const int64_t* row_offsets
    const int32_t* rows
    const int64_t* choice_offsets
    const int32_t* choices           # (n_choices, 4)
    const uint8_t* masks
    int n_allowed                    # columns of the masks
    const int32_t* position_of       # (n_choices,)
    const int64_t* outcome_offsets   # (n_choices + 1,): of its outcomes in the arrays of a pass
    const int64_t* group_offsets     # (n_groups + 1,)
    const int32_t* group_choices     # (n_choices,): those over the same outcomes one after the other
    int64_t n_positions, n_sequences, n_groups


cdef Choice[Real] choice_of(const Arrays[Real]& a, const Decisions& d, int64_t k) noexcept nogil:
    cdef Choice[Real] choice
    cdef const int32_t* row = d.choices + 4 * k
    choice.weights = a.outcomes + <int64_t>row[0] * padded(a.n_states)
    choice.biases = a.outcome_bias + row[0]
    choice.allowed = NULL
    if row[2] >= 0:
        choice.allowed = d.masks + <int64_t>row[2] * d.n_allowed
    choice.n_outcomes, choice.n_states = row[1] - row[0], a.n_states
    return choice


cdef inline int chosen(const Decisions& d, int64_t k) noexcept nogil:
    return d.choices[4 * k + 3] - d.choices[4 * k]


cdef inline Real* means_after(const Arrays[Real]& a, const Decisions& d, int64_t k) noexcept nogil:
    """The means when choice k of a mean field is made."""
    cdef int64_t p = d.position_of[k], width = padded(a.n_states)
    return a.before + (k + 1) * width if k + 1 < d.choice_offsets[p + 1] else a.means + p * width


# Sequences side by side: what they need of a matrix at the same place is one product


ctypedef vector[int64_t] Numbers


cdef int64_t take(Numbers& sequences, const Decisions& d, int64_t first, int64_t stride) noexcept nogil:
    """Take the sequences first, first + stride, ...; the positions of the longest."""
    cdef int64_t most = 0
    while first < d.n_sequences:
        sequences.push_back(first)
        most = max(most, d.sequence_offsets[first + 1] - d.sequence_offsets[first])
        first += stride
    return most


cdef void positions_at(Numbers& positions, Numbers& firsts, const Decisions& d, const Numbers& sequences,
                       int64_t place) noexcept nogil:
    """The positions at a place of the sequences, of those that have it, and where these sequences begin."""
    cdef int64_t i, begin
    positions.clear()
    firsts.clear()
    for i in range(<int64_t>sequences.size()):
        begin = d.sequence_offsets[sequences[i]]
        if begin + place < d.sequence_offsets[sequences[i] + 1]:
            positions.push_back(begin + place)
            firsts.push_back(begin)


# Forward


cdef void enter(const Arrays[Real]& a, const Decisions& d, const Numbers& positions, const Numbers& firsts,
                Real* thetas) noexcept nogil:
    """The thetas with which positions of sequences that begin at `firsts` begin."""
    cdef int64_t width = padded(a.n_states), i, p, r, earlier
    cdef vector[Real*] targets
    cdef vector[const Real*] sources
    for i in range(<int64_t>positions.size()):
        p = positions[i]
        memcpy(thetas + i * width, a.bias, width * sizeof(Real))
        add_inputs(thetas + i * width, a.inputs, d.rows + d.row_offsets[p],
                   <int>(d.row_offsets[p + 1] - d.row_offsets[p]), a.n_states)
    for r in range(a.n_latent):
        targets.clear()
        sources.clear()
        for i in range(<int64_t>positions.size()):
            earlier = d.latent[positions[i] * a.n_latent + r]
            if earlier >= 0:
                targets.push_back(thetas + i * width)
                sources.push_back(a.passed + (firsts[i] + earlier) * width)
        add_averages(targets.data(), sources.data(), a.transposed + r * a.n_states * width, <int>targets.size(),
                     a.n_states, a.n_states)


cdef void decide_in_turn(const Arrays[Real]& a, const Decisions& d, int64_t p, Real* theta, vector[Real]& logits,
                         Workspace[Real]& workspace) noexcept nogil:
    """The decisions of a position of a mean field."""
    cdef int64_t k, width = padded(a.n_states)
    cdef Real* means = a.means + p * width
    cdef Real* q
    cdef Choice[Real] choice
    for k in range(d.choice_offsets[p], d.choice_offsets[p + 1]):
        choice = choice_of(a, d, k)
        if <int>logits.size() < choice.n_outcomes:
            logits.resize(choice.n_outcomes)
        q = a.distributions + d.outcome_offsets[k]
        memcpy(a.before + k * width, means, width * sizeof(Real))
        log_total = softmax(logits.data(), q, means, choice)
        a.log_probabilities[k] = logits[chosen(d, k)] - log_total
        if a.approximation == MEAN_FIELD_STEP:
            step(theta, q, choice, chosen(d, k), workspace)
            sigmoid(means, theta, a.n_states)
        else:
            memcpy(a.settled + d.outcome_offsets[k], q, choice.n_outcomes * sizeof(Real))
            q = a.settled + d.outcome_offsets[k]
            settle(theta, means, logits.data(), q, choice, chosen(d, k), workspace.exact, workspace)


cdef void forward_of(const Arrays[Real]& a, const Decisions& d, int64_t first, int64_t stride) noexcept nogil:
    cdef int64_t width = padded(a.n_states), place, p, i, k
    cdef Workspace[Real] workspace
    cdef Numbers sequences, positions, firsts
    cdef vector[Real] thetas, logits
    for place in range(take(sequences, d, first, stride)):
        positions_at(positions, firsts, d, sequences, place)
        thetas.resize(positions.size() * width)
        enter(a, d, positions, firsts, thetas.data())
        for i in range(<int64_t>positions.size()):
            p = positions[i]
            sigmoid(a.means + p * width, thetas.data() + i * width, a.n_states)
            if a.approximation != FEED_FORWARD:
                decide_in_turn(a, d, p, thetas.data() + i * width, logits, workspace)
            if a.keep:
                for k in range(p * width, (p + 1) * width):
                    a.passed[k] = a.means[k] * a.keep[k]


cdef void decide_of(const Arrays[Real]& a, const Decisions& d, int64_t group) noexcept nogil:
    """Decisions over the same outcomes under feed-forward means; what they ask of the means becomes their `pulls`."""
    cdef int64_t first = d.group_offsets[group], n = d.group_offsets[group + 1] - first, i, k, o
    cdef int64_t width = padded(a.n_states)
    cdef vector[const Real*] sources, errors
    cdef vector[Real*] targets, pulls
    cdef Choice[Real] choice = choice_of(a, d, d.group_choices[first])
    cdef Real logit
    for i in range(n):
        k = d.group_choices[first + i]
        sources.push_back(a.means + d.position_of[k] * width)
        targets.push_back(a.distributions + d.outcome_offsets[k])
        memcpy(targets[i], choice.biases, choice.n_outcomes * sizeof(Real))
    add_products(targets.data(), choice.weights, sources.data(), <int>n, choice.n_outcomes, a.n_states)
    for i in range(n):
        k = d.group_choices[first + i]
        choice = choice_of(a, d, k)
        logit = targets[i][chosen(d, k)]
        a.log_probabilities[k] = logit - normalise(targets[i], targets[i], choice)
        for o in range(choice.n_outcomes):
            targets[i][o] = -targets[i][o]
        targets[i][chosen(d, k)] += 1
        if a.pulls:
            errors.push_back(targets[i])
            pulls.push_back(a.pulls + k * width)
            memset(pulls[i], 0, width * sizeof(Real))
    if a.pulls:
        add_averages(pulls.data(), errors.data(), choice.weights, <int>n, choice.n_outcomes, a.n_states)


# Backward


cdef void undo_in_turn(const Arrays[Real]& a, const Decisions& d, int64_t p, Real* g,
                       Workspace[Real]& workspace) noexcept nogil:
    """The adjoint of `decide_in_turn`: g is by theta after the decisions, and becomes that before them."""
    cdef int64_t k, width = padded(a.n_states)
    cdef Choice[Real] choice
    cdef Real *q
    cdef Real *turns
    cdef const Real *before
    for k in range(d.choice_offsets[p + 1] - 1, d.choice_offsets[p] - 1, -1):
        choice = choice_of(a, d, k)
        q, turns, before = a.distributions + d.outcome_offsets[k], a.turns + d.outcome_offsets[k], a.before + k * width
        if a.approximation == MEAN_FIELD_STEP:
            memcpy(a.pulls + k * width, g, width * sizeof(Real))
            step_adjoint(g, turns, before, q, choice, workspace)
        else:
            settle_adjoint(g, turns, means_after(a, d, k), a.settled + d.outcome_offsets[k], choice, workspace)
            memcpy(a.pulls + k * width, g, width * sizeof(Real))
        choose_adjoint(g, before, q, choice, chosen(d, k), workspace)
        to_errors(q, choice.n_outcomes, chosen(d, k))
        if a.approximation == MEAN_FIELD:
            to_errors(a.settled + d.outcome_offsets[k], choice.n_outcomes, chosen(d, k))


cdef void to_errors(Real* q, int n, int chosen) noexcept nogil:
    """What the outcomes lack: 1[d = chosen] - q[d]."""
    cdef int o
    for o in range(n):
        q[o] = -q[o]
    q[chosen] += 1


cdef void leave(const Arrays[Real]& a, const Decisions& d, int64_t p, Workspace[Real]& workspace) noexcept nogil:
    """The gradient by the theta with which a position begins, of which what is asked of its mean is known."""
    cdef int64_t width = padded(a.n_states), i, k
    cdef Real* asked = a.asked + p * width
    cdef Real* g = a.gradients + p * width
    if a.keep:
        for i in range(width):
            asked[i] *= a.keep[p * width + i]
    if a.approximation == FEED_FORWARD:
        for k in range(d.choice_offsets[p], d.choice_offsets[p + 1]):
            for i in range(width):
                asked[i] += a.pulls[k * width + i]
    for i in range(width):
        g[i] = asked[i] * a.means[p * width + i] * (1 - a.means[p * width + i])
    if a.approximation != FEED_FORWARD:
        undo_in_turn(a, d, p, g, workspace)


cdef void backward_of(const Arrays[Real]& a, const Decisions& d, int64_t first, int64_t stride) noexcept nogil:
    cdef int64_t width = padded(a.n_states), place, i, r, earlier
    cdef Workspace[Real] workspace
    cdef Numbers sequences, positions, firsts
    cdef vector[Real*] targets
    cdef vector[const Real*] sources
    for place in range(take(sequences, d, first, stride) - 1, -1, -1):
        positions_at(positions, firsts, d, sequences, place)
        for i in range(<int64_t>positions.size()):
            leave(a, d, positions[i], workspace)
        for r in range(a.n_latent):
            targets.clear()
            sources.clear()
            for i in range(<int64_t>positions.size()):
                earlier = d.latent[positions[i] * a.n_latent + r]
                if earlier >= 0:
                    targets.push_back(a.asked + (firsts[i] + earlier) * width)
                    sources.push_back(a.gradients + positions[i] * width)
            add_averages(targets.data(), sources.data(), a.latent + r * a.n_states * width, <int>targets.size(),
                         a.n_states, a.n_states)


# Gradients by the parameters


cdef void collect_outcomes(const Arrays[Real]& a, const Decisions& d, int64_t group) noexcept nogil:
    """By the outcome weights and biases of a group of choices."""
    cdef int64_t width = padded(a.n_states), i, k
    cdef vector[const Real*] coefficients, vectors
    cdef const int32_t* row = d.choices + 4 * <int64_t>d.group_choices[d.group_offsets[group]]
    cdef Real* by_bias = a.by_outcome_bias + row[0]
    cdef int n_outcomes = row[1] - row[0], o
    cdef bint is_step = a.approximation == MEAN_FIELD_STEP
    cdef const Real *before
    for i in range(d.group_offsets[group], d.group_offsets[group + 1]):
        k = d.group_choices[i]
        before = a.means + d.position_of[k] * width if a.approximation == FEED_FORWARD else a.before + k * width
        coefficients.push_back(a.distributions + d.outcome_offsets[k])
        vectors.push_back(before)
        if a.approximation != FEED_FORWARD:
            coefficients.push_back((a.distributions if is_step else a.settled) + d.outcome_offsets[k])
            vectors.push_back(a.pulls + k * width)
            coefficients.push_back(a.turns + d.outcome_offsets[k])
            vectors.push_back(before if is_step else means_after(a, d, k))
            for o in range(n_outcomes):
                by_bias[o] += a.turns[d.outcome_offsets[k] + o]
        for o in range(n_outcomes):
            by_bias[o] += a.distributions[d.outcome_offsets[k] + o]
    add_outer_products(a.by_outcomes + row[0] * width, coefficients.data(), vectors.data(), <int>vectors.size(),
                       n_outcomes, a.n_states)


cdef void collect_latent(const Arrays[Real]& a, const Decisions& d, int64_t relation) noexcept nogil:
    """By the latent weights of a relation."""
    cdef int64_t width = padded(a.n_states), sequence, p, first, earlier
    cdef vector[const Real*] coefficients, vectors
    for sequence in range(d.n_sequences):
        first = d.sequence_offsets[sequence]
        for p in range(first, d.sequence_offsets[sequence + 1]):
            earlier = d.latent[p * a.n_latent + relation]
            if earlier >= 0:
                coefficients.push_back(a.gradients + p * width)
                vectors.push_back(a.passed + (first + earlier) * width)
    add_outer_products(a.by_latent + relation * a.n_states * width, coefficients.data(), vectors.data(),
                       <int>vectors.size(), a.n_states, a.n_states)


cdef void collect_inputs(const Arrays[Real]& a, const Decisions& d) noexcept nogil:
    """By the bias and the decision weights."""
    cdef int64_t p
    cdef int32_t only = 0
    cdef const Real* g
    for p in range(d.n_positions):
        g = a.gradients + p * padded(a.n_states)
        add_to_rows(a.by_bias, &only, g, 1, a.n_states)
        add_to_rows(a.by_inputs, d.rows + d.row_offsets[p], g, <int>(d.row_offsets[p + 1] - d.row_offsets[p]),
                    a.n_states)


cdef void collect_of(const Arrays[Real]& a, const Decisions& d, int64_t part) noexcept nogil:
    if part < d.n_groups:
        collect_outcomes(a, d, part)
    elif part < d.n_groups + a.n_latent:
        collect_latent(a, d, part - d.n_groups)
    else:
        collect_inputs(a, d)


cdef void run_of(const Arrays[Real]& a, const Decisions& d, Round round, int64_t first, int64_t stride) noexcept nogil:
    """The pieces first, first + stride, ... of a round; those of `forward` and `backward` are taken side by side."""
    cdef int64_t n = d.n_groups if round == DECIDE else d.n_groups + a.n_latent + 1
    if round == FORWARD:
        forward_of(a, d, first, stride)
    elif round == BACKWARD:
        backward_of(a, d, first, stride)
    else:
        while first < n:
            if round == DECIDE:
                decide_of(a, d, first)
            else:
                collect_of(a, d, first)
            first += stride


# For Python


cdef class Plan:
    """Sequences as a pass reads them: pointers into the arrays of `DecisionEvents`, and what follows from them.

    events (DecisionEvents): checked.
    """

    cdef Decisions decisions
    cdef list arrays                       # that the decisions point to
    cdef readonly int n_sequences
    cdef readonly int n_groups
    cdef readonly int64_t n_positions
    cdef readonly int64_t n_choices
    cdef readonly int64_t n_outcomes       # of all choices
    cdef readonly object ranges            # (n_groups, 2): of outcomes

    def __init__(self, events):
        positions = np.repeat(np.arange(events.n_positions, dtype=np.int32), np.diff(events.choice_offsets))
        firsts, ends = events.choices[:, 0], events.choices[:, 1]
        outcome_offsets = np.concatenate([[0], np.cumsum(ends - firsts, dtype=np.int64)])
        grouped = np.lexsort((ends, firsts)).astype(np.int32)
        is_new = (np.diff(firsts[grouped]) != 0) | (np.diff(ends[grouped]) != 0)
        groups = np.concatenate([[0], 1 + np.flatnonzero(is_new), [len(grouped)]]) if len(grouped) else np.zeros(1, int)
        self.arrays = []
        self.n_sequences, self.n_positions = events.n_sequences, events.n_positions
        self.n_choices, self.n_groups, self.n_outcomes = len(grouped), len(groups) - 1, outcome_offsets[len(grouped)]
        self.ranges = events.choices[grouped[groups[: len(groups) - 1]], :2]
        self.decisions.n_positions, self.decisions.n_allowed = self.n_positions, events.masks.shape[1]
        self.decisions.n_sequences, self.decisions.n_groups = self.n_sequences, self.n_groups
        self.keep_all(events, positions, outcome_offsets, grouped, groups)

    cdef keep_all(self, events, positions, outcome_offsets, grouped, groups):
        """Keep the arrays that the decisions point to."""
        cdef Decisions* d = &self.decisions
        d.sequence_offsets = <const int64_t*> self.keep(events.sequence_offsets, np.int64)
        d.row_offsets = <const int64_t*> self.keep(events.row_offsets, np.int64)
        d.choice_offsets = <const int64_t*> self.keep(events.choice_offsets, np.int64)
        d.outcome_offsets = <const int64_t*> self.keep(outcome_offsets, np.int64)
        d.group_offsets = <const int64_t*> self.keep(groups, np.int64)
        d.latent = <const int32_t*> self.keep(events.latent, np.int32)
        d.rows = <const int32_t*> self.keep(events.rows, np.int32)
        d.choices = <const int32_t*> self.keep(events.choices, np.int32)
        d.position_of = <const int32_t*> self.keep(positions, np.int32)
        d.group_choices = <const int32_t*> self.keep(grouped, np.int32)
        d.masks = <const uint8_t*> self.keep(events.masks, np.uint8)

    cdef const void* keep(self, array, number):
        """Keep an array as contiguous numbers of one type; their pointer, NULL if there are none."""
        cdef const uint8_t[::1] flat = np.ascontiguousarray(array, dtype=number).reshape(-1).view(np.uint8)
        self.arrays.append(flat)
        return &flat[0] if flat.shape[0] else NULL


cdef class Pass:
    """A pass over sequences, in pieces; see above.

    plan (Plan): n positions, n_choices decisions, n_outcomes outcomes of them.
    arrays (dict): contiguous arrays of one precision, by name. The rows of all are padded with zeros to `width`:
        bias (width,), latent_weights (n_latent, n_states, width), decision_weights (n_inputs, width), outcome_weights
        (., width), outcome_bias (.,): the parameters; transposed: latent_weights with the last two axes exchanged.
        means (n, width): what is found; passed (n, width): the same array, or, with keep (n, width), another.
        distributions (n_outcomes,): of the choices; of mean fields also before (n_choices, width), and of "mean-field"
        settled (n_outcomes,). log_probabilities (float64, (n_choices,)).
        To go backwards: pulls (n_choices, width), asked, gradients (n, width), by_bias, by_latent_weights ... of the
        shapes of the parameters, to which the gradients are added; of mean fields also turns (n_outcomes,).
    approximation (str), n_states (int).
    """

    cdef readonly Plan plan
    cdef readonly dict arrays
    cdef Arrays[float] single
    cdef Arrays[double] exact
    cdef bint is_single

    def __init__(self, Plan plan, dict arrays, str approximation, int n_states):
        self.plan, self.arrays = plan, arrays
        self.is_single = arrays["bias"].dtype == np.float32
        if self.is_single:
            _point[float](self.single, arrays, CODES[approximation], n_states)
        else:
            _point[double](self.exact, arrays, CODES[approximation], n_states)

    def run(self, str name, int64_t first, int64_t stride):
        """Do the pieces first, first + stride, ... of a round: "forward", "decide", "backward" or "collect"."""
        cdef Round round = ROUNDS[name]
        with nogil:
            if self.is_single:
                run_of(self.single, self.plan.decisions, round, first, stride)
            else:
                run_of(self.exact, self.plan.decisions, round, first, stride)


cdef _point(Arrays[Real]& a, dict arrays, int approximation, int n_states):
    """Let the pointers point to the arrays."""
    cdef double[::1] log_probabilities = arrays["log_probabilities"]
    a.n_states, a.approximation, a.n_latent = n_states, approximation, arrays["latent_weights"].shape[0]
    a.log_probabilities = &log_probabilities[0] if log_probabilities.shape[0] else NULL
    a.bias = _address[Real](arrays, "bias", NULL)
    a.latent = _address[Real](arrays, "latent_weights", NULL)
    a.inputs = _address[Real](arrays, "decision_weights", NULL)
    a.outcomes = _address[Real](arrays, "outcome_weights", NULL)
    a.outcome_bias = _address[Real](arrays, "outcome_bias", NULL)
    a.transposed = _address[Real](arrays, "transposed", NULL)
    a.keep = _address[Real](arrays, "keep", NULL)
    a.means = _address[Real](arrays, "means", NULL)
    a.passed = _address[Real](arrays, "passed", NULL)
    a.before = _address[Real](arrays, "before", NULL)
    a.distributions = _address[Real](arrays, "distributions", NULL)
    a.settled = _address[Real](arrays, "settled", NULL)
    a.turns = _address[Real](arrays, "turns", NULL)
    a.pulls = _address[Real](arrays, "pulls", NULL)
    a.asked = _address[Real](arrays, "asked", NULL)
    a.gradients = _address[Real](arrays, "gradients", NULL)
    a.by_bias = _address[Real](arrays, "by_bias", NULL)
    a.by_latent = _address[Real](arrays, "by_latent_weights", NULL)
    a.by_inputs = _address[Real](arrays, "by_decision_weights", NULL)
    a.by_outcomes = _address[Real](arrays, "by_outcome_weights", NULL)
    a.by_outcome_bias = _address[Real](arrays, "by_outcome_bias", NULL)


cdef Real* _address(dict arrays, str name, Real* none):
    """Where an array begins; none if there is none, or nothing in it."""
    if name not in arrays or not arrays[name].size:
        return none
    cdef const Real[::1] flat = arrays[name].reshape(-1)  # those of a saved network may not be written
    return <Real*> &flat[0]


def settled(Real[::1] theta, Real[:, ::1] weights, Real[::1] biases, int chosen):
    """The natural parameters of the mean field after a decision, (n_states,); see `mean_field.h`.

    theta (n_states,): before it. weights (n_outcomes, n_states), biases (n_outcomes,): of its outcomes, all allowed.
    chosen (int): the outcome.
    """
    cdef int n_states = theta.shape[0], n_outcomes = biases.shape[0]
    vectors = np.zeros((2 + n_outcomes, padded(n_states)), dtype=np.asarray(theta).dtype)
    vectors[0, :n_states], vectors[2:, :n_states] = theta, weights
    distribution = np.zeros((2, n_outcomes), dtype=vectors.dtype)
    cdef Real[:, ::1] padded_ = vectors
    cdef Real[:, ::1] q = distribution
    cdef Workspace[Real] workspace
    cdef Choice[Real] choice
    choice.weights, choice.biases = &padded_[2, 0], &biases[0]
    choice.allowed = NULL
    choice.n_outcomes, choice.n_states = n_outcomes, n_states
    sigmoid(&padded_[1, 0], &padded_[0, 0], n_states)
    softmax(&q[0, 0], &q[1, 0], &padded_[1, 0], choice)
    settle(&padded_[0, 0], &padded_[1, 0], &q[0, 0], &q[1, 0], choice, chosen, workspace.exact, workspace)
    return vectors[0, :n_states].copy()
