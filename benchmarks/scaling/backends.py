"""Backends of joblib that no test runs: whether learners give the same grammars by them, and in how many seconds.

    python -m benchmarks.scaling.backends TREES --backend ray      # pip install ray
    python -m benchmarks.scaling.backends TREES --backend spark    # pip install joblibspark pyspark, and Java

Two workers, on this machine.
"""

from __future__ import annotations

import argparse
from time import monotonic

from joblib import parallel_config

from spacy_lpcfg.learning import EM, Clusters, Pivot, Spectral, TreebankPCFG
from spacy_lpcfg.trees import TreeFiles

_FEW = {"n_states": 3, "n_iterations": 1}
LEARNERS = (TreebankPCFG(), Spectral(n_states=3), Pivot(**_FEW), Clusters(**_FEW), EM(**_FEW))


def register(backend: str) -> None:
    """Tell joblib of a backend."""
    if backend == "ray":
        import ray
        from ray.util.joblib import register_ray

        ray.init(num_cpus=2)
        register_ray()
    else:
        from joblibspark import register_spark

        register_spark()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", help="files or folders of trees in brackets")
    parser.add_argument("--backend", choices=("ray", "spark"), required=True)
    args = parser.parse_args()
    register(args.backend)
    treebank = TreeFiles.of(args.trees)
    for learner in LEARNERS:
        expected, begin = learner.fit(treebank).to_bytes(), monotonic()
        with parallel_config(backend=args.backend, n_jobs=2):
            model = learner.fit(treebank).to_bytes()
        same = "same" if model == expected else "another"
        print(f"{type(learner).__name__}: the {same} grammar, {monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
