"""An encoder of series, written from docs/reference/formats.md without the decoder's code."""

import struct

import zstandard

from results.models import Series


def number(value):
    """Return an unsigned LEB128 number, bit by bit."""
    groups = [value >> shift & 0x7F for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes(group | 0x80 for group in groups[:-1]) + bytes([groups[-1]])


def histogram(intervals):
    """Encode a histogram; each interval is a dict of bucket to count, or None if unknown."""
    gaps = []
    for place, counts in enumerate(intervals):
        if counts is None and (not gaps or sum(gaps[-1]) != place):
            gaps.append([place, 1])
        elif counts is None:
            gaps[-1][1] += 1
    known = [counts for counts in intervals if counts is not None]
    buckets = sorted({bucket for counts in known for bucket in counts})
    packed = number(len(gaps)) + b"".join(number(first) + number(length) for first, length in gaps)
    packed += number(len(buckets))
    for bucket in buckets:
        values = [struct.pack("<Q", counts.get(bucket, 0)) for counts in known]
        width = max(1, *(len(value.rstrip(b"\0")) for value in values))
        planes = b"".join(bytes(value[plane] for value in values) for plane in range(width))
        packed += number(bucket) + number(width) + planes
    return packed


def chunk(length, histograms):
    return number(length) + number(len(histograms)) + b"".join(histogram(each) for each in histograms)


def series(interval_s, start_s, count, encoding, content):
    return Series(interval_s=interval_s, start_s=start_s, intervals_count=count, encoding=encoding, packed=content)


def packed(chunks, *, interval_s=60, start_s=0, encoding="drivecert.series/1"):
    """Pack chunks: pairs of a number of intervals and, for each histogram, its intervals."""
    content = zstandard.ZstdCompressor(level=19).compress(b"".join(chunk(*each) for each in chunks))
    count = sum(length for length, _ in chunks)
    return series(interval_s, start_s, count, encoding, content)
