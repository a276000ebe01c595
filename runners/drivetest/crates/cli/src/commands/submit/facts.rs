//! The facts about a drive that the sender states, by the names of the API.

use drivetest_register::Refusal;
use serde_json::{Map, Value, json};

/// Facts that the files do not state. They replace those that the files state.
#[derive(clap::Args)]
#[command(next_help_heading = "Facts about the drive")]
pub struct Facts {
    /// Category of the product, such as nvme-flash; needed, because no file states it
    #[arg(long, value_name = "CODE")]
    category: Option<String>,
    /// Maker of the drive; needed if no side file states it
    #[arg(long, value_name = "TEXT")]
    vendor: Option<String>,
    /// Model of the drive; needed if no side file states it
    #[arg(long, value_name = "TEXT")]
    model: Option<String>,
    /// Part number of the drive
    #[arg(long, value_name = "TEXT")]
    part_number: Option<String>,
    /// Capacity of the drive in GB of 1,000,000,000 bytes
    #[arg(long, value_name = "GB")]
    capacity_gb: Option<u64>,
    /// Firmware version of the drive
    #[arg(long, value_name = "TEXT")]
    firmware: Option<String>,
    /// Over-provisioning: (physical - user) / user capacity in percent, with at most two decimals
    #[arg(long, value_name = "PERCENT")]
    over_provisioning_pct: Option<String>,
    /// Region of a cloud instance, as its provider names it
    #[arg(long, value_name = "TEXT")]
    region: Option<String>,
    /// Zone of a cloud instance, as its provider names it
    #[arg(long, value_name = "TEXT")]
    zone: Option<String>,
    /// Notes for reviewers and readers
    #[arg(long, value_name = "TEXT")]
    notes: Option<String>,
    /// Minute (UTC, YYYY-MM-DDTHH:MM) before which the result is not public
    #[arg(long, value_name = "MINUTE")]
    embargo_until: Option<String>,
}

impl Facts {
    /// Returns the stated facts.
    pub fn stated(&self) -> Map<String, Value> {
        let texts = [
            ("category", &self.category),
            ("vendor", &self.vendor),
            ("model", &self.model),
            ("part_number", &self.part_number),
            ("firmware", &self.firmware),
            ("over_provisioning_pct", &self.over_provisioning_pct),
            ("region", &self.region),
            ("zone", &self.zone),
            ("notes", &self.notes),
            ("embargo_until", &self.embargo_until),
        ];
        let texts = texts.into_iter();
        let mut stated: Map<_, _> = texts
            .filter_map(|(name, value)| Some((name.to_owned(), json!(value.as_ref()?))))
            .collect();
        if let Some(capacity_gb) = self.capacity_gb {
            stated.insert("capacity_gb".to_owned(), json!(capacity_gb));
        }
        stated
    }
}

/// Returns the message about a refusal. Fields are named by their options.
pub fn refusal_text(refusal: &Refusal) -> String {
    if refusal.fields.iter().all(|(name, _)| name.is_empty()) {
        return refusal.to_string();
    }
    let fields = refusal.fields.iter();
    let fields: Vec<_> = fields
        .map(|(name, detail)| match name.is_empty() {
            true => detail.clone(),
            false => format!("--{}: {detail}", name.replace('_', "-")),
        })
        .collect();
    fields.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_options() {
        let fields = vec![("part_number".to_owned(), "Too long.".to_owned())];
        let mut refusal = Refusal {
            status: 400,
            code: String::new(),
            detail: "Too long.".to_owned(),
            fields,
            is_of_register: true,
        };
        assert_eq!(refusal_text(&refusal), "--part-number: Too long.");
        refusal.fields.clear();
        assert_eq!(refusal_text(&refusal), "Too long. (status 400)");
    }
}
