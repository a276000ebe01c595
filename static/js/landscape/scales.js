// Scales of drawings: webapp/register/svg/scales.py in the browser. A scale returns the place of a value as a fraction from 0 to 1, and the value at a place.
const STEPS = [1, 2, 5], ROUNDING = 1e-9; // of a decade; a relative error that must not move an end by a step

function stepsOf(low, high, steps) {
  const found = [], last = Math.floor(Math.log10(high)) + 1;
  for (let decade = Math.floor(Math.log10(low)); decade <= last; decade += 1) for (const step of steps) found.push(Number(`${step}e${decade}`));
  return found;
}

/** Return the smallest step (1, 2 or 5 x 10^n) that is not below a value above 0. */
export const stepAtLeast = value => stepsOf(value / 10, value * 10, STEPS).find(step => step >= value * (1 - ROUNDING));
/** Return the largest step that is not above a value above 0. */
export const stepBelow = value => stepsOf(value / 10, value * 10, STEPS).findLast(step => step <= value * (1 + ROUNDING));

/** Return a scale on which equal differences have equal lengths. */
export function linearScale(low, high, ticksCount) {
  const ticks = () => {
    const step = stepAtLeast((high - low) / ticksCount), found = [];
    const last = Math.floor(high / step + ROUNDING);
    for (let number = Math.ceil(low / step - ROUNDING); number <= last; number += 1) found.push(Number((number * step).toPrecision(12)));
    return found;
  };
  return {low, high, ticks, place: value => (value - low) / (high - low), valueAt: place => low + place * (high - low)};
}

/** Return a scale on which equal ratios have equal lengths. */
export function logScale(low, high) {
  const ticks = () => stepsOf(low, high, high / low <= 1000 * (1 + ROUNDING) ? STEPS : STEPS.slice(0, 1)).filter(value => low <= value && value <= high);
  return {low, high, ticks, place: value => Math.log(value / low) / Math.log(high / low), valueAt: place => low * (high / low) ** place};
}

/** Return the log scale that encloses two values and ends at steps. */
export function enclosingLogScale(low, high) {
  const first = stepBelow(low), last = stepAtLeast(high);
  return first === last ? logScale(stepBelow(first / STEPS[1]), stepAtLeast(last * STEPS[1])) : logScale(first, last);
}

/** Return a place in percent with two decimals, rounded half up. */
export const percent = place => Math.floor(place * 10000 + 0.5) / 100;
