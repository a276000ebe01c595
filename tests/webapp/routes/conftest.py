from tests.results.fixtures import evidence_dir, program, stand_in

__all__ = ["evidence_dir", "program", "stand_in"]
