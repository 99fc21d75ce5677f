"""The method of moments: projections of nodes, moments of rules, anchors, and matrix decompositions."""
