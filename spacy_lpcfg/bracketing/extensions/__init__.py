"""Extensions beyond the paper: coarse anchors, a learned top split, self-training, and tags from raw text."""
