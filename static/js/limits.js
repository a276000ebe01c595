// The comparison of a share with a limit, on whole numbers: the answers of the reader (Rust) and of results/rules/act/limits.py,
// which tests/data/verdict_vectors.jsonl holds. Counts may pass 2^53, so they are BigInt or digits as text; numbers below that.
const BUCKETS_COUNT = 65; // ACT's histogram.h: 0 to 64
const US_PER_UNIT = {us: 1n, ms: 1000n};

function whole(count) {
  if (typeof count === 'number' && !Number.isSafeInteger(count)) {
    throw new RangeError(`count: expected a whole number below 2^53 or text, got ${count}`);
  }
  const exact = BigInt(count);
  if (exact < 0n) throw new RangeError(`count: expected 0 or more, got ${count}`);
  return exact;
}

// A decimal such as '0.10' as [10n, 100n]: no digit is lost, and none is added.
function fraction(decimal) {
  const found = /^(\d+)(?:\.(\d+))?$/.exec(decimal);
  if (!found) throw new RangeError(`limit: expected a decimal of 0 or more, got '${decimal}'`);
  const [, integer, digits = ''] = found;
  return [BigInt(integer + digits), 10n ** BigInt(digits.length)];
}

/** Whether at most limitPct (text, '0.1') percent of the operations were over; a share equal to its limit is within it. */
export function isCountWithin(overCount, opsCount, limitPct) {
  const [numerator, denominator] = fraction(limitPct);
  return whole(overCount) * 100n * denominator <= numerator * whole(opsCount);
}

/** A percentage as text ('4.98') in billionths of a percent, exactly; the register stores shares to nine places. */
export function billionths(percent) {
  const found = /^(\d{1,3})(?:\.(\d{1,9}))?$/.exec(percent);
  if (!found) throw new RangeError(`percentage: expected a decimal with at most nine places, got '${percent}'`);
  return Number(found[1] + (found[2] ?? '').padEnd(9, '0')); // at most 999 * 10^9, below 2^53
}

/** Return whether a share is within a limit; both are percentages as text, compared exactly. */
export function isShareWithin(sharePct, limitPct) {
  return billionths(sharePct) <= billionths(limitPct);
}

/** Share / limit as [numerator, denominator], by which violations are ordered; null without operations or to a limit of 0. */
export function excessRatio(overCount, opsCount, limitPct) {
  const [numerator, denominator] = fraction(limitPct);
  const ops = whole(opsCount);
  return ops === 0n || numerator === 0n ? null : [whole(overCount) * 100n * denominator, numerator * ops];
}

/** The share, percent, with two places as ACT prints it, for display alone; null without operations. */
export function printedShare(overCount, opsCount) {
  const over = whole(overCount), ops = whole(opsCount);
  return ops === 0n ? null : roundHalfEven(Number(over) * 100 / Number(ops));
}

// ACT rounds the double that the division gives, exactly as it is, half to even; toFixed sends true halves up instead.
// A double is a true half of two places only where it is an odd number of eighths (0.125): all others lie to one side.
function roundHalfEven(percent) {
  const up = percent.toFixed(2);
  const isHalf = percent * 8 % 2 === 1;
  return isHalf && Number(up.at(-1)) % 2 === 1 ? (percent - 0.005).toFixed(2) : up;
}

/** The operations in firstBucket or above, as a BigInt. */
export function overCount(counts, opsCount, firstBucket) {
  return counts.slice(0, firstBucket).reduce((left, count) => left - whole(count), whole(opsCount));
}

/** The edge at which a threshold is read, the least not below it, and the greatest not above it: buckets, and us as BigInt. */
export function edgesOf(thresholdUs, unit, isFirstVersion = false) {
  const wanted = whole(thresholdUs);
  const edges = bucketEdges(unit, isFirstVersion);
  const at = edges.findIndex(edge => edge >= wanted);
  if (at < 0) throw new RangeError(`threshold: expected one that ${unit} buckets reach, got ${thresholdUs} us`);
  const below = edges[at] === wanted ? at : at - 1;
  return {bucket: at, readAtUs: edges[at], bucketBelow: below, belowUs: edges[below]};
}

// Bucket b > 0 begins at 2^(b-1) units; in ACT 1.x, which counts whole milliseconds, at 2^b ms.
function bucketEdges(unit, isFirstVersion) {
  const scale = US_PER_UNIT[unit];
  if (!scale || (isFirstVersion && unit !== 'ms')) {
    throw new RangeError(`unit: expected us or ms (ms in ACT 1.x), got '${unit}'`);
  }
  const first = isFirstVersion ? 0 : 1;
  return Array.from({length: BUCKETS_COUNT}, (_, bucket) => bucket === 0 ? 0n : (1n << BigInt(bucket - first)) * scale);
}
