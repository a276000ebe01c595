from tests.results.fixtures import evidence_dir, program, real_reader, stand_in

__all__ = ["evidence_dir", "program", "real_reader", "stand_in"]
