"""Files that appear when they are complete, and the one format of all models, read with distrust."""
