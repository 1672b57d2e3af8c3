"""Theorem 2: gradient descent on W and V from W₀ = 0 and V₀ near cP.

``descents`` is the measurement that ``support`` (sequences of positive probability) and
``all_sequences`` (all others too) judge; ``short_sequences`` asks whether the theorem can
say anything at the sizes of other runs.
"""
