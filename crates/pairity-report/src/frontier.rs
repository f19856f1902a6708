//! Objective against violation for a range of bounds, and its JSON document of schema `pairity.frontier/1`.

use crate::comparison::{ComparisonSetup, MethodResult, result_json};
use serde_json::{Value, json};

/// What one method reaches at one bound.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierPoint {
    /// The bound of the constraints; none for a method that does not look at it.
    pub bound: Option<f64>,
    /// What came out.
    pub result: MethodResult,
}

/// The points of one method, from the loosest bound to the tightest.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierCurve {
    /// The method.
    pub method: String,
    /// One for each bound, or a single one.
    pub points: Vec<FrontierPoint>,
}

/// What is reached for a range of bounds, by every method.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierReport {
    /// What they were compared for, and on what.
    pub setup: ComparisonSetup,
    /// The methods.
    pub curves: Vec<FrontierCurve>,
}

/// The frontier as one JSON document.
pub fn frontier_json(report: &FrontierReport) -> Value {
    let point = |point: &FrontierPoint| {
        let mut value = result_json(&point.result);
        value["bound"] = json!(point.bound);
        value
    };
    let curve = |curve: &FrontierCurve| {
        let points: Vec<Value> = curve.points.iter().map(point).collect();
        json!({"method": curve.method, "points": points})
    };
    report.setup.json("pairity.frontier/1", "curves", report.curves.iter().map(curve).collect())
}
