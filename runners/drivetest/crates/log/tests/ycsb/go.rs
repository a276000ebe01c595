use crate::support;
#[test]
fn eyeball() {
    for case in support::go_cases() {
        let r = case.read();
        for run in &r.ycsb_runs {
            println!(
                "{} {:?} {:?} ph {:?} wl {:?} b {:?} thr {:?} done {:?}/{:?} fail {:?} m {:?} rt {:?} tp {:?} int {} ops {:?}",
                case.name,
                run.validity.outcome,
                run.stop,
                run.phase,
                run.workload,
                run.binding,
                run.threads_count,
                run.done_ops_count,
                run.operation_count,
                run.failed_ops_count,
                run.measurement,
                run.runtime_ms,
                run.throughput_ops_per_s,
                run.intervals.len(),
                run.operations
                    .iter()
                    .map(|o| format!("{}-{} {:?}", o.name, o.outcome, o.ops_count))
                    .collect::<Vec<_>>()
            );
            for f in &run.findings {
                if !matches!(
                    f.id,
                    "means-truncated" | "service-times-alone" | "percentile-of-few-samples"
                ) {
                    println!("   {:?} {} {:?} {}", f.severity, f.id, f.line, f.sentence);
                }
            }
        }
        if r.ycsb_runs.is_empty() {
            println!("{} NONE {:?}", case.name, r.error.map(|e| e.sentence));
        }
        for f in &r.findings {
            println!("   FILE {} {:?} {}", f.id, f.line, f.sentence);
        }
    }
}
