/* What the search does with vectors and rows besides mean_field.h: sums of vectors, and the normaliser of a softmax where
   nothing else of it is wanted. Vectors are padded to whole blocks of LANES floats. */

#ifndef SPACY_LPCFG_ISBN_VECTORS_H
#define SPACY_LPCFG_ISBN_VECTORS_H

#include "mean_field.h"

namespace isbn {

/* sum = sum of n_vectors vectors, at least one */
SIMD_CLONES static void sum_vectors(float *sum, const float *const *vectors, int n_vectors, int width) {
    for (int c = 0; c < width; c += LANES) {
        Lanes block = lanes(vectors[0] + c);
        for (int v = 1; v < n_vectors; ++v) block += lanes(vectors[v] + c);
        lanes(sum + c) = block;
    }
}

/* logits[d] += scale * (weights[d] . means + biases[d]), d < n_outcomes */
SIMD_CLONES static void add_logits(float *logits, const float *weights, const float *biases, const float *means,
                                   float scale, int n_outcomes, int n_states) {
    const int width = padded(n_states);
    int d = 0;
    for (; d + 4 <= n_outcomes; d += 4) {
        Lanes sums[4] = {};
        const float *rows = weights + (size_t)d * width;
        for (int c = 0; c < width; c += LANES)
            for (int r = 0; r < 4; ++r) sums[r] += lanes(rows + (size_t)r * width + c) * lanes(means + c);
        for (int r = 0; r < 4; ++r) logits[d + r] += scale * (sum_of(sums[r]) + biases[d + r]);
    }
    for (; d < n_outcomes; ++d)
        logits[d] += scale * (dot(weights + (size_t)d * width, means, width) + biases[d]);
}

/* log sum_d exp(logits[d]); leaves in place of the logits what is proportional to their exponentials */
SIMD_CLONES static float log_sum_exp(float *logits, int n) {
    float most = -INFINITY, total = 0;
#pragma omp simd reduction(max : most)
    for (int d = 0; d < n; ++d) most = logits[d] > most ? logits[d] : most;
#pragma omp simd
    for (int d = 0; d < n; ++d) logits[d] -= most;
    exponentiate(logits, n);
#pragma omp simd reduction(+ : total)
    for (int d = 0; d < n; ++d) total += logits[d];
    return most + std::log(total);
}

/* x . y */
SIMD_CLONES static float product_of(const float *x, const float *y, int width) { return dot(x, y, width); }

} /* namespace isbn */

#endif
