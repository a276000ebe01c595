"""Errors of backups and restores. Each message is for the operator."""


class BackupError(Exception):
    """The backup or the restore cannot be done, or cannot go on."""


class RepositoryFullError(BackupError):
    """The disk of the repository has no room. Earlier backups and the bytes that are complete remain."""


class SourceDamagedError(Exception):
    """The bytes of a source are missing or have another hash than their address; nothing was stored."""
