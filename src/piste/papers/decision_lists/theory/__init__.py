"""Constants of the paper's theorems, and what they ask of all sequences."""
