from libcpp.vector cimport vector


cdef extern from *:
    """
    #include <vector>

    /* Cython declares `assign` of a number and the assignment of vectors as if they never ran out of memory. */
    template <class T, class X> static inline void fill(std::vector<T> &values, size_t n, X value) {
        values.assign(n, static_cast<T>(value));
    }
    template <class T> static inline void copy(std::vector<T> &values, const std::vector<T> &others) { values = others; }
    """
    void fill[T, X](vector[T]& values, size_t n, X value) except + nogil
    void copy[T](vector[T]& values, const vector[T]& others) except + nogil
