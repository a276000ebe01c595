//! The figures of a run for people, also of a run that ended early.

use std::fmt::{Display, Formatter, Result};

use super::rounded::{Rounded, rate};
use super::side::{ErrorCount, Over, Percentiles, over};
use super::worst::{Hottest, Slowest, Worst};
use crate::clock::Nanos;
use crate::schedule::stream::ActHistogram;
use crate::stats::collector::RunEnd;
use crate::stats::histogram::Histogram;
use crate::stats::operation_stats::{OperationStats, times_of};

/// Requests waited in a queue if their response time exceeds the service time by this factor.
const QUEUE_RATIO: u64 = 2;

/// Shorter response times are wake-up delays of the host.
const QUEUE_LEAST: Nanos = Nanos::from_ms(1);

/// Width of the longest row name: `large-block-writes generator lateness`.
const NAME_WIDTH: usize = 38;

/// The figures of a run: tables, and warnings about errors, queues, heat and the host.
pub struct Summary {
    /// Totals and extremes.
    pub end: RunEnd,
    /// Replaces the limits of the drives.
    pub limit_celsius: Option<f64>,
}

impl Summary {
    /// Returns the number of reads, and how many of them took 1, 8 and 64 ms or more after submission.
    pub fn reads(&self) -> (u64, Over) {
        let service = times_of(&self.end.totals.operation_stats, ActHistogram::Reads, |stats| {
            &stats.total.service
        });
        (service.count(), over(&service))
    }

    /// Returns whether the rates were sustained, as a sentence. None if that is unknown.
    pub fn rates_sentence(&self) -> Option<String> {
        let check = self.end.totals.rate_check.as_ref()?;
        Some(match (check.sentence.is_empty(), check.is_sustained) {
            (true, _) => "the rates were sustained".to_owned(),
            (false, true) => format!("the rates were sustained after a pause: {}", check.sentence),
            (false, false) => format!("THE RATES WERE NOT SUSTAINED: {}", check.sentence),
        })
    }

    fn rates(&self, out: &mut Formatter<'_>) -> Result {
        writeln!(
            out,
            "\n{:<20}{:>16}{:>16}{:>16}",
            "per second", "requested", "achieved", "completed"
        )?;
        for stats in &self.end.totals.operation_stats {
            let achieved = rate(stats.done_count, self.end.totals.elapsed);
            let (name, requested, count) = (stats.operation.name(), stats.requested_per_s, stats.done_count);
            writeln!(out, "{name:<20}{requested:>16.3}{achieved:>16}{count:>16}")?;
        }
        Ok(())
    }

    fn times(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "\n{:<NAME_WIDTH$}", "microseconds")?;
        for heading in ["p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max", "mean"] {
            write!(out, "{heading:>11}")?;
        }
        writeln!(out)?;
        for stats in &self.end.totals.operation_stats {
            let (operation, total) = (stats.operation.name(), &stats.total);
            let rows = [
                ("service", &total.service),
                ("response", &total.response),
                ("lateness", &total.lateness),
                ("backlog", &total.backlog),
                ("generator lateness", &total.generator_lateness),
            ];
            rows.iter()
                .try_for_each(|(name, times)| time_row(out, operation, name, times))?;
        }
        Ok(())
    }

    /// Returns the warnings about errors, queues, heat and the host.
    pub fn warnings(&self) -> Vec<String> {
        let RunEnd { totals, worst, .. } = &self.end;
        let mut found: Vec<_> = totals.errors.iter().map(error).collect();
        found.extend(worst.slowest.map(slowest));
        found.extend(totals.operation_stats.iter().filter_map(queue));
        let hottest = worst.hottest.as_ref();
        found.extend(hottest.and_then(|hottest| hot(hottest, self.limit_celsius)));
        let busy = "the processors were over 90 % busy";
        found.extend(intervals(worst.busy_count, worst, busy));
        let stolen = "the hypervisor took more than 1 % of the processor time for other machines";
        found.extend(intervals(worst.stolen_count, worst, stolen));
        found
    }
}

