from tests.results.fixtures import evidence_dir, real_reader

__all__ = ["evidence_dir", "real_reader"]
