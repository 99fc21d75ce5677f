/* What a sigmoid belief network computes at a position: products, softmaxes, and what a decision does to the means of
   the latent units (Henderson and Titov 2010, section 5). Real is float or double; every function is there for both.

   int padded(n_states)                      units rounded up to whole blocks of LANES

   A vector has padded(n_states) numbers, of a matrix [n_rows, n_states] each row so many; those after n_states are 0 in
   all that comes in, and in all that goes out. theta are the natural parameters (logits) of the means.

   void add_products(targets, matrix, sources, n_pairs, n_rows, n_states)
                                             targets[p][i] += sum_j matrix[i, j] * sources[p][j], i < n_rows; several
                                             pairs at a time cost much less than one by one
   void add_inputs(theta, table, rows, n_rows, n_states)
                                             theta[i] += sum_r table[rows[r], i]
   void add_outer_products(sums, coefficients, vectors, n_pairs, n_rows, n_states)
                                             sums[d, i] += sum_p coefficients[p][d] * vectors[p][i]
   void average(sum, weights, matrix, n_rows, n_states)
                                             sum[i] = sum_d weights[d] * matrix[d, i]
   void add_averages(sums, weights, matrix, n_pairs, n_rows, n_states)
                                             sums[p][i] += sum_d weights[p][d] * matrix[d, i]
   void add_to_rows(table, rows, vector, n_rows, n_states)
                                             table[rows[r], i] += vector[i]
   void sigmoid(means, theta, n_states)

   struct Choice<Real> {weights, biases, allowed, n_outcomes, n_states}
                                             one decision: a range of rows of the output table, its biases, and bytes
                                             that say which are allowed (at least one), or NULL for all
   Real softmax(logits, probabilities, means, choice)
                                             both of n_outcomes; returns the logarithm of the normaliser, so that
                                             log P(d) = logits[d] - what it returns; logits of what is not allowed: -inf
   Real normalise(logits, probabilities, choice)
                                             the same where logits has them already (but for `allowed`); both may be
                                             one array

   What a decision does to theta, when q are the probabilities under the means of theta (feed-forward: nothing):
   void step(theta, q, choice, chosen, workspace)
                                             "mean-field-step": one natural gradient step, theta += W[chosen] - sum q W
   int settle(theta, means, logits, q, choice, chosen, tolerance, workspace)
                                             "mean-field": the maximum of L below, from theta and q of before; theta,
                                             means, logits and q are then those after; returns the Newton steps.
                                             tolerance is on the greatest |dL / dmean|: workspace.exact in learning,
                                             0.1 will do for decoding

   And the adjoints (gradients by theta and W, given those by what came out):
   void choose_adjoint(g, means, q, choice, chosen, workspace)
                                             g += d log q[chosen] / d theta
   void step_adjoint(g, turns, means, q, choice, workspace)
                                             g is by the theta after, and then by the theta before; turns[d] as below
   void settle_adjoint(g, turns, means, q, choice, workspace)
                                             means and q are those after; g is by the theta after, then lambda, which is
                                             the gradient by the theta before but for what comes by q of before
   In both dL/dW[d] += lambda * (1[d = chosen] - q[d]) + turns[d] * means, and dL/dbias[d] += turns[d], lambda being the
   g that came into step_adjoint, or that came out of settle_adjoint.

   struct Workspace<Real>                    room that grows as needed; one a thread

   Incremental mean field, in natural parameters: with b = theta + W[chosen] the new means maximise the concave
       L(mu) = entropy(mu) + mu b - log sum_d exp(W[d] mu + bias[d])
   (equations 13 to 15 of the paper), so that dL/dmu = b - theta - sum_d q[d] W[d] = -G. Newton's method finds the root
   of G in theta, whose Jacobian is I + C M, with M = diag(mu (1 - mu)) and C the covariance of the rows of W under q.
   It is I + S C S up to similarity (S = sqrt M), whose eigenvalues are 1 or more and mostly near 1, so that a few
   conjugate gradients without any matrix solve it. A step that does not shrink |G| is halved: |G| has no other
   stationary point than the root, which is the maximum. */

