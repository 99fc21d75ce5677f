"""Beyond the paper: coarse anchors, a learned top bracket, self-training of span scores, and tags from raw text."""
