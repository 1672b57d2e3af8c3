"""What the authors' own slides state, to be shown beside what a run gives."""

import pandas as pd

TIMES = {
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

_GROUPS = ["K+,Q+", "K+,Q-", "K-,Q+", "K-,Q-"]

TABLE_1 = pd.DataFrame(
    [[486, 1, 0, 25], [244, 4, 9, 250], [223, 10, 4, 221], [37, 2, 3, 481]],
    index=_GROUPS,
    columns=_GROUPS,
)
"""Sign alignment between query and key noise, t = 0 (rows) and t = 10 (columns)."""
