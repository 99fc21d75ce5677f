"""Pretrained encoders of BERT's family, from the folders of hubs to the parser's own files."""
