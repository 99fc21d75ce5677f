import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ["spacy_lpcfg.grammar._windows"]
KERNELS += [f"spacy_lpcfg.chart.{name}" for name in ("_context", "_forest", "_coarse", "_fine", "_decode", "_prefix")]
KERNELS += [f"spacy_lpcfg.learning.{name}" for name in ("_expectations", "_loglinear")]
KERNELS += [f"spacy_lpcfg.bracketing.{name}" for name in ("_binary_trees", "_latent_tree", "_spans", "_brown")]
KERNELS += [f"spacy_lpcfg.isbn.{name}" for name in ("_network", "_adam", "_beam")]
HEADERS = ["spacy_lpcfg/lanes.h", "spacy_lpcfg/chart/simd.h"]
HEADERS += ["spacy_lpcfg/isbn/mean_field.h", "spacy_lpcfg/isbn/beam.h"]
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-fopenmp-simd", "-fno-math-errno"]

setup(
    ext_modules=cythonize(
        [
            Extension(
                name,
                [name.replace(".", "/") + ".pyx"],
                include_dirs=sorted({header.rpartition("/")[0] for header in HEADERS}),
                depends=HEADERS,
                extra_compile_args=FLAGS,
                language="c++",
            )
            for name in KERNELS
        ],
        language_level=3,
    )
)
