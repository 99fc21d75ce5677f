"""Small belief networks."""

import numpy as np

from spacy_lpcfg.isbn import ISBN, BeamSettings, Relations
from spacy_lpcfg.isbn.network import start_network
from spacy_lpcfg.isbn.vocabulary import take_vocabulary
from spacy_lpcfg.trees import parse_trees

TREES = list(parse_trees(["(A (B (X a) (Y b)) (Y c))", "(A (X a) (B (Y b)))", "(B (A (X b) (X a)) (B (Y c) (Y d)))"]))


RELATIONS = Relations()


def tiny(*approximations: str, relations: Relations = RELATIONS, seed: int = 0, n_states: int = 3) -> ISBN:
    """A model of two labels, whose networks say something."""
    vocabulary = take_vocabulary(TREES, min_count=1, min_signature_count=2, min_frequent=2)
    networks = []
    for i, approximation in enumerate(approximations):
        network = start_network(approximation, vocabulary, relations, n_states=n_states + i, seed=seed + i)
        networks.append(network.of({name: 2 * array + 0.1 for name, array in network.parameters.items()}))
    return ISBN(vocabulary, relations, tuple(networks))


UNPRUNED = BeamSettings(
    beam=10**6, branching=10, margin=np.inf, unary_cap=2, max_pops=10**7, final_margin=np.inf, tolerance=1e-5
)
