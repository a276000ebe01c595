"""The process that lets clients of the API wait: one long poll or stream of events each, without a thread of its own."""
