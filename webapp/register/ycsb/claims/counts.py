"""The counts of claims by outcome, and the words for them that home, the list of claims and news share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from results.rules.plural import counted, listed
from results.rules.ycsb.statements import Outcome
from webapp.register.ycsb.claims.entries import ClaimEntry
from webapp.templatetags import units

# The words for one and for several claims of each outcome.
WORDS: Mapping[Outcome, tuple[str, str]] = {
    Outcome.CONTRADICTED: ("contradicts its own table", "contradict their own table"),
    Outcome.IMPOSSIBLE_INPUT: ("uses an impossible result", "use an impossible result"),
    Outcome.CONFIRMED: ("is confirmed", "are confirmed"),
    Outcome.FROM_CHART: ("is read from a chart", "are read from a chart"),
    Outcome.UNCHECKED: ("cannot be checked", "cannot be checked"),
}
# The publication prints all figures that decide these claims.
CHECKED = (Outcome.CONTRADICTED, Outcome.IMPOSSIBLE_INPUT, Outcome.CONFIRMED)


@dataclass(frozen=True)
class ClaimCounts:
    """How many claims have each outcome."""

    by_outcome: Mapping[Outcome, int]

    @property
    def total(self) -> int:
        """Return the number of claims."""
        return sum(self.by_outcome.values())

    @property
    def checked(self) -> int:
        """Return the number of claims that were compared with printed figures of their own publication."""
        return sum(self.by_outcome.get(outcome, 0) for outcome in CHECKED)

    @property
    def split(self) -> str:
        """Return how many claims have each outcome, as a list in words."""
        parts = [
            f"{units.count(number)} {words[number != 1]}"
            for outcome, words in WORDS.items()
            if (number := self.by_outcome.get(outcome, 0))
        ]
        return listed(parts)


def count_claims(found: Sequence[ClaimEntry]) -> ClaimCounts:
    """Return the counts of some claims."""
    return ClaimCounts(Counter(entry.outcome for entry in found))


def claims_sentence(found: Sequence[ClaimEntry]) -> str:
    """Return how many claims of how many publications there are, and how they are split by outcome."""
    publications = counted(len({entry.slug for entry in found}), "publication")
    return f"{counted(len(found), 'claim')} in {publications}: {count_claims(found).split}."
