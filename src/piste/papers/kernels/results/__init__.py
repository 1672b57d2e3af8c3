"""Results of the paper: each module measures one, judges it and tabulates it.

``theorem_1`` and ``theorem_2`` are the two theorems, ``real_tasks`` is IMDb and
Pathfinder, ``landscapes`` the loss surfaces. ``cells.py`` selects runs of a calculation,
``_descents.py`` trains many seeds side by side. A module has a tuple ``CLAIMS``, a tuple
``TABLES`` or both; ``claims.py`` and ``tables.py`` of the paper join them.
"""