#ifndef SPACY_LPCFG_MEAN_FIELD_H
#define SPACY_LPCFG_MEAN_FIELD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cmath>
#include <vector>

#include "lanes.h"

namespace isbn {

template <typename Real> struct Precision;
template <> struct Precision<float> {
    typedef Lanes Block;
    static constexpr float residual = 1e-3f;  /* of G, in learning */
    static constexpr float forcing = 0.03f;   /* of the conjugate gradients in a Newton step */
    static constexpr float adjoint = 1e-3f;   /* of those of the adjoint */
    static constexpr float negligible = 1e-7f; /* probabilities below it are left out of covariances */
};
template <> struct Precision<double> {
    typedef DoubleLanes Block;
    static constexpr double residual = 1e-11;
    static constexpr double forcing = 1e-4;
    static constexpr double adjoint = 1e-12;
    static constexpr double negligible = 1e-16;
};

template <typename Real> struct Choice {
    const Real *weights;    /* (n_outcomes, padded(n_states)) */
    const Real *biases;     /* (n_outcomes,) */
    const uint8_t *allowed; /* (n_outcomes,) or NULL */
    int n_outcomes, n_states;
};

INLINED int padded(int n_states) { return (n_states + LANES - 1) / LANES * LANES; }

/* Vectors of one thread, by number, and the outcomes that count at the moment. */
template <typename Real> struct Workspace {
    std::vector<Real> room;
    std::vector<int32_t> active;
    int width = 0;
    Real exact = Precision<Real>::residual; /* the tolerance of `settle` in learning */
    /* of `settle`; where its tolerance is greater these may be so too, since it sees to what they leave undone */
    Real forcing = Precision<Real>::forcing, negligible = Precision<Real>::negligible;

    void fit(const Choice<Real> &choice) {
        width = padded(choice.n_states);
        if (room.size() < (size_t)width * 12) room.resize((size_t)width * 12);
        if (active.size() < (size_t)choice.n_outcomes) active.resize(choice.n_outcomes);
    }
    Real *row(int number) { return room.data() + (size_t)width * number; }
};

/* Elementary functions */

/* All functions of floats below take e ** x to 2 units in the last place; 1.2e-38 for any x below -87.3.
   1.5 * 2 ** 23 added to a number leaves its nearest integer in the lowest bits. */
#if defined(__GNUC__)
typedef int32_t IntegerLanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

INLINED void exponentiate(Lanes &x) {
    const Lanes least = Lanes{} - 87.3f, most = Lanes{} + 88.3f;
    x = x > least ? x : least;
    x = x < most ? x : most;
    const Lanes shifted = x * 1.44269504f + 12582912.0f;
    const Lanes exponent = shifted - 12582912.0f;
    const Lanes rest = (x - exponent * 0.693359375f) + exponent * 2.12194440e-4f;
    Lanes power = 1.9875691500e-4f * rest + 1.3981999507e-3f;
    power = power * rest + 8.3334519073e-3f;
    power = power * rest + 4.1665795894e-2f;
    power = power * rest + 1.6666665459e-1f;
    power = power * rest + 5.0000001201e-1f;
    power = power * rest * rest + rest + 1.0f;
    x = (Lanes)((IntegerLanes)power + ((IntegerLanes)shifted << 23));
}
#else
INLINED void exponentiate(Lanes &x) {
    for (int l = 0; l < LANES; ++l) x.x[l] = expf(x.x[l] > -87.3f ? x.x[l] : -87.3f);
}
#endif

/* x[i] = e ** x[i] */
INLINED void exponentiate(float *x, int n) {
    int i = 0;
    for (; i + LANES <= n; i += LANES) exponentiate(lanes(x + i));
    if (i == n) return;
    float rest[LANES] = {0};
    memcpy(rest, x + i, (n - i) * sizeof(float));
    exponentiate(lanes(rest));
    memcpy(x + i, rest, (n - i) * sizeof(float));
}
INLINED void exponentiate(double *x, int n) {
    for (int i = 0; i < n; ++i) x[i] = std::exp(x[i]);
}

template <typename Real> INLINED void sigmoid_of(Real *means, const Real *theta, int n_states) {
    for (int i = 0; i < n_states; ++i) means[i] = -theta[i];
    exponentiate(means, n_states);
    for (int i = 0; i < n_states; ++i) means[i] = 1 / (1 + means[i]);
    for (int i = n_states; i < padded(n_states); ++i) means[i] = 0;
}

template <typename Real> INLINED Real dot(const Real *x, const Real *y, int width) {
    typename Precision<Real>::Block sum = {};
    for (int c = 0; c < width; c += LANES) sum += lanes(x + c) * lanes(y + c);
    return sum_of(sum);
}

template <typename Real> INLINED void copy(Real *to, const Real *from, int width) {
    memcpy(to, from, width * sizeof(Real));
}

template <typename Real> INLINED Real greatest(const Real *x, int width) {
    Real most = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < width; ++i) most = std::abs(x[i]) > most ? std::abs(x[i]) : most;
    return most;
}

