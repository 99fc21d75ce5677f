/* What a sigmoid belief network computes at a position: products, softmaxes, and what a decision does to the means of
   the latent units (Henderson and Titov 2010, section 5).

   A vector has padded(n_states) floats, of a matrix [n_rows, n_states] each row so many; those after n_states are 0 in
   all that comes in, and in all that goes out. theta are the natural parameters (logits) of the means, and q the
   probabilities of the outcomes of a decision.

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

const float EXACT = 1e-3f;      /* the tolerance of `settle` in learning */
const float FORCING = 0.03f;    /* of the conjugate gradients in a Newton step */
const float ADJOINT = 1e-3f;    /* of those of the adjoint */
const float NEGLIGIBLE = 1e-7f; /* probabilities below it are left out of covariances */

/* One decision: a range of rows of the output table, its biases, and which of them are allowed (at least one). */
struct Choice {
    const float *weights;   /* (n_outcomes, padded(n_states)) */
    const float *biases;    /* (n_outcomes,) */
    const uint8_t *allowed; /* (n_outcomes,), or NULL for all */
    int n_outcomes, n_states;
};

/* A number of units, rounded up to whole blocks of LANES */
INLINED int padded(int n_states) { return (n_states + LANES - 1) / LANES * LANES; }

/* Vectors of one thread, by number, and the outcomes that count at the moment. `fit` makes room for a choice; callers
   do it, since no exception passes through the clones below. */
struct Workspace {
    std::vector<float> room;
    std::vector<int32_t> active;
    int width = 0;
    /* of `settle`; where its tolerance is greater these may be so too, since it sees to what they leave undone */
    float forcing = FORCING, negligible = NEGLIGIBLE;

    void fit(const Choice &choice) {
        width = padded(choice.n_states);
        if (room.size() < (size_t)width * 12) room.resize((size_t)width * 12);
        if (active.size() < (size_t)choice.n_outcomes) active.resize(choice.n_outcomes);
    }
    float *row(int number) { return room.data() + (size_t)width * number; }
};

/* Elementary functions */

/* All functions below take e ** x to 2 units in the last place; 1.2e-38 for any x below -87.3.
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

/* The means of theta */
SIMD_CLONES static inline void sigmoid(float *means, const float *theta, int n_states) {
    for (int i = 0; i < n_states; ++i) means[i] = -theta[i];
    exponentiate(means, n_states);
    for (int i = 0; i < n_states; ++i) means[i] = 1 / (1 + means[i]);
    for (int i = n_states; i < padded(n_states); ++i) means[i] = 0;
}

INLINED float dot(const float *x, const float *y, int width) {
    Lanes sum = {};
    for (int c = 0; c < width; c += LANES) sum += lanes(x + c) * lanes(y + c);
    return sum_of(sum);
}

INLINED void copy(float *to, const float *from, int width) {
    memcpy(to, from, width * sizeof(float));
}

INLINED float greatest(const float *x, int width) {
    float most = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < width; ++i) most = std::abs(x[i]) > most ? std::abs(x[i]) : most;
    return most;
}

/* Products */

/* As add_products, of N_ROWS rows and N_PAIRS pairs, numbers that are known at compile time */
template <int N_ROWS, int N_PAIRS>
INLINED void add_tile(float *const *targets, const float *matrix, const float *const *sources, int row, int width) {
    Lanes sums[N_ROWS][N_PAIRS] = {};
    matrix += (size_t)row * width;
    for (int c = 0; c < width; c += LANES)
        for (int r = 0; r < N_ROWS; ++r)
            for (int p = 0; p < N_PAIRS; ++p)
                sums[r][p] += lanes(matrix + (size_t)r * width + c) * lanes(sources[p] + c);
    for (int r = 0; r < N_ROWS; ++r)
        for (int p = 0; p < N_PAIRS; ++p) targets[p][row + r] += sum_of(sums[r][p]);
}

