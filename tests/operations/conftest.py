from tests.results.fixtures import evidence_dir

__all__ = ["evidence_dir"]
