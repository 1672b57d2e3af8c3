"""One module per theorem or result: its measurement, its claims and its tables.

``theorem_1`` is gradient flow on W with V = cP, ``descent_on_w`` the same by descent,
``theorem_2`` descent on W and V from near cP, ``value_alone`` and ``random_weights`` what
training from small random weights shows. Modules that begin with an underscore are shared:
``_cells`` and ``_runs`` read datasets and runs, ``_flows`` follows instances of
Theorem 1, ``_other_sequences`` finds sequences of probability 0. ``instances`` draws
random instances.
"""
