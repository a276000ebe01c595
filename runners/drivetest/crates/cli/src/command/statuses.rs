//! The exit statuses of the commands, as the manual tells them.

/// An exit status and what it means.
pub type Status = (u8, &'static str);

/// Exit statuses of each command, as docs/formats.md has them.
pub const STATUSES: &[(&[&str], &[Status])] = &[
    (
        &["storage", "index"],
        &[
            (
                0,
                "the load ran its whole time; whether its rates were held is told by the summary, the log and the side file",
            ),
            (2, "refused: a device is not safe to use; nothing was written"),
            (3, "a device failed"),
            (4, "the drive, or the host, cannot keep up with the load"),
            (5, "ended by a signal, or the log could not be written"),
        ],
    ),
    (
        &["prep"],
        &[
            (0, "everything was written and, if asked, the rate is steady"),
            (1, "everything was written, the rate did not become steady"),
            (
                2,
                "refused: a device is not safe to use, or not the one begun with; nothing was written",
            ),
            (3, "a write failed"),
            (
                5,
                "ended by a signal, or log or state could not be written; the state is kept",
            ),
        ],
    ),
    (&["read", "latency"], &[(0, "read"), (3, "cannot be read")]),
    (
        &["check"],
        &[
            (0, "pass; for YCSB: valid"),
            (1, "fail; for YCSB: invalid"),
            (2, "undecided or void"),
            (3, "cannot be read"),
        ],
    ),
    (
        &["start"],
        &[
            (0, "started, or was already"),
            (2, "refused: the drive is busy, or the generation older"),
            (3, "cannot start"),
        ],
    ),
    (
        &["remove"],
        &[
            (0, "nothing of it is left"),
            (2, "it stays: something of it runs, or its drive is held"),
            (3, "cannot be removed"),
        ],
    ),
    (
        &["watch"],
        &[
            (0, "the program beside it ended well, or the drive came to rest"),
            (1, "the program beside it failed"),
            (
                2,
                "refused: the program is not allowed, or the drive not the expected one, in use, or not empty",
            ),
            (3, "cannot start the program, or cannot read what the host tells"),
            (5, "ended by a signal"),
        ],
    ),
    (
        &["status", "stop", "identify", "keys", "host"],
        &[(0, "answered"), (3, "cannot be answered")],
    ),
];
