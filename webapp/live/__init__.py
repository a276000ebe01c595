"""The process of clients of the API that wait: by long poll or stream of events, without a thread of their own."""
