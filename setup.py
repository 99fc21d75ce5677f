import multiprocessing
import os
import sys
import sysconfig
import time
from pathlib import Path

from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SHARED = "spacy_lpcfg._memoryviews"
"""What Cython writes once for all kernels: their memoryviews, half of what there was to compile."""
KERNELS = [SHARED, *sorted(".".join(path.with_suffix("").parts) for path in Path("spacy_lpcfg").rglob("*.pyx"))]
HEADERS = ["spacy_lpcfg/lanes.h", "spacy_lpcfg/simd.h", "spacy_lpcfg/isbn/mean_field.h"]
DIRECTIVES = {"boundscheck": False, "wraparound": False, "cdivision": True, "initializedcheck": False}
# A kernel that is pickled has a method for it; code that could pickle all would be a fifth of a module with classes.
DIRECTIVES |= {"auto_pickle": False}
# On Python's stable ABI one build serves all later versions; kernels need that of 3.11, the first with buffers.
IS_STABLE = sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")
MACROS = [("Py_LIMITED_API", "0x030B0000")] if IS_STABLE else []
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-fopenmp-simd", "-fno-math-errno", "-g0"]


def source(name: str) -> str:
    return name.replace(".", "/") + (".c" if name == SHARED else ".pyx")


def built(name: str) -> Path:
    """Where an editable install leaves a kernel: beside its source."""
    stable = ".pyd" if sys.platform == "win32" else ".abi3.so"
    suffix = stable if IS_STABLE else sysconfig.get_config_var("EXT_SUFFIX")
    return Path(name.replace(".", "/") + suffix)


def is_current(name: str) -> bool:
    """Whether a kernel lies compiled there, later than anything that it is made of was changed."""
    all_sources = [] if name == SHARED else create_dependency_tree().all_dependencies(source(name))
    own = [path for path in all_sources if path.startswith("spacy_lpcfg")]
    sources = [*own, *HEADERS, __file__]
    return built(name).exists() and built(name).stat().st_mtime > max(Path(path).stat().st_mtime for path in sources)


def extension(name: str) -> Extension:
    return Extension(
        name,
        [source(name)],
        include_dirs=sorted({header.rpartition("/")[0] for header in HEADERS}),
        depends=HEADERS,
        extra_compile_args=FLAGS,
        define_macros=MACROS,
        py_limited_api=IS_STABLE,
        language=None if name == SHARED else "c++",
    )


class BuildOnce(build_ext):
    """Takes current kernels as they are, and compiles the others side by side; `pip install -v` shows how far it is."""

    n_built = 0
    started = time.monotonic()

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extension(self, extension: Extension) -> None:
        self._build(extension)
        self.n_built += 1
        seconds = time.monotonic() - self.started
        print(f"Built {self.n_built} of {len(KERNELS)} kernels after {seconds:.0f} s: {extension.name}", flush=True)

    def _build(self, extension: Extension) -> None:
        if not is_current(extension.name):
            return super().build_extension(extension)
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or not target.samefile(built(extension.name)):
            self.copy_file(str(built(extension.name)), str(target))


def translated(names: list[str]) -> list[Extension]:
    """Kernels as C++: side by side where a process can be forked, as others would run this file again."""
    processes = os.cpu_count() if multiprocessing.get_start_method() == "fork" and len(names) > 1 else 0
    return cythonize(
        [extension(name) for name in names],
        language_level=3,
        nthreads=processes,
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
    )


setup(
    cmdclass={"build_ext": BuildOnce},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if IS_STABLE else {},
    ext_modules=[
        *translated([name for name in KERNELS if not is_current(name)]),
        *(extension(name) for name in KERNELS if is_current(name)),
    ],
)
