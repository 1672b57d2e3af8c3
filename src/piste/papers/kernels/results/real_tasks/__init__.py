"""IMDb and Pathfinder: a two-layer classifier with either kernel.

``runs.py`` reads numbers off a run, ``learning.py`` judges whether the tasks are learnt,
``speed.py`` which kernel is the faster.
"""