impl Display for Summary {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        self.rates(out)?;
        self.times(out)?;
        self.warnings()
            .iter()
            .try_for_each(|warning| writeln!(out, "{warning}"))
    }
}

fn time_row(out: &mut Formatter<'_>, operation: &str, name: &str, times: &Histogram) -> Result {
    let found = Percentiles::of(times);
    write!(out, "{:<NAME_WIDTH$}", format!("{operation} {name}"))?;
    let all = [
        found.p50_ns,
        found.p90_ns,
        found.p99_ns,
        found.p999_ns,
        found.p9999_ns,
        found.p99999_ns,
        found.max_ns,
        found.mean_ns,
    ];
    all.iter().try_for_each(|ns| match ns {
        Some(ns) => write!(out, "{:>11.1}", *ns as f64 / 1e3),
        None => write!(out, "{:>11}", "-"),
    })?;
    writeln!(out)
}

fn error(error: &ErrorCount) -> String {
    let ErrorCount {
        device,
        operation,
        errno,
        count,
        is_early_end,
    } = error;
    match is_early_end {
        true => format!("ERRORS: {device}: {count} {operation} ended early"),
        false => format!("ERRORS: {device}: {count} {operation} failed with errno {errno}"),
    }
}

fn slowest(slowest: Slowest) -> String {
    let Slowest {
        label_s,
        response,
        late_count,
        count,
    } = slowest;
    format!(
        "worst interval: the one to {label_s} s; its slowest read completed {:.3} ms after it was due, {late_count} of {count} after 64 ms or more",
        response.0 as f64 / 1e6
    )
}

/// Describes requests that waited before submission, and the main part of that wait.
fn queue(stats: &OperationStats) -> Option<String> {
    let p999 = |times: &Histogram| times.percentile(99_900);
    let (service, response) = (p999(&stats.total.service)?, p999(&stats.total.response)?);
    let is_queue = response >= QUEUE_LEAST && response.0 >= service.0.saturating_mul(QUEUE_RATIO);
    let late = |times: &Histogram| times.at_or_over(Nanos::from_ms(64));
    let mean = |times: &Histogram| times.mean().unwrap_or_default();
    let main_part = match mean(&stats.total.backlog) > mean(&stats.total.generator_lateness) {
        true => "backlog: the device had no free slot",
        false => "generator lateness: the program submitted them late",
    };
    is_queue.then(|| {
        format!(
            "QUEUE: {}: the p99.9 of the response time is {:.3} ms, that of the service time {:.3} ms; {} requests \
             had a response time of 64 ms or more, {} a service time of 64 ms or more; most of the wait is {main_part}",
            stats.operation.name(),
            response.0 as f64 / 1e6,
            service.0 as f64 / 1e6,
            late(&stats.total.response),
            late(&stats.total.service)
        )
    })
}

fn hot(hottest: &Hottest, limit_celsius: Option<f64>) -> Option<String> {
    let Hottest { disk, celsius, .. } = hottest;
    let limit = limit_celsius.or(hottest.limit_celsius.map(Rounded::value))?;
    (celsius.value() >= limit).then(|| {
        format!(
            "HOT: {disk} reached {celsius} C; its limit is {limit:.1} C, and drives above their limit throttle themselves"
        )
    })
}

