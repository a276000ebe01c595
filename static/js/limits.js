// The comparison of a share with a limit, on whole numbers: the answers of the reader (Rust) and of results/rules/act/limits.py,
// which tests/data/verdict_vectors.jsonl holds. Counts may pass 2^53, so they are BigInt or digits as text; numbers below that.

function whole(count) {
  if (typeof count === 'number' && !Number.isSafeInteger(count)) {
    throw new RangeError(`count: expected a whole number below 2^53 or text, got ${count}`);
  }
  const exact = BigInt(count);
  if (exact < 0n) throw new RangeError(`count: expected 0 or more, got ${count}`);
  return exact;
}

/** Whether at most limitPct (text, '0.1') percent of the operations were over; a share equal to its limit is within it. */
export function isCountWithin(overCount, opsCount, limitPct) {
  return whole(overCount) * 100n * 10n ** 9n <= BigInt(billionths(limitPct)) * whole(opsCount);
}

/** A percentage as text ('4.98') in billionths of a percent, exactly; the register stores shares to nine places. */
export function billionths(percent) {
  const found = /^(\d{1,3})(?:\.(\d{1,9}))?$/.exec(percent);
  if (!found) throw new RangeError(`percentage: expected a decimal with at most nine places, got '${percent}'`);
  return Number(found[1] + (found[2] ?? '').padEnd(9, '0')); // at most 999 * 10^9, below 2^53
}
