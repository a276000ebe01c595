"""The process for clients of the API that wait for a change, by long poll or event stream. They occupy no thread."""
