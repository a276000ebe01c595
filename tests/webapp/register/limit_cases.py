"""Cases of results under the profile and under a reader's limits, for every implementation of the evaluation.

The profile allows 5 % over 1 ms, the reader 7 %. A case is the verdict's outcome (empty: no log), whether the verdict
gives reasons other than shares, the share over 1 ms, and whether it passes under the profile and the reader's limits.
"""

PROFILE_PCT, OWN_PCT = "5", "7"
CASES = [
    ("", False, "4", True, True),
    ("", False, "6", False, True),
    ("", False, "8", False, False),
    ("pass", False, "4", True, True),
    ("fail", False, "6", False, True),
    ("fail", False, "7", False, True),
    ("fail", False, "8", False, False),
    ("fail", True, "6", False, False),
    ("fail", True, "4", False, False),
    ("undecided", True, "4", False, False),
    ("void", True, "4", False, False),
]