/* Products */

/* As add_products, of N_ROWS rows and N_PAIRS pairs, as many as the compiler knows of */
template <int N_ROWS, int N_PAIRS, typename Real>
INLINED void add_tile(Real *const *targets, const Real *matrix, const Real *const *sources, int row, int width) {
    typename Precision<Real>::Block sums[N_ROWS][N_PAIRS] = {};
    matrix += (size_t)row * width;
    for (int c = 0; c < width; c += LANES)
        for (int r = 0; r < N_ROWS; ++r)
            for (int p = 0; p < N_PAIRS; ++p)
                sums[r][p] += lanes(matrix + (size_t)r * width + c) * lanes(sources[p] + c);
    for (int r = 0; r < N_ROWS; ++r)
        for (int p = 0; p < N_PAIRS; ++p) targets[p][row + r] += sum_of(sums[r][p]);
}

template <int N_ROWS, int N_PAIRS, typename Real>
INLINED void add_pairs(Real *const *targets, const Real *matrix, const Real *const *sources, int n_rows, int width) {
    int row = 0;
    for (; row + N_ROWS <= n_rows; row += N_ROWS)
        add_tile<N_ROWS, N_PAIRS>(targets, matrix, sources, row, width);
    for (; row < n_rows; ++row) add_tile<1, N_PAIRS>(targets, matrix, sources, row, width);
}

template <typename Real>
INLINED void add_products_of(Real *const *targets, const Real *matrix, const Real *const *sources, int n_pairs,
                             int n_rows, int n_states) {
    const int width = padded(n_states);
    for (; n_pairs >= 4; n_pairs -= 4, targets += 4, sources += 4)
        add_pairs<3, 4>(targets, matrix, sources, n_rows, width);
    if (n_pairs == 3) add_pairs<2, 3>(targets, matrix, sources, n_rows, width);
    if (n_pairs == 2) add_pairs<4, 2>(targets, matrix, sources, n_rows, width);
    if (n_pairs == 1) add_pairs<4, 1>(targets, matrix, sources, n_rows, width);
}

/* sum += sum_d weights[d] * rows[d] of n_rows rows, as many as the compiler knows of */
template <int N_ROWS, typename Real>
INLINED void add_mixed(Real *sum, const Real *weights, const Real *rows, int width) {
    for (int c = 0; c < width; c += LANES) {
        typename Precision<Real>::Block block = lanes(sum + c);
        for (int d = 0; d < N_ROWS; ++d) block += weights[d] * lanes(rows + (size_t)d * width + c);
        lanes(sum + c) = block;
    }
}

