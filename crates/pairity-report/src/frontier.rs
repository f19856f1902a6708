//! Objective against violation for a range of bounds, and its JSON document of schema `pairity.frontier/1`.

use crate::comparison::{MethodResult, result_json};
use pairity::scorers::{Goal, Objective};
use serde_json::{Value, json};

/// What one method reaches at one bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The bound of the constraints; none for a method that does not look at it.
    pub bound: Option<f64>,
    /// What came out.
    pub result: MethodResult,
}

/// The points of one method, from the loosest bound to the tightest.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The method.
    pub method: String,
    /// One for each bound, or a single one.
    pub points: Vec<Point>,
}

/// What is reached for a range of bounds, by every method.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierReport {
    /// The goal, with the bounds that were replaced.
    pub goal: Goal,
    /// The methods.
    pub curves: Vec<Curve>,
    /// The part that values are of.
    pub part: &'static str,
    /// Rows of that part.
    pub rows: usize,
    /// The kind of scorer.
    pub model: &'static str,
    /// Seed of every random choice.
    pub seed: u64,
    /// Probability of the intervals.
    pub confidence: f64,
    /// Names of the files.
    pub tables: Vec<String>,
    /// What happened to the data on the way.
    pub notes: Vec<String>,
}

impl FrontierReport {
    /// The objective as it was stated.
    pub fn objective(&self) -> &str {
        match &self.goal.objective {
            Objective::Maximize(text) | Objective::Minimize(text) => text,
        }
    }
}

/// The frontier as one JSON document.
pub fn frontier_json(report: &FrontierReport) -> Value {
    let point = |point: &Point| {
        let mut value = result_json(&point.result);
        value["bound"] = json!(point.bound);
        value
    };
    let curve = |curve: &Curve| {
        let points: Vec<Value> = curve.points.iter().map(point).collect();
        json!({"method": curve.method, "points": points})
    };
    let curves: Vec<Value> = report.curves.iter().map(curve).collect();
    json!({
        "schema": "pairity.frontier/1",
        "objective": report.objective(),
        "goal": report.goal,
        "part": report.part,
        "rows": report.rows,
        "model": report.model,
        "seed": report.seed,
        "confidence": report.confidence,
        "curves": curves,
        "tables": report.tables,
        "notes": report.notes,
    })
}
