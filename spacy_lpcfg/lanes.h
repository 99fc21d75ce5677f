/* Blocks of LANES numbers, and functions compiled for several instruction sets where the platform can choose between
   them when the program is loaded. Rows are fastest if padded with zeros to a multiple of LANES. */

#ifndef SPACY_LPCFG_LANES_H
#define SPACY_LPCFG_LANES_H

/* By what a processor can do: "arch=haswell" would mean processors of that name alone. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && defined(__linux__)
#define SIMD_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SIMD_CLONES
#endif

#define LANES 8 /* as in arrays.py */

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
typedef float Lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
#else
#define INLINED static __forceinline
struct Lanes {
    float x[LANES];
    float operator[](int l) const { return x[l]; }
    void operator+=(const Lanes &other) { for (int l = 0; l < LANES; ++l) x[l] += other.x[l]; }
};
INLINED Lanes operator*(Lanes x, const Lanes &y) {
    for (int l = 0; l < LANES; ++l) x.x[l] *= y.x[l];
    return x;
}
INLINED Lanes operator*(float weight, Lanes x) {
    for (int l = 0; l < LANES; ++l) x.x[l] *= weight;
    return x;
}
#endif

INLINED Lanes &lanes(float *x) { return *(Lanes *)x; }
INLINED const Lanes &lanes(const float *x) { return *(const Lanes *)x; }

#if defined(__GNUC__)
typedef float HalfLanes __attribute__((vector_size(2 * LANES), aligned(4), may_alias));
INLINED float sum_of(const Lanes &x) {
    const HalfLanes *halves = (const HalfLanes *)&x;
    const HalfLanes sum = halves[0] + halves[1];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}
#else
INLINED float sum_of(const Lanes &x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }
#endif

#endif