/* sum = sum_d weights[d] * rows[d] */
template <typename Real>
INLINED void mix(Real *sum, const Real *weights, const Real *rows, int n_rows, int width) {
    int d = 0;
    memset(sum, 0, width * sizeof(Real));
    for (; d + 8 <= n_rows; d += 8) add_mixed<8>(sum, weights + d, rows + (size_t)d * width, width);
    for (; d < n_rows; ++d) add_mixed<1>(sum, weights + d, rows + (size_t)d * width, width);
}

/* As add_averages, of n_rows rows for N_PAIRS pairs and N_BLOCKS blocks from column c on, as many as the compiler knows
   of */
template <int N_PAIRS, int N_BLOCKS, typename Real>
INLINED void add_averages_tile(Real *const *sums, const Real *const *weights, const Real *matrix, int row, int n_rows,
                               int c, int width) {
    typename Precision<Real>::Block tile[N_PAIRS][N_BLOCKS];
    for (int p = 0; p < N_PAIRS; ++p)
        for (int k = 0; k < N_BLOCKS; ++k) tile[p][k] = lanes(sums[p] + c + k * LANES);
    for (int d = row; d < row + n_rows; ++d)
        for (int p = 0; p < N_PAIRS; ++p)
            for (int k = 0; k < N_BLOCKS; ++k)
                tile[p][k] += weights[p][d] * lanes(matrix + (size_t)d * width + c + k * LANES);
    for (int p = 0; p < N_PAIRS; ++p)
        for (int k = 0; k < N_BLOCKS; ++k) lanes(sums[p] + c + k * LANES) = tile[p][k];
}

/* As add_averages, of n_rows rows for N_PAIRS pairs, N_BLOCKS blocks at a time */
template <int N_PAIRS, int N_BLOCKS, typename Real>
INLINED void add_averages_rows(Real *const *sums, const Real *const *weights, const Real *matrix, int row, int n_rows,
                               int width) {
    int c = 0;
    for (; c + N_BLOCKS * LANES <= width; c += N_BLOCKS * LANES)
        add_averages_tile<N_PAIRS, N_BLOCKS>(sums, weights, matrix, row, n_rows, c, width);
    for (; c < width; c += LANES) add_averages_tile<N_PAIRS, 1>(sums, weights, matrix, row, n_rows, c, width);
}

template <typename Real>
SIMD_CLONES static void add_averages(Real *const *sums, const Real *const *weights, const Real *matrix, int n_pairs,
                                     int n_rows, int n_states) {
    const int width = padded(n_states), most = 32; /* rows that the innermost cache holds */
    for (int row = 0; row < n_rows; row += most) {
        const int n = n_rows - row < most ? n_rows - row : most;
        int p = 0;
        for (; p + 4 <= n_pairs; p += 4) add_averages_rows<4, 3>(sums + p, weights + p, matrix, row, n, width);
        for (; p + 2 <= n_pairs; p += 2) add_averages_rows<2, 5>(sums + p, weights + p, matrix, row, n, width);
        if (p < n_pairs) add_averages_rows<1, 8>(sums + p, weights + p, matrix, row, n, width);
    }
}

/* Outer products of n_pairs pairs, added to N_ROWS rows from `row` on and N_BLOCKS blocks from column c on, as many as
   the compiler knows of */
template <int N_ROWS, int N_BLOCKS, typename Real>
INLINED void add_outer_tile(Real *sums, const Real *const *coefficients, const Real *const *vectors, int n_pairs,
                            int row, int c, int width) {
    typename Precision<Real>::Block tile[N_ROWS][N_BLOCKS];
    sums += (size_t)row * width + c;
    for (int r = 0; r < N_ROWS; ++r)
        for (int k = 0; k < N_BLOCKS; ++k) tile[r][k] = lanes(sums + (size_t)r * width + k * LANES);
    for (int p = 0; p < n_pairs; ++p)
        for (int r = 0; r < N_ROWS; ++r)
            for (int k = 0; k < N_BLOCKS; ++k)
                tile[r][k] += coefficients[p][row + r] * lanes(vectors[p] + c + k * LANES);
    for (int r = 0; r < N_ROWS; ++r)
        for (int k = 0; k < N_BLOCKS; ++k) lanes(sums + (size_t)r * width + k * LANES) = tile[r][k];
}

