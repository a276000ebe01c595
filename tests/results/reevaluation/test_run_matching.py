import pytest

from results.reevaluation.run_matching import Place, match_places


def places(*lines):
    return [Place("", first, last, ordinal) for ordinal, (first, last) in enumerate(lines)]


@pytest.mark.parametrize(
    ("earlier", "found", "matched"),
    [
        ([(2, 100)], [(1, 100)], {0: 0}),
        ([(2, 100)], [(1, 40), (41, 100)], {0: 1}),
        ([(1, 40), (41, 100)], [(1, 100)], {1: 0}),
        ([(1, 40), (41, 100)], [(41, 100), (1, 40)], {0: 1, 1: 0}),
        ([(1, 40)], [(41, 100)], {}),
        ([(1, 40)], [(40, 100)], {0: 0}),
        ([(1, 40)], [], {}),
    ],
)
def test_runs_are_told_by_their_lines(earlier, found, matched):
    assert match_places(places(*earlier), places(*found)) == matched


def test_where_lines_are_unknown_the_ordinal_decides():
    assert match_places(places((0, 0), (0, 0)), places((1, 9), (10, 20))) == {0: 0, 1: 1}


def test_members_of_an_archive_are_never_mixed_up():
    assert match_places([Place("a.log", 1, 9, 0)], [Place("b.log", 1, 9, 0)]) == {}
