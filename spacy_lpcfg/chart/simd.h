/* Small dense products over contiguous floats, compiled for several instruction sets where the platform can choose
   between them when the program is loaded. */

#ifndef SPACY_LPCFG_SIMD_H
#define SPACY_LPCFG_SIMD_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define SIMD_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define SIMD_CLONES
#endif

/* pairs[j, k] += scale * left[j] * right[k] */
SIMD_CLONES static void add_outer(float *pairs, const float *left, const float *right, float scale, int n_left,
                                  int n_right) {
    for (int j = 0; j < n_left; ++j) {
        const float weight = scale * left[j];
        for (int k = 0; k < n_right; ++k) pairs[j * n_right + k] += weight * right[k];
    }
}

/* out[r] += sum_c matrix[r, c] * weights[c] */
SIMD_CLONES static void add_rows(float *out, const float *matrix, const float *weights, int n_rows, int n_cols) {
    for (int r = 0; r < n_rows; ++r) {
        const float *row = matrix + r * n_cols;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int c = 0; c < n_cols; ++c) sum += row[c] * weights[c];
        out[r] += sum;
    }
}

/* out[c] = sum_r weights[r] * matrix[r, c] */
SIMD_CLONES static void mix_rows(float *out, const float *matrix, const float *weights, int n_rows, int n_cols) {
    for (int c = 0; c < n_cols; ++c) out[c] = 0;
    for (int r = 0; r < n_rows; ++r) {
        const float *row = matrix + r * n_cols;
        const float weight = weights[r];
        for (int c = 0; c < n_cols; ++c) out[c] += weight * row[c];
    }
}

/* to_left[j] += scale * sum_k pairs[j, k] * right[k]; to_right[k] += scale * sum_j left[j] * pairs[j, k];
   returns scale * sum_jk left[j] * pairs[j, k] * right[k] */
SIMD_CLONES static float pass_down(float *to_left, float *to_right, const float *pairs, const float *left,
                                   const float *right, float scale, int n_left, int n_right) {
    float total = 0;
    for (int j = 0; j < n_left; ++j) {
        const float *row = pairs + j * n_right;
        const float weight = scale * left[j];
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < n_right; ++k) sum += row[k] * right[k];
        for (int k = 0; k < n_right; ++k) to_right[k] += weight * row[k];
        to_left[j] += scale * sum;
        total += weight * sum;
    }
    return total;
}

#endif