template <int N_BLOCKS, typename Real>
INLINED void add_outer_columns(Real *sums, const Real *const *coefficients, const Real *const *vectors, int n_pairs,
                               int n_rows, int c, int width) {
    int row = 0;
    for (; row + 4 <= n_rows; row += 4)
        add_outer_tile<4, N_BLOCKS>(sums, coefficients, vectors, n_pairs, row, c, width);
    for (; row < n_rows; ++row) add_outer_tile<1, N_BLOCKS>(sums, coefficients, vectors, n_pairs, row, c, width);
}

template <typename Real>
SIMD_CLONES static void add_outer_products(Real *sums, const Real *const *coefficients, const Real *const *vectors,
                                           int n_pairs, int n_rows, int n_states) {
    const int width = padded(n_states), most = 64; /* pairs whose columns the innermost cache holds */
    for (int first = 0; first < n_pairs; first += most) {
        const int n = n_pairs - first < most ? n_pairs - first : most;
        int c = 0;
        for (; c + 3 * LANES <= width; c += 3 * LANES)
            add_outer_columns<3>(sums, coefficients + first, vectors + first, n, n_rows, c, width);
        for (; c < width; c += LANES)
            add_outer_columns<1>(sums, coefficients + first, vectors + first, n, n_rows, c, width);
    }
}

template <typename Real>
SIMD_CLONES static void add_inputs(Real *theta, const Real *table, const int32_t *rows, int n_rows, int n_states) {
    const int width = padded(n_states);
    for (int r = 0; r < n_rows; ++r)
        for (int c = 0; c < width; c += LANES) lanes(theta + c) += lanes(table + (size_t)rows[r] * width + c);
}

template <typename Real>
SIMD_CLONES static void add_to_rows(Real *table, const int32_t *rows, const Real *vector, int n_rows, int n_states) {
    const int width = padded(n_states);
    for (int r = 0; r < n_rows; ++r)
        for (int c = 0; c < width; c += LANES) lanes(table + (size_t)rows[r] * width + c) += lanes(vector + c);
}

/* Softmax */

template <typename Real>
INLINED Real normalise_of(Real *logits, Real *probabilities, const Choice<Real> &choice) {
    const int n = choice.n_outcomes;
    Real most = -INFINITY, total = 0;
    if (choice.allowed)
        for (int d = 0; d < n; ++d)
            if (!choice.allowed[d]) logits[d] = -INFINITY;
#pragma omp simd reduction(max : most)
    for (int d = 0; d < n; ++d) most = logits[d] > most ? logits[d] : most;
#pragma omp simd
    for (int d = 0; d < n; ++d) probabilities[d] = logits[d] - most;
    exponentiate(probabilities, n);
    if (choice.allowed)
        for (int d = 0; d < n; ++d)
            if (!choice.allowed[d]) probabilities[d] = 0;
#pragma omp simd reduction(+ : total)
    for (int d = 0; d < n; ++d) total += probabilities[d];
    const Real scale = 1 / total;
#pragma omp simd
    for (int d = 0; d < n; ++d) probabilities[d] *= scale;
    return most + std::log(total);
}

template <typename Real>
INLINED Real softmax_of(Real *logits, Real *probabilities, const Real *means, const Choice<Real> &choice) {
    copy(logits, choice.biases, choice.n_outcomes);
    add_products_of(&logits, choice.weights, &means, 1, choice.n_outcomes, choice.n_states);
    return normalise_of(logits, probabilities, choice);
}

/* The covariance C of the rows of W under q */

