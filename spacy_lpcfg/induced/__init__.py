"""Grammars without a treebank: simple PCFGs learned from brackets that nobody annotated, and parsing by them."""