template <int N_ROWS, int N_PAIRS>
INLINED void add_pairs(float *const *targets, const float *matrix, const float *const *sources, int n_rows, int width) {
    int row = 0;
    for (; row + N_ROWS <= n_rows; row += N_ROWS)
        add_tile<N_ROWS, N_PAIRS>(targets, matrix, sources, row, width);
    for (; row < n_rows; ++row) add_tile<1, N_PAIRS>(targets, matrix, sources, row, width);
}

/* targets[p][i] += sum_j matrix[i, j] * sources[p][j], i < n_rows; several pairs at a time cost much less than one by
   one */
SIMD_CLONES static inline void add_products(float *const *targets, const float *matrix, const float *const *sources,
                                            int n_pairs, int n_rows, int n_states) {
    const int width = padded(n_states);
    for (; n_pairs >= 4; n_pairs -= 4, targets += 4, sources += 4)
        add_pairs<3, 4>(targets, matrix, sources, n_rows, width);
    if (n_pairs == 3) add_pairs<2, 3>(targets, matrix, sources, n_rows, width);
    if (n_pairs == 2) add_pairs<4, 2>(targets, matrix, sources, n_rows, width);
    if (n_pairs == 1) add_pairs<4, 1>(targets, matrix, sources, n_rows, width);
}

