"""Theorem 1: where HD ≥ Nn, gradient descent has f(M_t) ≤ (1 − ηβ)^t f(M₀).

``runs.py`` trains layers of several widths, ``bounds.py`` compares these runs with
the bound, ``acceptance.py`` has the case that attains its rate, ``region.py`` the remarks
under the theorem, ``width.py`` and ``scale.py`` what HD ≥ Nn is and is not enough for.
"""
