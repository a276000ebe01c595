"""Scheduling of tests: those of a module go to one worker of pytest-xdist.

Otherwise each worker would make the fixtures of the module: servers, a generated client, a register with users.
"""

from xdist.scheduler import LoadGroupScheduling


class ModuleScheduling(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """Sends each group of tests to one worker, in the order of the collection: the conftest sorts long ones first."""

    def __init__(self, config, log=None):
        super().__init__(config, log)
        config.option.loadscopereorder = False  # by the number of tests

    def _split_scope(self, nodeid):
        """Return the group of a test: the one of its mark, or its module."""
        group = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if group == nodeid else group
