"""What every parser shares: its input, its answers, and how long sentences are divided."""
