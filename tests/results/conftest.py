from tests.results.fixtures import (
    any_store,
    evidence_dir,
    object_storage,
    program,
    real_reader,
    seaweed,
    small_disk,
    stand_in,
)
from tests.webapp.people import connection_queries

__all__ = [
    "any_store",
    "connection_queries",
    "evidence_dir",
    "object_storage",
    "program",
    "real_reader",
    "seaweed",
    "small_disk",
    "stand_in",
]