/* As add_averages, of n_rows rows for N_PAIRS pairs and N_BLOCKS blocks from column c on, both known at compile time */
template <int N_PAIRS, int N_BLOCKS>
INLINED void add_averages_tile(float *const *sums, const float *const *weights, const float *matrix, int row,
                               int n_rows, int c, int width) {
    Lanes tile[N_PAIRS][N_BLOCKS];
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
template <int N_PAIRS, int N_BLOCKS>
INLINED void add_averages_rows(float *const *sums, const float *const *weights, const float *matrix, int row,
                               int n_rows, int width) {
    int c = 0;
    for (; c + N_BLOCKS * LANES <= width; c += N_BLOCKS * LANES)
        add_averages_tile<N_PAIRS, N_BLOCKS>(sums, weights, matrix, row, n_rows, c, width);
    for (; c < width; c += LANES) add_averages_tile<N_PAIRS, 1>(sums, weights, matrix, row, n_rows, c, width);
}

/* sums[p][i] += sum_d weights[p][d] * matrix[d, i] */
SIMD_CLONES static inline void add_averages(float *const *sums, const float *const *weights, const float *matrix,
                                            int n_pairs, int n_rows, int n_states) {
    const int width = padded(n_states), most = 32; /* rows that the innermost cache holds */
    for (int row = 0; row < n_rows; row += most) {
        const int n = n_rows - row < most ? n_rows - row : most;
        int p = 0;
        for (; p + 4 <= n_pairs; p += 4) add_averages_rows<4, 3>(sums + p, weights + p, matrix, row, n, width);
        for (; p + 2 <= n_pairs; p += 2) add_averages_rows<2, 5>(sums + p, weights + p, matrix, row, n, width);
        if (p < n_pairs) add_averages_rows<1, 8>(sums + p, weights + p, matrix, row, n, width);
    }
}

/* sum = sum_d weights[d] * matrix[d] */
SIMD_CLONES static inline void mix(float *sum, const float *weights, const float *matrix, int n_rows, int n_states) {
    memset(sum, 0, padded(n_states) * sizeof(float));
    add_averages(&sum, &weights, matrix, 1, n_rows, n_states);
}

/* Outer products of n_pairs pairs, added to N_ROWS rows from `row` on and N_BLOCKS blocks from column c on */
template <int N_ROWS, int N_BLOCKS>
INLINED void add_outer_tile(float *sums, const float *const *coefficients, const float *const *vectors, int n_pairs,
                            int row, int c, int width) {
    Lanes tile[N_ROWS][N_BLOCKS];
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

template <int N_BLOCKS>
INLINED void add_outer_columns(float *sums, const float *const *coefficients, const float *const *vectors, int n_pairs,
                               int n_rows, int c, int width) {
    int row = 0;
    for (; row + 4 <= n_rows; row += 4)
        add_outer_tile<4, N_BLOCKS>(sums, coefficients, vectors, n_pairs, row, c, width);
    for (; row < n_rows; ++row) add_outer_tile<1, N_BLOCKS>(sums, coefficients, vectors, n_pairs, row, c, width);
}

/* sums[d, i] += sum_p coefficients[p][d] * vectors[p][i] */
SIMD_CLONES static inline void add_outer_products(float *sums, const float *const *coefficients,
                                                  const float *const *vectors, int n_pairs, int n_rows,
                                                  int n_states) {
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

/* theta[i] += sum_r table[rows[r], i] */
SIMD_CLONES static inline void add_inputs(float *theta, const float *table, const int32_t *rows, int n_rows,
                                          int n_states) {
    const int width = padded(n_states);
    for (int r = 0; r < n_rows; ++r)
        for (int c = 0; c < width; c += LANES) lanes(theta + c) += lanes(table + (size_t)rows[r] * width + c);
}

/* table[rows[r], i] += vector[i] */
SIMD_CLONES static inline void add_to_rows(float *table, const int32_t *rows, const float *vector, int n_rows,
                                           int n_states) {
    const int width = padded(n_states);
    for (int r = 0; r < n_rows; ++r)
        for (int c = 0; c < width; c += LANES) lanes(table + (size_t)rows[r] * width + c) += lanes(vector + c);
}

/* Softmax */

/* logits[d] = e ** (logits[d] - the greatest); returns the greatest, and the sum of what they have become */
INLINED float exponentials(float *logits, int n, float &total) {
    float most = -INFINITY, sum = 0;
#pragma omp simd reduction(max : most)
    for (int d = 0; d < n; ++d) most = logits[d] > most ? logits[d] : most;
#pragma omp simd
    for (int d = 0; d < n; ++d) logits[d] -= most;
    exponentiate(logits, n);
#pragma omp simd reduction(+ : sum)
    for (int d = 0; d < n; ++d) sum += logits[d];
    total = sum;
    return most;
}

/* log sum_d exp(logits[d]); leaves in place of the logits what is proportional to their exponentials */
SIMD_CLONES static inline float log_sum_exp(float *logits, int n) {
    float total;
    const float most = exponentials(logits, n, total);
    return most + std::log(total);
}

/* The probabilities q of logits, which become -inf where they are not allowed; both may be one array. Returns the
   logarithm of the normaliser, so that log P(d) = logits[d] - what it returns. */
SIMD_CLONES static inline float normalise(float *logits, float *q, const Choice &choice) {
    const int n = choice.n_outcomes;
    float total;
    if (choice.allowed)
        for (int d = 0; d < n; ++d)
            if (!choice.allowed[d]) logits[d] = -INFINITY;
    if (q != logits) copy(q, logits, n);
    const float most = exponentials(q, n, total), scale = 1 / total;
#pragma omp simd
    for (int d = 0; d < n; ++d) q[d] *= scale;
    if (choice.allowed)
        for (int d = 0; d < n; ++d)
            if (!choice.allowed[d]) q[d] = 0;
    return most + std::log(total);
}

/* The logits of a decision by the means; then as `normalise` */
SIMD_CLONES static inline float softmax(float *logits, float *q, const float *means, const Choice &choice) {
    copy(logits, choice.biases, choice.n_outcomes);
    add_products(&logits, choice.weights, &means, 1, choice.n_outcomes, choice.n_states);
    return normalise(logits, q, choice);
}

/* logits[d] += scale * (weights[d] . means + biases[d]) of all outcomes; scratch: of as many floats */
SIMD_CLONES static inline void add_logits(float *logits, const float *means, float scale, const Choice &choice,
                                          float *scratch) {
    copy(scratch, choice.biases, choice.n_outcomes);
    add_products(&scratch, choice.weights, &means, 1, choice.n_outcomes, choice.n_states);
    for (int d = 0; d < choice.n_outcomes; ++d) logits[d] += scale * scratch[d];
}

/* The covariance C of the rows of W under q */

struct Covariance {
    const float *weights, *q, *average; /* average = sum_d q[d] W[d] */
    const int32_t *active;             /* the rows that are not negligible */
    int n_active, width;
};

INLINED Covariance covariance_of(const float *q, const float *average, const Choice &choice, Workspace &workspace) {
    int n_active = 0;
    for (int d = 0; d < choice.n_outcomes; ++d)
        if (q[d] >= workspace.negligible) workspace.active[n_active++] = d;
    return {choice.weights, q, average, workspace.active.data(), n_active, workspace.width};
}

/* product += sum of q[d] W[d] (W[d] x) over N_ROWS active rows from `first` on */
template <int N_ROWS>
INLINED void add_active_rows(float *product, const Covariance &covariance, int first, const float *x) {
    Lanes sums[N_ROWS] = {};
    const float *rows[N_ROWS];
    float weights[N_ROWS];
    for (int r = 0; r < N_ROWS; ++r)
        rows[r] = covariance.weights + (size_t)covariance.active[first + r] * covariance.width;
    for (int c = 0; c < covariance.width; c += LANES)
        for (int r = 0; r < N_ROWS; ++r) sums[r] += lanes(rows[r] + c) * lanes(x + c);
    for (int r = 0; r < N_ROWS; ++r) weights[r] = covariance.q[covariance.active[first + r]] * sum_of(sums[r]);
    for (int c = 0; c < covariance.width; c += LANES) {
        Lanes sum = lanes(product + c);
        for (int r = 0; r < N_ROWS; ++r) sum += weights[r] * lanes(rows[r] + c);
        lanes(product + c) = sum;
    }
}

/* product = C x */
INLINED void covary(float *product, const Covariance &covariance, const float *x) {
    const float share = dot(covariance.average, x, covariance.width);
    int row = 0;
    for (int i = 0; i < covariance.width; ++i) product[i] = -share * covariance.average[i];
    for (; row + 4 <= covariance.n_active; row += 4) add_active_rows<4>(product, covariance, row, x);
    for (; row < covariance.n_active; ++row) add_active_rows<1>(product, covariance, row, x);
}

/* The solution of (I + S C S) solution = residual, from 0, by conjugate gradients until the residual, which is lost,
   has shrunk to `share` of what it was; image = C S solution */
INLINED void solve(float *solution, float *image, float *residual, const Covariance &covariance, const float *scales,
                   float share, Workspace &workspace) {
    const int width = covariance.width;
    float *direction = workspace.row(0), *scaled = workspace.row(1), *product = workspace.row(2);
    float left = dot(residual, residual, width);
    const float goal = left * share * share;
    memset(solution, 0, width * sizeof(float));
    memset(image, 0, width * sizeof(float));
    copy(direction, residual, width);
    for (int iteration = 0; iteration < 2 * width && left > goal; ++iteration) {
        for (int i = 0; i < width; ++i) scaled[i] = scales[i] * direction[i];
        covary(product, covariance, scaled);
        const float length = left / (dot(direction, direction, width) + dot(scaled, product, width));
        for (int i = 0; i < width; ++i) solution[i] += length * direction[i];
        for (int i = 0; i < width; ++i) image[i] += length * product[i];
        for (int i = 0; i < width; ++i) residual[i] -= length * (direction[i] + scales[i] * product[i]);
        const float now = dot(residual, residual, width);
        for (int i = 0; i < width; ++i) direction[i] = residual[i] + now / left * direction[i];
        left = now;
    }
}

INLINED void scales_of(float *scales, const float *means, int width) {
#pragma omp simd
    for (int i = 0; i < width; ++i) scales[i] = std::sqrt(means[i] * (1 - means[i]));
}

/* What a decision does to theta, if q are the probabilities by the means of theta (feed-forward: nothing) */

/* "mean-field-step": one natural gradient step, theta += W[chosen] - sum q W */
SIMD_CLONES static inline void step(float *theta, const float *q, const Choice &choice, int chosen,
                                    Workspace &workspace) {
    float *average = workspace.row(0);
    const float *own = choice.weights + (size_t)chosen * workspace.width;
    mix(average, q, choice.weights, choice.n_outcomes, choice.n_states);
    for (int i = 0; i < workspace.width; ++i) theta[i] += own[i] - average[i];
}

/* G at theta, with means, logits, q and average = sum q W of it */
INLINED void look(float *gradient, float *average, const float *theta, const float *prior, float *means, float *logits,
                  float *q, const Choice &choice) {
    const int width = padded(choice.n_states);
    sigmoid(means, theta, choice.n_states);
    softmax(logits, q, means, choice);
    mix(average, q, choice.weights, choice.n_outcomes, choice.n_states);
    for (int i = 0; i < width; ++i) gradient[i] = theta[i] - prior[i] + average[i];
}

/* The direction of a Newton step: -G - C S u, where (I + S C S) u = -S G */
INLINED void newton(float *direction, const float *gradient, const float *average, const float *means, const float *q,
                    const Choice &choice, float forcing, Workspace &workspace) {
    const int width = workspace.width;
    float *scales = workspace.row(3), *solution = workspace.row(4), *residual = workspace.row(5);
    const Covariance covariance = covariance_of(q, average, choice, workspace);
    scales_of(scales, means, width);
    for (int i = 0; i < width; ++i) residual[i] = -scales[i] * gradient[i];
    solve(solution, direction, residual, covariance, scales, forcing, workspace);
    for (int i = 0; i < width; ++i) direction[i] = -gradient[i] - direction[i];
}

/* "mean-field": the maximum of L, from theta and q of before; theta, means, logits and q are then those after. Returns
   the Newton steps. The tolerance is on the greatest |dL / dmean|: EXACT in learning, 0.1 will do for decoding. */
SIMD_CLONES static inline int settle(float *theta, float *means, float *logits, float *q, const Choice &choice,
                                     int chosen, float tolerance, Workspace &workspace) {
    const int max_steps = 50, max_halvings = 16;
    const int width = workspace.width;
    float *prior = workspace.row(6), *average = workspace.row(7), *gradient = workspace.row(8);
    float *direction = workspace.row(9), *start = workspace.row(10), forcing = workspace.forcing;
    const float *own = choice.weights + (size_t)chosen * width;
    int n_steps = 0;
    mix(average, q, choice.weights, choice.n_outcomes, choice.n_states);
    for (int i = 0; i < width; ++i) prior[i] = theta[i] + own[i];
    for (int i = 0; i < width; ++i) gradient[i] = average[i] - own[i];
    while (n_steps < max_steps && greatest(gradient, width) > tolerance) {
        const float norm = dot(gradient, gradient, width);
        float length = 1;
        bool shrank = false;
        newton(direction, gradient, average, means, q, choice, forcing, workspace);
        copy(start, theta, width);
        for (int halving = 0; halving < max_halvings && !shrank; ++halving, length /= 2) {
            for (int i = 0; i < width; ++i) theta[i] = start[i] + length * direction[i];
            look(gradient, average, theta, prior, means, logits, q, choice);
            shrank = dot(gradient, gradient, width) < (1 - 1e-4f * length) * norm;
        }
        ++n_steps;
        if (shrank) continue;
        copy(theta, start, width); /* the direction was not good enough, or this is all that the precision allows */
        look(gradient, average, theta, prior, means, logits, q, choice);
        forcing *= 0.01f;
        if (forcing < NEGLIGIBLE) break;
    }
    return n_steps;
}

/* Adjoints of a decision: from the gradient g of the log-likelihood by the theta after it to that by the theta before
   it, and the gradients by W and the biases. With lambda, the g that came into `step_adjoint` or that came out of
   `settle_adjoint`, dL/dW[d] += lambda * (1[d = chosen] - q[d]) + turns[d] * means, and dL/dbias[d] += turns[d]. */

/* sum_d q[d] W[d], which is left in row 7 of the workspace */
INLINED float *average_of(const float *q, const Choice &choice, Workspace &workspace) {
    mix(workspace.row(7), q, choice.weights, choice.n_outcomes, choice.n_states);
    return workspace.row(7);
}

/* g += d log q[chosen] / d theta */
SIMD_CLONES static inline void choose_adjoint(float *g, const float *means, const float *q, const Choice &choice,
                                              int chosen, Workspace &workspace) {
    const float *average = average_of(q, choice, workspace);
    const float *own = choice.weights + (size_t)chosen * workspace.width;
    for (int i = 0; i < workspace.width; ++i) g[i] += means[i] * (1 - means[i]) * (own[i] - average[i]);
}

/* turns[d] = -q[d] (W[d] - average) lambda */
INLINED void turns_of(float *turns, const float *lambda, const float *average, const float *q, const Choice &choice) {
    const float share = dot(average, lambda, padded(choice.n_states));
    memset(turns, 0, choice.n_outcomes * sizeof(float));
    add_products(&turns, choice.weights, &lambda, 1, choice.n_outcomes, choice.n_states);
#pragma omp simd
    for (int d = 0; d < choice.n_outcomes; ++d) turns[d] = -q[d] * (turns[d] - share);
}

SIMD_CLONES static inline void step_adjoint(float *g, float *turns, const float *means, const float *q,
                                            const Choice &choice, Workspace &workspace) {
    const float *average = average_of(q, choice, workspace);
    float *pull = workspace.row(0);
    turns_of(turns, g, average, q, choice);
    mix(pull, turns, choice.weights, choice.n_outcomes, choice.n_states); /* -C g, as turns sum to 0 */
    for (int i = 0; i < workspace.width; ++i) g[i] += means[i] * (1 - means[i]) * pull[i];
}

/* lambda = (I + M C)^-1 g = g - S (I + S C S)^-1 S C g; means and q are those after the decision. The gradient by
   way of the q before is not in it. */
SIMD_CLONES static inline void settle_adjoint(float *g, float *turns, const float *means, const float *q,
                                              const Choice &choice, Workspace &workspace) {
    const float *average = average_of(q, choice, workspace);
    const int width = workspace.width;
    float *scales = workspace.row(3), *solution = workspace.row(4), *residual = workspace.row(5);
    float *image = workspace.row(6);
    const Covariance covariance = covariance_of(q, average, choice, workspace);
    scales_of(scales, means, width);
    covary(residual, covariance, g);
    for (int i = 0; i < width; ++i) residual[i] *= scales[i];
    solve(solution, image, residual, covariance, scales, ADJOINT, workspace);
    for (int i = 0; i < width; ++i) g[i] -= scales[i] * solution[i];
    turns_of(turns, g, average, q, choice);
}

/* For the search alone */

/* sum = sum of n_vectors vectors, at least one */
SIMD_CLONES static inline void sum_vectors(float *sum, const float *const *vectors, int n_vectors, int width) {
    for (int c = 0; c < width; c += LANES) {
        Lanes block = lanes(vectors[0] + c);
        for (int v = 1; v < n_vectors; ++v) block += lanes(vectors[v] + c);
        lanes(sum + c) = block;
    }
}

/* x . y */
SIMD_CLONES static inline float product_of(const float *x, const float *y, int width) { return dot(x, y, width); }

} /* namespace isbn */

#endif
