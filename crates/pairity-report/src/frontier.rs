//! Objective against violation for a range of bounds, and its JSON document of schema `pairity.frontier/1`.

use crate::comparison::{result_json, setup_json};
use pairity::run::{FrontierCurve, FrontierOutcome, FrontierPoint};
use serde_json::{Value, json};

/// The frontier as one JSON document.
pub fn frontier_json(report: &FrontierOutcome) -> Value {
    let point = |point: &FrontierPoint| {
        let mut value = result_json(&point.result);
        value["bound"] = json!(point.bound);
        value
    };
    let curve = |curve: &FrontierCurve| {
        let points: Vec<Value> = curve.points.iter().map(point).collect();
        json!({"method": curve.method, "points": points})
    };
    let curves = report.curves.iter().map(curve).collect();
    setup_json(&report.setup, "pairity.frontier/1", "curves", curves)
}