fn intervals(count: u64, worst: &Worst, what: &str) -> Option<String> {
    (count > 0).then(|| format!("HOST: in {count} of {} intervals {what}", worst.intervals_count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::report::side::RunTotals;
    use crate::schedule::stream::streams;
    use crate::stats::rate_check::{RateCheck, RateVerdict};

    fn reads(service_us: u64, response_us: u64) -> OperationStats {
        let text = "device-names: a\ntest-duration-sec: 1\nread-reqs-per-sec: 1000";
        let mut stats =
            OperationStats::of(&streams(&Config::read(text, 1).unwrap().0, Nanos::from_s(1), 1, None)[0]);
        for _ in 0..1_000 {
            stats.total.service.record(Nanos(service_us * 1_000));
            stats.total.response.record(Nanos(response_us * 1_000));
            let lateness = Nanos((response_us - service_us) * 1_000);
            stats.total.lateness.record(lateness);
            stats.total.backlog.record(Nanos(0));
            stats.total.generator_lateness.record(lateness);
        }
        stats.done_count = 1_000;
        stats
    }

    fn run_end(stats: OperationStats, is_sustained: bool) -> RunEnd {
        let check = RateCheck {
            is_sustained,
            verdict: RateVerdict::BelowRequested,
            sentence: if is_sustained { "" } else { "reads: too few" }.to_owned(),
            missed: vec![],
        };
        RunEnd {
            stop_reason: None,
            totals: RunTotals {
                elapsed: Nanos::from_s(1),
                operation_stats: vec![stats],
                rate_check: Some(check),
                ..RunTotals::default()
            },
            worst: Worst::default(),
        }
    }

    fn summary(end: RunEnd) -> Summary {
        Summary {
            end,
            limit_celsius: None,
        }
    }

    #[test]
    fn a_good_run_has_rates_and_times_and_no_warning() {
        let found = summary(run_end(reads(80, 90), true));
        assert_eq!(
            found.rates_sentence(),
            Some("the rates were sustained".to_owned())
        );
        let text = found.to_string();
        let expected = "\n\
            per second                 requested        achieved       completed\n\
            reads                       1000.000        1000.000            1000\n\n";
        assert!(text.starts_with(expected), "{text}");
        let response = "reads response                               90.0       90.0       90.0       90.0          -          -       90.0       90.0\n";
        assert!(text.contains(response), "{text}");
        assert!(text.ends_with('\n') && text.lines().count() == 10, "{text}");
    }

    #[test]
    fn a_rate_that_was_not_sustained_is_in_capitals() {
        let sentence = summary(run_end(reads(80, 90), false)).rates_sentence();
        assert_eq!(
            sentence,
            Some("THE RATES WERE NOT SUSTAINED: reads: too few".to_owned())
        );
    }

    #[test]
    fn a_queue_is_a_response_time_of_twice_the_service_time_and_a_millisecond() {
        let has_queue = |service, response| {
            let text = summary(run_end(reads(service, response), true)).to_string();
            text.contains("QUEUE: reads")
        };
        assert_eq!(
            [has_queue(600, 1_100), has_queue(100, 900), has_queue(500, 1_010)],
            [false, false, true]
        );
    }

    #[test]
    fn a_queue_has_the_larger_part_of_the_lateness_as_its_cause() {
        let mut found = summary(run_end(reads(500, 3_000), true));
        assert!(
            found
                .to_string()
                .contains("most of the wait is generator lateness: the program submitted them late\n")
        );
        let total = &mut found.end.totals.operation_stats[0].total;
        std::mem::swap(&mut total.backlog, &mut total.generator_lateness);
        let text = found.to_string();
        assert!(
            text.contains("most of the wait is backlog: the device had no free slot\n"),
            "{text}"
        );
    }

    #[test]
    fn errors_and_heat_are_listed_by_device() {
        let mut end = run_end(reads(80, 90), true);
        end.totals.errors.push(ErrorCount {
            device: "/dev/a".to_owned(),
            operation: "reads",
            errno: 5,
            is_early_end: false,
            count: 3,
        });
        end.worst.hottest = Some(Hottest {
            disk: "nvme0n1".to_owned(),
            celsius: Rounded::new(70.0, 1).unwrap(),
            limit_celsius: Rounded::new(82.0, 1),
        });
        let mut found = summary(end);
        let text = found.to_string();
        assert!(
            text.contains("ERRORS: /dev/a: 3 reads failed with errno 5\n"),
            "{text}"
        );
        assert!(!text.contains("HOT"), "{text}");
        found.limit_celsius = Some(70.0);
        let limited = found.to_string();
        assert!(
            limited.contains("HOT: nvme0n1 reached 70.0 C; its limit is 70.0 C"),
            "{limited}"
        );
    }
}