template <typename Real> struct Covariance {
    const Real *weights, *q, *average; /* average = sum_d q[d] W[d] */
    const int32_t *active;             /* the rows that are not negligible */
    int n_active, width;
};

template <typename Real>
INLINED Covariance<Real> covariance_of(const Real *q, const Real *average, const Choice<Real> &choice,
                                       Workspace<Real> &workspace) {
    int n_active = 0;
    for (int d = 0; d < choice.n_outcomes; ++d)
        if (q[d] >= workspace.negligible) workspace.active[n_active++] = d;
    return {choice.weights, q, average, workspace.active.data(), n_active, workspace.width};
}

/* product += sum of q[d] W[d] (W[d] x) over n_rows rows of which the compiler knows the number */
template <int N_ROWS, typename Real>
INLINED void add_active_rows(Real *product, const Covariance<Real> &covariance, int first, const Real *x) {
    typename Precision<Real>::Block sums[N_ROWS] = {};
    const Real *rows[N_ROWS];
    Real weights[N_ROWS];
    for (int r = 0; r < N_ROWS; ++r)
        rows[r] = covariance.weights + (size_t)covariance.active[first + r] * covariance.width;
    for (int c = 0; c < covariance.width; c += LANES)
        for (int r = 0; r < N_ROWS; ++r) sums[r] += lanes(rows[r] + c) * lanes(x + c);
    for (int r = 0; r < N_ROWS; ++r) weights[r] = covariance.q[covariance.active[first + r]] * sum_of(sums[r]);
    for (int c = 0; c < covariance.width; c += LANES) {
        typename Precision<Real>::Block sum = lanes(product + c);
        for (int r = 0; r < N_ROWS; ++r) sum += weights[r] * lanes(rows[r] + c);
        lanes(product + c) = sum;
    }
}

/* product = C x */
template <typename Real> INLINED void covary(Real *product, const Covariance<Real> &covariance, const Real *x) {
    const Real share = dot(covariance.average, x, covariance.width);
    int row = 0;
    for (int i = 0; i < covariance.width; ++i) product[i] = -share * covariance.average[i];
    for (; row + 4 <= covariance.n_active; row += 4) add_active_rows<4>(product, covariance, row, x);
    for (; row < covariance.n_active; ++row) add_active_rows<1>(product, covariance, row, x);
}

/* The solution of (I + S C S) solution = residual, from 0, by conjugate gradients until the residual, which is lost, has
   shrunk to `share` of what it was; image = C S solution */
template <typename Real>
INLINED void solve(Real *solution, Real *image, Real *residual, const Covariance<Real> &covariance, const Real *scales,
                   Real share, Workspace<Real> &workspace) {
    const int width = covariance.width;
    Real *direction = workspace.row(0), *scaled = workspace.row(1), *product = workspace.row(2);
    Real left = dot(residual, residual, width);
    const Real goal = left * share * share;
    memset(solution, 0, width * sizeof(Real));
    memset(image, 0, width * sizeof(Real));
    copy(direction, residual, width);
    for (int iteration = 0; iteration < 2 * width && left > goal; ++iteration) {
        for (int i = 0; i < width; ++i) scaled[i] = scales[i] * direction[i];
        covary(product, covariance, scaled);
        const Real length = left / (dot(direction, direction, width) + dot(scaled, product, width));
        for (int i = 0; i < width; ++i) solution[i] += length * direction[i];
        for (int i = 0; i < width; ++i) image[i] += length * product[i];
        for (int i = 0; i < width; ++i) residual[i] -= length * (direction[i] + scales[i] * product[i]);
        const Real now = dot(residual, residual, width);
        for (int i = 0; i < width; ++i) direction[i] = residual[i] + now / left * direction[i];
        left = now;
    }
}

template <typename Real> INLINED void scales_of(Real *scales, const Real *means, int width) {
#pragma omp simd
    for (int i = 0; i < width; ++i) scales[i] = std::sqrt(means[i] * (1 - means[i]));
}

