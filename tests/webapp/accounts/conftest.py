from tests.results.fixtures import evidence_dir, program, real_reader, stand_in
from tests.webapp.people import as_user, connection_queries, exemplar, otto, rita, vera

__all__ = [
    "as_user", "connection_queries", "evidence_dir", "exemplar", "otto", "program", "real_reader", "rita", "stand_in",
    "vera",
]  # fmt: skip
