"""Pretrained encoders of BERT's family: reading folders of model hubs, fine-tuning, and export to files."""
