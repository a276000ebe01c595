//! `--dry-run` of a load: configuration, devices, rates and engine, as text or as `drivecert.load-plan/1`.

use std::path::Path;

use drivetest_load::config::{Config, echo};
use drivetest_load::engine::EngineSelection;
use drivetest_load::host::Host;
use drivetest_load::preview::{Preview, PreviewDevice};
use drivetest_load::report::header::engine_text;
use serde_json::{Value, json};

use super::identify::identity_text;
use crate::size;

/// A load that is described instead of started.
pub struct DryRun<'a> {
    /// Path of the configuration.
    pub config_path: &'a Path,
    /// Warnings about the configuration.
    pub config_warnings: &'a [String],
    /// The configuration.
    pub config: &'a Config,
    /// What the load would do.
    pub preview: &'a Preview,
    /// The host.
    pub host: &'a Host,
    /// File of the log. None is standard output.
    pub log: Option<&'a Path>,
    /// The side file.
    pub side_file: Option<&'a Path>,
}

impl DryRun<'_> {
    /// Returns the description as `drivecert.load-plan/1`.
    pub fn document(&self) -> Value {
        let preview = self.preview;
        let path = |path: &Path| path.display().to_string();
        let key = |(name, value): (&'static str, String)| json!({"name": name, "value": value});
        let engine = |selection: &EngineSelection| {
            let engine = selection.engine;
            json!({"name": engine.name(), "workers": engine.workers(), "reason": selection.reason})
        };
        let rates = preview.rates.iter();
        let rates = rates.map(|(operation, rate)| {
            json!({"operation": operation.name(), "per_s": format!("{:.6}", rate.per_s())})
        });
        json!({
            "schema": "drivecert.load-plan/1",
            "load": self.config.model.name(),
            "would_start": preview.refusal.is_none(),
            "refusal": preview.refusal,
            "config": {
                "path": path(self.config_path),
                "keys": self.config.entries().into_iter().map(key).collect::<Vec<_>>(),
                "warnings": self.config_warnings,
            },
            "duration_s": self.config.length_s(),
            "rates": rates.collect::<Vec<_>>(),
            "devices": preview.devices.iter().map(device_document).collect::<Vec<_>>(),
            "engine": preview.selection.as_ref().map(engine),
            "warnings": preview.warnings,
            "log": self.log.map(path),
            "side_file": self.side_file.map(path),
            "host": self.host,
        })
    }

    /// Returns the description for people.
    pub fn text(&self) -> String {
        let preview = self.preview;
        let load = self.config.model.name();
        let begin = match &preview.refusal {
            None => format!("dry run of {load}: the load would start\n"),
            Some(refusal) => format!("dry run of {load}: the load would be refused: {refusal}\n"),
        };
        let devices: String = preview
            .devices
            .iter()
            .map(|device| self.device_text(device))
            .collect();
        let rates = preview.rates.iter();
        let rates: Vec<_> = rates
            .map(|(operation, rate)| format!("{} {:.3}", operation.name(), rate.per_s()))
            .collect();
        let engine = preview.selection.as_ref().map(engine_text);
        let length_s = self.config.length_s();
        let (hours, minutes, seconds) = (length_s / 3_600, length_s / 60 % 60, length_s % 60);
        let warnings = preview.warnings.iter();
        let warnings: String = warnings
            .map(|warning| format!("warning: {} ({})\n", warning.sentence, warning.id))
            .collect();
        let file = |path: Option<&Path>, none: &str| {
            path.map_or_else(|| none.to_owned(), |path| path.display().to_string())
        };
        format!(
            "{begin}nothing was written\n\n{}devices\n{devices}\
             requests per second, all devices together\n  {}\n\
             duration: {hours}:{minutes:02}:{seconds:02}\nengine: {}\n{warnings}\
             log: {}\nside file: {}\n",
            echo(self.config),
            rates.join(", "),
            engine.unwrap_or_else(|| "selected when all devices are open".to_owned()),
            file(self.log, "standard output"),
            file(self.side_file, "none"),
        )
    }

    fn device_text(&self, device: &PreviewDevice) -> String {
        let PreviewDevice { path, refusal, .. } = device;
        let (known, refusals) = match &device.identity {
            Some(identity) => (identity_text(identity), identity.refusals.as_slice()),
            None if refusal.is_some() => (format!("{path}\n"), [].as_slice()),
            None => {
                let size = size::exact_text(u64::from(self.config.file_size_mib) << 20);
                let text = format!("{path}: does not exist yet; the load would create it with {size}\n");
                (text, [].as_slice())
            }
        };
        let indented: String = known.lines().map(|line| format!("  {line}\n")).collect();
        // The text of the identity contains its own refusals.
        let further = refusal
            .as_ref()
            .filter(|&one| refusals.iter().all(|known| known.sentence != *one));
        indented + &further.map_or_else(String::new, |one| format!("    refused: {one}\n"))
    }
}

fn device_document(device: &PreviewDevice) -> Value {
    json!({
        "path": device.path,
        "identity": serde_json::to_value(&device.identity).unwrap_or_default(),
        "size_bytes": device.size_bytes,
        "minimum_io_bytes": device.minimum_io_bytes,
        "refusal": device.refusal,
    })
}
