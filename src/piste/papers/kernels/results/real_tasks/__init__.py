"""IMDb and Pathfinder: a two-layer classifier with either kernel.

``runs.py`` reads numbers off a run, ``rates.py`` chooses learning rates, ``learning.py``
judges whether the tasks are learnt, ``markers.py`` and ``image_controls.py`` what else can
tell the label of an image, ``speed.py`` which kernel is the faster, ``harder_images.py``
how far learning goes.
"""
