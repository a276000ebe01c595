"""What /ycsb/ shows: the publications, and the loads that the register has sweeps of."""

from collections.abc import Sequence
from dataclasses import dataclass

from results.models import PublishedClaim
from webapp.register.ycsb.figures import by_publication
from webapp.register.ycsb.loads import LoadLine, load_lines
from webapp.register.ycsb.publication_page import PublicationPage, publication_page


@dataclass(frozen=True)
class Overview:
    """Everything that /ycsb/ shows."""

    publications: Sequence[PublicationPage]
    loads: Sequence[LoadLine]

    @property
    def figures_count(self) -> int:
        """How many published figures there are."""
        return sum(page.figures_count for page in self.publications)


def overview() -> Overview:
    """Return the overview, in three queries whatever the number of figures, claims and runs."""
    claims = list(PublishedClaim.objects.order_by("pk"))
    pages = [
        publication_page(figures, [claim for claim in claims if claim.publication == figures.publication])
        for figures in by_publication()
    ]
    return Overview(pages, load_lines())
