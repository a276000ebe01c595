from tests.results.fixtures import evidence_dir, object_storage, program, real_reader, seaweed, small_disk, stand_in
from tests.webapp.people import as_user, connection_queries, exemplar, otto, rita, vera

__all__ = [
    "as_user", "connection_queries", "evidence_dir", "exemplar", "object_storage", "otto", "program", "real_reader",
    "rita", "seaweed", "small_disk", "stand_in", "vera",
]  # fmt: skip
