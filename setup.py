import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ["spacy_lpcfg.grammar._windows"]
KERNELS += [f"spacy_lpcfg.chart.{name}" for name in ("_context", "_forest", "_coarse", "_fine", "_decode")]
KERNELS += [f"spacy_lpcfg.learning.{name}" for name in ("_expectations", "_loglinear")]
KERNELS += [f"spacy_lpcfg.bracketing.{name}" for name in ("_binary_trees", "_latent_tree", "_spans", "_brown")]
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-fopenmp-simd"]

setup(
    ext_modules=cythonize(
        [
            Extension(
                name,
                [name.replace(".", "/") + ".pyx"],
                include_dirs=["spacy_lpcfg/chart"],
                depends=["spacy_lpcfg/chart/simd.h"],
                extra_compile_args=FLAGS,
                language="c++",
            )
            for name in KERNELS
        ],
        language_level=3,
    )
)
