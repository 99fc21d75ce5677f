/* Small dense and sparse products. Rows are fastest if padded with zeros to a multiple of LANES floats. */

#ifndef SPACY_LPCFG_SIMD_H
#define SPACY_LPCFG_SIMD_H

#include <stdint.h>
#include <string.h>

#include "lanes.h"

/* 2 ** exponent, from 2 ** -126 on; 0 for less */
INLINED float power_of_two(int exponent) {
    const uint32_t bits = exponent < -126 ? 0 : (uint32_t)(exponent + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* pairs[j, k] = scale * left[j] * right[k] */
SIMD_CLONES static inline void outer(float *pairs, const float *left, const float *right, float scale, int n_left,
                                     int n_right) {
    int k = 0;
    for (; k + LANES <= n_right; k += LANES) {
        const Lanes row = scale * lanes(right + k);
        for (int j = 0; j < n_left; ++j) lanes(pairs + j * n_right + k) = left[j] * row;
    }
    for (; k < n_right; ++k)
        for (int j = 0; j < n_left; ++j) pairs[j * n_right + k] = left[j] * (scale * right[k]);
}

/* pairs[j, k] += scale * left[j] * right[k], of as many blocks of columns as the compiler knows of: rows of 32 x 32 floats
   are a page apart, where a block alone would move a whole line of the cache for each half of it */
INLINED void add_few_outer(float *pairs, const float *left, const float *right, float scale, int n_left, int n_right,
                           int n_blocks) {
    Lanes rows[4];
    for (int b = 0; b < n_blocks; ++b) rows[b] = scale * lanes(right + b * LANES);
    for (int j = 0; j < n_left; ++j)
        for (int b = 0; b < n_blocks; ++b) lanes(pairs + j * n_right + b * LANES) += left[j] * rows[b];
}

/* pairs[j, k] += scale * left[j] * right[k] */
SIMD_CLONES static inline void add_outer(float *pairs, const float *left, const float *right, float scale, int n_left,
                                         int n_right) {
    int k = 0;
    for (; k + 4 * LANES <= n_right; k += 4 * LANES) add_few_outer(pairs + k, left, right + k, scale, n_left, n_right, 4);
    for (; k + LANES <= n_right; k += LANES) add_few_outer(pairs + k, left, right + k, scale, n_left, n_right, 1);
    for (; k < n_right; ++k)
        for (int j = 0; j < n_left; ++j) pairs[j * n_right + k] += left[j] * (scale * right[k]);
}

/* out[r] += scale * sum_c matrix[r, c] * weights[c], of at most four rows, as many as the compiler knows of */
INLINED void add_few_rows(float *out, const float *matrix, const float *weights, float scale, int n_rows, int n_cols) {
    Lanes sums[4] = {{0}, {0}, {0}, {0}};
    float rest[4] = {0, 0, 0, 0};
    int c = 0;
    for (; c + LANES <= n_cols; c += LANES)
        for (int r = 0; r < n_rows; ++r) sums[r] += lanes(matrix + r * n_cols + c) * lanes(weights + c);
    for (; c < n_cols; ++c)
        for (int r = 0; r < n_rows; ++r) rest[r] += matrix[r * n_cols + c] * weights[c];
    for (int r = 0; r < n_rows; ++r) out[r] += scale * (sum_of(sums[r]) + rest[r]);
}

INLINED void add_scaled_rows(float *out, const float *matrix, const float *weights, float scale, int n_rows,
                             int n_cols) {
    int r = 0;
    for (; r + 4 <= n_rows; r += 4) add_few_rows(out + r, matrix + r * n_cols, weights, scale, 4, n_cols);
    for (; r < n_rows; ++r) add_few_rows(out + r, matrix + r * n_cols, weights, scale, 1, n_cols);
}

/* out[r] += sum_c matrix[r, c] * weights[c] */
SIMD_CLONES static inline void add_rows(float *out, const float *matrix, const float *weights, int n_rows, int n_cols) {
    add_scaled_rows(out, matrix, weights, 1, n_rows, n_cols);
}

/* out[c] = sum_r weights[r] * matrix[r, c], of as many blocks of columns as the compiler knows of */
INLINED void mix_few_rows(float *out, const float *matrix, const float *weights, int n_rows, int n_cols, int n_blocks) {
    Lanes sums[4] = {{0}, {0}, {0}, {0}};
    for (int r = 0; r < n_rows; ++r)
        for (int b = 0; b < n_blocks; ++b) sums[b] += weights[r] * lanes(matrix + r * n_cols + b * LANES);
    for (int b = 0; b < n_blocks; ++b) lanes(out + b * LANES) = sums[b];
}

/* out[c] = sum_r weights[r] * matrix[r, c] */
SIMD_CLONES static inline void mix_rows(float *out, const float *matrix, const float *weights, int n_rows, int n_cols) {
    int c = 0;
    for (; c + 4 * LANES <= n_cols; c += 4 * LANES) mix_few_rows(out + c, matrix + c, weights, n_rows, n_cols, 4);
    for (; c + LANES <= n_cols; c += LANES) mix_few_rows(out + c, matrix + c, weights, n_rows, n_cols, 1);
    for (; c < n_cols; ++c) {
        out[c] = 0;
        for (int r = 0; r < n_rows; ++r) out[c] += weights[r] * matrix[r * n_cols + c];
    }
}

/* to_left[j] += scale * sum_k pairs[j, k] * right[k]; to_right[k] += scale * sum_j left[j] * pairs[j, k];
   returns scale * sum_jk left[j] * pairs[j, k] * right[k] */
SIMD_CLONES static inline float pass_down(float *to_left, float *to_right, const float *pairs, const float *left,
                                          const float *right, float scale, int n_left, int n_right) {
    Lanes totals = {0};
    float total = 0;
    int k = 0;
    add_scaled_rows(to_left, pairs, right, scale, n_left, n_right);
    for (; k + LANES <= n_right; k += LANES) {
        Lanes sum = {0};
        for (int j = 0; j < n_left; ++j) sum += left[j] * lanes(pairs + j * n_right + k);
        lanes(to_right + k) += scale * sum;
        totals += sum * lanes(right + k);
    }
    for (; k < n_right; ++k) {
        float sum = 0;
        for (int j = 0; j < n_left; ++j) sum += left[j] * pairs[j * n_right + k];
        to_right[k] += scale * sum;
        total += sum * right[k];
    }
    return scale * (sum_of(totals) + total);
}

/* A sparse tensor t[h, j, k], h < n_parent, j < n_left, k < n_right: blocks of LANES floats each, of which number i
   stands at h = places[i][0] and at block places[i][1] of the matrix [j, k]; and rest[0][h] * rest[1][j] * rest[2][k].
   n_right is a multiple of LANES. */
typedef struct {
    const float *blocks;
    const int32_t *places;
    const float *rest[3];
    int n_blocks, n_parent, n_left, n_right;
} Sparse;

/* sums[h] += sum_jk t[h, j, k] * pairs[j, k]; scratch: of LANES * n_parent floats */
SIMD_CLONES static inline void add_sparse_rows(float *sums, const Sparse *tensor, const float *pairs, float *scratch) {
    Sparse t = *tensor;
    Lanes rests = {0};
    for (int k = 0; k < t.n_right; k += LANES) {
        Lanes sum = {0};
        for (int j = 0; j < t.n_left; ++j) sum += t.rest[1][j] * lanes(pairs + j * t.n_right + k);
        rests += sum * lanes(t.rest[2] + k);
    }
    const float rest = sum_of(rests);
    for (int h = 0; h < t.n_parent; ++h) lanes(scratch + LANES * h) = Lanes{0};
    for (int i = 0; i < t.n_blocks; ++i, t.blocks += LANES, t.places += 2)
        lanes(scratch + LANES * t.places[0]) += lanes(t.blocks) * lanes(pairs + LANES * t.places[1]);
    for (int h = 0; h < t.n_parent; ++h) sums[h] += rest * t.rest[0][h] + sum_of(lanes(scratch + LANES * h));
}

/* pairs[j, k] = sum_h weights[h] * t[h, j, k] */
SIMD_CLONES static inline void mix_sparse_rows(float *pairs, const Sparse *tensor, const float *weights) {
    Sparse t = *tensor;
    float rest = 0;
    for (int h = 0; h < t.n_parent; ++h) rest += weights[h] * t.rest[0][h];
    for (int k = 0; k < t.n_right; k += LANES) {
        const Lanes row = rest * lanes(t.rest[2] + k);
        for (int j = 0; j < t.n_left; ++j) lanes(pairs + j * t.n_right + k) = t.rest[1][j] * row;
    }
    for (int i = 0; i < t.n_blocks; ++i, t.blocks += LANES, t.places += 2)
        lanes(pairs + LANES * t.places[1]) += weights[t.places[0]] * lanes(t.blocks);
}

/* sums[k] += sum_hj t[h, j, k] * pairs[h, j] */
SIMD_CLONES static inline void add_sparse_last(float *sums, const Sparse *tensor, const float *pairs) {
    Sparse t = *tensor;
    const int n_blocks = t.n_right / LANES;
    float rest = 0;
    for (int h = 0; h < t.n_parent; ++h) {
        float row = 0;
        for (int j = 0; j < t.n_left; ++j) row += pairs[h * t.n_left + j] * t.rest[1][j];
        rest += t.rest[0][h] * row;
    }
    for (int k = 0; k < t.n_right; k += LANES) lanes(sums + k) += rest * lanes(t.rest[2] + k);
    for (int i = 0; i < t.n_blocks; ++i, t.blocks += LANES, t.places += 2) {
        const int j = t.places[1] / n_blocks, k = t.places[1] % n_blocks;
        lanes(sums + LANES * k) += pairs[t.places[0] * t.n_left + j] * lanes(t.blocks);
    }
}

#endif
