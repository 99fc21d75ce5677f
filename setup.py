import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = ["spacy_lpcfg.grammar._windows"]
KERNELS += [f"spacy_lpcfg.chart.{name}" for name in ("_context", "_forest", "_coarse", "_fine", "_decode", "_prefix")]
KERNELS += [f"spacy_lpcfg.learning.{name}" for name in ("_expectations", "_loglinear")]
KERNELS += [f"spacy_lpcfg.bracketing.{name}" for name in ("_binary_trees", "_latent_tree", "_spans")]
KERNELS += ["spacy_lpcfg.words._exchange"]
KERNELS += [f"spacy_lpcfg.isbn.{name}" for name in ("_network", "_adam", "_beam")]
HEADERS = ["spacy_lpcfg/lanes.h", "spacy_lpcfg/chart/simd.h"]
HEADERS += ["spacy_lpcfg/isbn/mean_field.h", "spacy_lpcfg/isbn/beam.h"]
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-fopenmp-simd", "-fno-math-errno", "-g0"]


class BuildOnce(build_ext):
    """Takes a kernel that an editable install left beside its source, where it is newer than that."""

    def build_extension(self, extension: Extension) -> None:
        built = Path(self.get_ext_filename(extension.name))
        sources = [*extension.sources, *extension.depends, __file__]
        if built.exists() and built.stat().st_mtime > max(Path(source).stat().st_mtime for source in sources):
            target = Path(self.get_ext_fullpath(extension.name))
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or not target.samefile(built):
                self.copy_file(str(built), str(target))
        else:
            super().build_extension(extension)


setup(
    cmdclass={"build_ext": BuildOnce},
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
    ),
)
