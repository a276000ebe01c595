from tests.results.fixtures import evidence_dir, program, real_reader, stand_in
from tests.webapp.people import connection_queries

__all__ = ["connection_queries", "evidence_dir", "program", "real_reader", "stand_in"]
