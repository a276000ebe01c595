"""The snapshot and the dumps of a web machine, kept by a process of their own."""

from webapp.management.commands import snapshot


def test_an_error_of_the_snapshot_leaves_the_dump_and_the_next_round(monkeypatch):
    rounds = []

    def fail():
        rounds.append("snapshot")
        raise RuntimeError("no database")

    monkeypatch.setattr(snapshot.updates, "update_snapshot", fail)
    monkeypatch.setattr(snapshot, "write_due", lambda: rounds.append("dump"))
    monkeypatch.setattr(snapshot, "close_old_connections", lambda: None)
    snapshot.keep_once()
    snapshot.keep_once()
    assert rounds == ["snapshot", "dump"] * 2
