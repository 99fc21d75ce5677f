import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ["spacy_lpcfg.chart._coarse", "spacy_lpcfg.chart._fine"]

setup(
    ext_modules=cythonize(
        [
            Extension(
                name,
                [name.replace(".", "/") + ".pyx"],
                include_dirs=[numpy.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                extra_compile_args=["-O3"],
                language="c++",
            )
            for name in KERNELS
        ],
        language_level=3,
    )
)
