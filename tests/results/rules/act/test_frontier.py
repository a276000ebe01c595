"""The frontier: the drives that no other drive of their group beats."""

import pytest

from results.rules.act.frontier import frontier


@pytest.mark.parametrize(
    ("drives", "on_it"),
    [
        ([(500, 2.0), (400, 1.0)], [1, 0]),
        ([(500, 2.0), (400, 2.0)], [0]),
        ([(500, 2.0), (400, 2.1)], [0]),
        ([(500, 2.0), (500, 1.9)], [1]),
        ([(500, 2.0), (500, 2.0)], [1, 0]),
        ([(500, 0.0), (400, 0.0), (600, 0.1)], [0, 2]),
        ([(500, 2.0)], [0]),
        ([], []),
    ],
)
def test_a_drive_is_on_the_frontier_unless_another_one_beats_it(drives, on_it):
    assert frontier([tps for tps, _ in drives], [share for _, share in drives]) == on_it


def test_the_frontier_is_that_of_comparing_every_pair():
    drives = [(tps, (tps * 7919) % 13) for tps in range(100, 180, 3)] + [(160, 3), (160, 3)]
    beaten = {
        place
        for place, (tps, share) in enumerate(drives)
        if any(
            other_tps >= tps and other_share <= share and (other_tps, other_share) != (tps, share)
            for other_tps, other_share in drives
        )
    }
    found = frontier([tps for tps, _ in drives], [share for _, share in drives])
    assert set(found) == set(range(len(drives))) - beaten
