"""Invented drives for the planner: the outcome of a run on each, and whole campaigns."""

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from runners.campaigns.planner import Pause, Run, Wait, next_step
from runners.campaigns.terms import Outcome, Purpose, Result, Terms

SMALL = Terms(max_nx=Decimal(400), with_prep=False, confirmations_max=100)
STEPS_MAX = 500


@dataclass(frozen=True)
class Drive:
    """A drive that passes screening up to one load, passes a day up to a second load, and sustains a third one."""

    screening_nx: Decimal
    load_nx: Decimal
    keeps_up_nx: Decimal = Decimal(10**9)

    def result(self, purpose, nx):
        if nx is None:
            return Result.PASSED
        if nx > self.keeps_up_nx:
            return Result.OVERLOADED
        limit = {Purpose.SCREENING: self.screening_nx, Purpose.LOAD: self.load_nx, Purpose.STRESS: nx}[purpose]
        return Result.PASSED if nx <= limit else Result.FAILED


def steady(nx):
    return Drive(Decimal(nx), Decimal(nx))


def outcome(purpose, nx, result, number=1, **more):
    load = None if nx is None else Decimal(nx)
    return Outcome(f"d-{number}", Purpose(purpose), load, Result(result), 60, number * 100_000, **more)


def near_limit(purpose, nx, result, number=1):
    """Return an outcome whose worst share differs by 1 % from its limit."""
    margin = Fraction(1, 100) * (1 if result == "passed" else -1)
    return outcome(purpose, nx, result, number, margin=margin)


def climb(terms, drive, outcomes=(), now_s=0):
    """Return the last step of a campaign on a drive, and all its outcomes."""
    past = list(outcomes)
    for _ in range(STEPS_MAX):
        step = next_step(terms, past, now_s)
        if isinstance(step, Wait):
            assert step.until_s > now_s
            now_s = step.until_s
        elif isinstance(step, Run):
            now_s += step.duration_s or 0
            past.append(answered(step, drive, len(past), now_s))
        else:
            assert not isinstance(step, Pause), step
            return step, past
    raise AssertionError(f"no end after {STEPS_MAX} steps")


def answered(step, drive, number, ended_s):
    run = Outcome(f"d-{number}", step.purpose, step.nx, Result.OPEN, step.duration_s, ended_s)
    return replace(run, result=drive.result(step.purpose, step.nx))
