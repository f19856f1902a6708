//! The game in score space, for models of other libraries.

use crate::columns::slice;
use crate::examples::Examples;
use crate::refuse;
use crate::settings::{average, choice, get, goal};
use crate::view::object;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pairity::goals::Problem;
use pairity::pairs::SurrogateKind;
use pairity::solvers::{Player, ScoreSettings};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

/// Value, gradient and curvature.
type Step<'py> = (f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The member's place and probability, the objective, and the violation.
type Reached = (Vec<(usize, f64)>, f64, f64);

/// The player who weighs the constraints.
#[pyclass(module = "pairity._engine")]
pub struct ScorePlayer {
    inner: pairity::solvers::ScorePlayer,
}

#[pymethods]
impl ScorePlayer {
    #[new]
    fn new(py: Python<'_>, examples: &Examples, settings: Bound<'_, PyDict>) -> PyResult<ScorePlayer> {
        let problem = Problem::of_goal(&goal(&settings)?, &examples.inner.vocabulary()).map_err(refuse)?;
        let settings = ScoreSettings {
            player: choice(&settings, "player", Player::NAMES)?,
            surrogate: choice(&settings, "surrogate", SurrogateKind::NAMES)?,
            margin: get(&settings, "margin")?,
            average: average(&settings)?,
            step_size: get(&settings, "step_size")?,
        };
        let rows = examples.inner.clone();
        let inner =
            py.detach(|| pairity::solvers::ScorePlayer::new(problem, rows, &settings)).map_err(refuse)?;
        Ok(ScorePlayer { inner })
    }

    /// What to descend at these scores; if it moves, the constraints are weighed anew.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
        moves: bool,
    ) -> PyResult<Step<'py>> {
        let scores = scores.as_slice()?;
        let inner = &mut self.inner;
        let step = py.detach(|| if moves { inner.step(scores) } else { inner.look(scores) });
        let step = step.map_err(refuse)?;
        Ok((step.value, step.gradient.into_pyarray(py), step.curvature.into_pyarray(py)))
    }

    /// The rates of the goal at the last scores.
    #[getter]
    fn rates(&self) -> Vec<(String, f64)> {
        self.inner.rates()
    }

    /// How the game stands.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let status = self.inner.status();
        let document = json!({
            "steps": status.steps,
            "objective": status.objective,
            "violations": status.violations,
            "meets_goal": status.meets_goal,
            "weights": status.weights,
        });
        object(py, &document)
    }

    /// Remembers the rates of a scorer, at given scores or the last ones.
    fn snapshot(&mut self, scores: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<()> {
        self.inner.snapshot(slice(&scores)?).map_err(refuse)
    }

    /// The best mixture of the snapshots.
    fn shrink(&self) -> PyResult<Reached> {
        let reach = self.inner.shrink().map_err(refuse)?;
        Ok((reach.members, reach.objective, reach.violation))
    }
}

/// A number in [0, 1) from a seed and a text, by which the members of mixtures are drawn.
#[pyfunction]
pub fn uniform(seed: u64, text: &str) -> f64 {
    pairity::model::uniform(seed, text)
}