/* What a decision does to theta */

template <typename Real>
SIMD_CLONES static void step(Real *theta, const Real *q, const Choice<Real> &choice, int chosen,
                             Workspace<Real> &workspace) {
    workspace.fit(choice);
    Real *average = workspace.row(0);
    const Real *own = choice.weights + (size_t)chosen * workspace.width;
    mix(average, q, choice.weights, choice.n_outcomes, workspace.width);
    for (int i = 0; i < workspace.width; ++i) theta[i] += own[i] - average[i];
}

/* G at theta, with means, logits, q and average = sum q W of it */
template <typename Real>
INLINED void look(Real *gradient, Real *average, const Real *theta, const Real *prior, Real *means, Real *logits,
                  Real *q, const Choice<Real> &choice) {
    const int width = padded(choice.n_states);
    sigmoid_of(means, theta, choice.n_states);
    softmax_of(logits, q, means, choice);
    mix(average, q, choice.weights, choice.n_outcomes, width);
    for (int i = 0; i < width; ++i) gradient[i] = theta[i] - prior[i] + average[i];
}

/* The direction of a Newton step: -G - C S u, where (I + S C S) u = -S G */
template <typename Real>
INLINED void newton(Real *direction, const Real *gradient, const Real *average, const Real *means, const Real *q,
                    const Choice<Real> &choice, Real forcing, Workspace<Real> &workspace) {
    const int width = workspace.width;
    Real *scales = workspace.row(3), *solution = workspace.row(4), *residual = workspace.row(5);
    const Covariance<Real> covariance = covariance_of(q, average, choice, workspace);
    scales_of(scales, means, width);
    for (int i = 0; i < width; ++i) residual[i] = -scales[i] * gradient[i];
    solve(solution, direction, residual, covariance, scales, forcing, workspace);
    for (int i = 0; i < width; ++i) direction[i] = -gradient[i] - direction[i];
}

template <typename Real>
SIMD_CLONES static int settle(Real *theta, Real *means, Real *logits, Real *q, const Choice<Real> &choice, int chosen,
                              Real tolerance, Workspace<Real> &workspace) {
    const int max_steps = 50, max_halvings = 16;
    workspace.fit(choice);
    const int width = workspace.width;
    Real *prior = workspace.row(6), *average = workspace.row(7), *gradient = workspace.row(8);
    Real *direction = workspace.row(9), *start = workspace.row(10), forcing = workspace.forcing;
    const Real *own = choice.weights + (size_t)chosen * width;
    int n_steps = 0;
    mix(average, q, choice.weights, choice.n_outcomes, width);
    for (int i = 0; i < width; ++i) prior[i] = theta[i] + own[i];
    for (int i = 0; i < width; ++i) gradient[i] = average[i] - own[i];
    while (n_steps < max_steps && greatest(gradient, width) > tolerance) {
        const Real norm = dot(gradient, gradient, width);
        Real length = 1;
        bool shrank = false;
        newton(direction, gradient, average, means, q, choice, forcing, workspace);
        copy(start, theta, width);
        for (int halving = 0; halving < max_halvings && !shrank; ++halving, length /= 2) {
            for (int i = 0; i < width; ++i) theta[i] = start[i] + length * direction[i];
            look(gradient, average, theta, prior, means, logits, q, choice);
            shrank = dot(gradient, gradient, width) < (1 - (Real)1e-4 * length) * norm;
        }
        ++n_steps;
        if (shrank) continue;
        copy(theta, start, width); /* the direction was not good enough, or this is all that the precision allows */
        look(gradient, average, theta, prior, means, logits, q, choice);
        forcing *= (Real)0.01;
        if (forcing < Precision<Real>::negligible) break;
    }
    return n_steps;
}

/* Adjoints */

