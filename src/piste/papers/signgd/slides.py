"""What the authors' own slides state, to be shown beside what a run gives."""

import pandas as pd

SIGN_GROUPS = ("K+,Q+", "K+,Q-", "K-,Q+", "K-,Q-")
"""The signs of key and query noise of a pair (s, i), as the slides' Table 1 names them."""

BOUNDARY_STEPS = {
    "I": 2,
    "II": 10,
    "III": 40,
    "IVa leaves ½": 40,
    "IVa is o(1)": 150,
    "IVb starts": 150,
    "IVb ends": 300,
    "IVc starts": 300,
    "IVc ends": 600,
}
"""The step at which each boundary is crossed."""

TABLE_1 = pd.DataFrame(
    [[486, 1, 0, 25], [244, 4, 9, 250], [223, 10, 4, 221], [37, 2, 3, 481]],
    index=list(SIGN_GROUPS),
    columns=list(SIGN_GROUPS),
)
"""Pairs (s, i) by their signs at t = 0 (rows) and t = 10 (columns)."""
