"""Theorem 1: gradient flow on W from W₀ = 0 with V = cP, and what lies beyond it.

``single_runs`` and ``first_perfect_times`` are the theorem itself; ``repetition``,
``unseen_sequences``, ``scale`` and ``persistence`` ask what it does not say.
"""
