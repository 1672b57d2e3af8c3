"""Theorem 2: training W^Q alone, the Gaussian kernel converges where softmax stalls.

``queries.py`` trains every case of ``cases.py``, ``convergence.py`` judges the theorem,
``gradient.py`` the inequality that it rests on, ``controls.py`` where it stops.
"""
