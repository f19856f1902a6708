//! The shapes of surrogates, and why slopes are all that has to be summed.
//!
//! With t = (s_i − s_j) / margin for a pair of a better i and a worse j:
//!
//! | kind         | bounds the error, t < 0    | bounds the win, t > 0      |
//! |--------------|----------------------------|----------------------------|
//! | hinge        | max(0, 1 − t)              | max(0, 1 + t)              |
//! | squared hinge| max(0, 1 − t)²             | max(0, 1 + t)²             |
//! | ramp         | (1 − t)/2 cut to [0, 1]    | (1 + t)/2 cut to [0, 1]    |
//!
//! Every one is made of hinges (m ∓ d)₊ of the difference d = s_i − s_j, with m = ± margin; the ramp is
//! the difference of two. A hinge to the power p is homogeneous in (m, s), so by Euler's theorem
//!
//! ```text
//! p · value = m ∂value/∂m + Σ s ∂value/∂s
//! ```
//!
//! and |∂value/∂m| of all pairs of one better example is |∂value/∂s_i|: values follow from slopes. The
//! routines below return m ∂/∂m, called the *offset*, and add ∂/∂s to a gradient.

/// The shape of the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// Convex, of slope 1: what the reference solver descends.
    #[default]
    Hinge,
    /// Convex and smooth.
    SquaredHinge,
    /// Bounded by 0 and 1 and close to the rate itself, but not convex.
    Ramp,
}

impl Kind {
    /// Turns weights of error and win, `up` and `down`, into coefficients of slopes by score. A win's
    /// ramp is 1 less the error's, so that the two share one coefficient.
    pub(super) fn scale(self, up: &mut [f64], down: &mut [f64], margin: f64) {
        for (up, down) in up.iter_mut().zip(down) {
            (*up, *down) = match self {
                Kind::Hinge => (*up / margin, *down / margin),
                Kind::SquaredHinge => (2.0 * *up / (margin * margin), 2.0 * *down / (margin * margin)),
                Kind::Ramp => {
                    let both = (*up - *down) / (2.0 * margin);
                    (both, both)
                }
            };
        }
    }

    /// The value of a query from its offset and its Σ s ∂/∂s.
    pub(super) fn value(self, offset: f64, moment: f64) -> f64 {
        match self {
            Kind::SquaredHinge => (offset + moment) / 2.0,
            _ => offset + moment,
        }
    }
}

/// The slopes of one kind, for a pair with a coefficient.
pub(super) trait Slope: Copy + Send + Sync {
    /// Slopes grow with the distance from the threshold.
    const SQUARED: bool;
    /// The second hinge counts worse examples *above* the threshold s_i + margin, not below.
    const BOUNDED: bool;

    /// How fast the first part falls with d, `slack` being margin − d.
    fn first(slack: f64, coefficient: f64) -> f64;
    /// How fast the second part rises with d, `slack` being margin + d.
    fn second(slack: f64, coefficient: f64) -> f64;
}

#[derive(Clone, Copy)]
pub(super) struct Hinge;

#[derive(Clone, Copy)]
pub(super) struct SquaredHinge;

#[derive(Clone, Copy)]
pub(super) struct Ramp;

impl Slope for Hinge {
    const SQUARED: bool = false;
    const BOUNDED: bool = false;

    #[inline(always)]
    fn first(slack: f64, coefficient: f64) -> f64 {
        if slack > 0.0 { coefficient } else { 0.0 }
    }
    #[inline(always)]
    fn second(slack: f64, coefficient: f64) -> f64 {
        if slack > 0.0 { coefficient } else { 0.0 }
    }
}

impl Slope for SquaredHinge {
    const SQUARED: bool = true;
    const BOUNDED: bool = false;

    #[inline(always)]
    fn first(slack: f64, coefficient: f64) -> f64 {
        slack.max(0.0) * coefficient
    }
    #[inline(always)]
    fn second(slack: f64, coefficient: f64) -> f64 {
        slack.max(0.0) * coefficient
    }
}

impl Slope for Ramp {
    const SQUARED: bool = false;
    const BOUNDED: bool = true;

    #[inline(always)]
    fn first(slack: f64, coefficient: f64) -> f64 {
        if slack > 0.0 { coefficient } else { 0.0 }
    }
    #[inline(always)]
    fn second(slack: f64, coefficient: f64) -> f64 {
        // Below the ramp the second hinge takes back what the first one adds.
        if slack <= 0.0 { coefficient } else { 0.0 }
    }
}
