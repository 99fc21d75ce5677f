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

/* out[i] += sum_p tensor[i, p] * pairs[p] */
SIMD_CLONES static void add_rows(float *out, const float *tensor, const float *pairs, int n_out, int n_pairs) {
    for (int i = 0; i < n_out; ++i) {
        const float *row = tensor + (long)i * n_pairs;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int p = 0; p < n_pairs; ++p) sum += row[p] * pairs[p];
        out[i] += sum;
    }
}

/* pairs[p] = sum_i outer[i] * tensor[i, p] */
SIMD_CLONES static void mix_rows(float *pairs, const float *tensor, const float *outer, int n_outer, int n_pairs) {
    for (int p = 0; p < n_pairs; ++p) pairs[p] = outer[0] * tensor[p];
    for (int i = 1; i < n_outer; ++i) {
        const float *row = tensor + (long)i * n_pairs;
        const float weight = outer[i];
        for (int p = 0; p < n_pairs; ++p) pairs[p] += weight * row[p];
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

/* out[r] = sum_j vector[j] * basis[j, r] */
SIMD_CLONES static void project(float *out, const float *basis, const float *vector, int n, int rank) {
    for (int r = 0; r < rank; ++r) out[r] = 0;
    for (int j = 0; j < n; ++j) {
        const float *row = basis + j * rank;
        const float weight = vector[j];
        for (int r = 0; r < rank; ++r) out[r] += weight * row[r];
    }
}

/* out[j] += sum_r basis[j, r] * vector[r] */
SIMD_CLONES static void expand(float *out, const float *basis, const float *vector, int n, int rank) {
    for (int j = 0; j < n; ++j) {
        const float *row = basis + j * rank;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int r = 0; r < rank; ++r) sum += row[r] * vector[r];
        out[j] += sum;
    }
}

#endif