/* sum_d q[d] W[d], which is left in row 7 of the workspace */
template <typename Real> INLINED Real *average_of(const Real *q, const Choice<Real> &choice, Workspace<Real> &workspace) {
    workspace.fit(choice);
    mix(workspace.row(7), q, choice.weights, choice.n_outcomes, workspace.width);
    return workspace.row(7);
}

template <typename Real>
SIMD_CLONES static void choose_adjoint(Real *g, const Real *means, const Real *q, const Choice<Real> &choice,
                                       int chosen, Workspace<Real> &workspace) {
    const Real *average = average_of(q, choice, workspace);
    const Real *own = choice.weights + (size_t)chosen * workspace.width;
    for (int i = 0; i < workspace.width; ++i) g[i] += means[i] * (1 - means[i]) * (own[i] - average[i]);
}

/* turns[d] = -q[d] (W[d] - average) lambda */
template <typename Real>
INLINED void turns_of(Real *turns, const Real *lambda, const Real *average, const Real *q, const Choice<Real> &choice) {
    const Real share = dot(average, lambda, padded(choice.n_states));
    memset(turns, 0, choice.n_outcomes * sizeof(Real));
    add_products_of(&turns, choice.weights, &lambda, 1, choice.n_outcomes, choice.n_states);
#pragma omp simd
    for (int d = 0; d < choice.n_outcomes; ++d) turns[d] = -q[d] * (turns[d] - share);
}

template <typename Real>
SIMD_CLONES static void step_adjoint(Real *g, Real *turns, const Real *means, const Real *q,
                                     const Choice<Real> &choice, Workspace<Real> &workspace) {
    const Real *average = average_of(q, choice, workspace);
    Real *pull = workspace.row(0);
    turns_of(turns, g, average, q, choice);
    mix(pull, turns, choice.weights, choice.n_outcomes, workspace.width); /* -C g, as turns sum to 0 */
    for (int i = 0; i < workspace.width; ++i) g[i] += means[i] * (1 - means[i]) * pull[i];
}

/* lambda = (I + M C)^-1 g = g - S (I + S C S)^-1 S C g */
template <typename Real>
SIMD_CLONES static void settle_adjoint(Real *g, Real *turns, const Real *means, const Real *q,
                                       const Choice<Real> &choice, Workspace<Real> &workspace) {
    const Real *average = average_of(q, choice, workspace);
    const int width = workspace.width;
    Real *scales = workspace.row(3), *solution = workspace.row(4), *residual = workspace.row(5);
    Real *image = workspace.row(6);
    const Covariance<Real> covariance = covariance_of(q, average, choice, workspace);
    scales_of(scales, means, width);
    covary(residual, covariance, g);
    for (int i = 0; i < width; ++i) residual[i] *= scales[i];
    solve(solution, image, residual, covariance, scales, Precision<Real>::adjoint, workspace);
    for (int i = 0; i < width; ++i) g[i] -= scales[i] * solution[i];
    turns_of(turns, g, average, q, choice);
}

/* For all instruction sets */

template <typename Real>
SIMD_CLONES static void add_products(Real *const *targets, const Real *matrix, const Real *const *sources, int n_pairs,
                                     int n_rows, int n_states) {
    add_products_of(targets, matrix, sources, n_pairs, n_rows, n_states);
}

template <typename Real>
SIMD_CLONES static void average(Real *sum, const Real *weights, const Real *matrix, int n_rows, int n_states) {
    mix(sum, weights, matrix, n_rows, padded(n_states));
}

template <typename Real> SIMD_CLONES static void sigmoid(Real *means, const Real *theta, int n_states) {
    sigmoid_of(means, theta, n_states);
}

template <typename Real> SIMD_CLONES static Real normalise(Real *logits, Real *q, const Choice<Real> &choice) {
    return normalise_of(logits, q, choice);
}

template <typename Real>
SIMD_CLONES static Real softmax(Real *logits, Real *q, const Real *means, const Choice<Real> &choice) {
    return softmax_of(logits, q, means, choice);
}

} /* namespace isbn */

#endif
