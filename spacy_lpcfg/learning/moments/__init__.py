"""The method of moments: projections, moments, anchors, and decompositions of matrices."""
