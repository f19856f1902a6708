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

use crate::names::names;
use serde::{Deserialize, Serialize};

/// The shape of the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum SurrogateKind {
    /// Convex, of slope 1: what the reference solver descends.
    #[default]
    Hinge,
    /// Convex and smooth.
    SquaredHinge,
    /// Bounded by 0 and 1 and close to the rate itself, but not convex.
    Ramp,
}

names! { SurrogateKind:
    "hinge" => Hinge, "max(0, 1 − t)";
    "squared-hinge" => SquaredHinge, "Its square";
    "ramp" => Ramp, "The hinge, cut at 1";
}

impl SurrogateKind {
    /// The slope by score of a hinge of weight 1, at distance 1 if it is squared.
    pub(in crate::pairs) fn unit(self, margin: f64) -> f64 {
        match self {
            SurrogateKind::Hinge => 1.0 / margin,
            SurrogateKind::SquaredHinge => 2.0 / (margin * margin),
            SurrogateKind::Ramp => 0.5 / margin,
        }
    }

    /// The curvature by score of a pair whose hinge is active: that of the squared hinge, or that of half of
    /// it for shapes that have none of their own.
    pub(in crate::pairs) fn curvature(self, margin: f64) -> f64 {
        match self {
            SurrogateKind::SquaredHinge => 2.0 / (margin * margin),
            SurrogateKind::Hinge | SurrogateKind::Ramp => 1.0 / (margin * margin),
        }
    }

    /// The coefficients of both parts, from the weights of error and win. A win's ramp is 1 less that
    /// of the error, so that its two hinges share one coefficient.
    #[inline(always)]
    pub(in crate::pairs) fn coefficients(self, up: f64, down: f64) -> [f64; 2] {
        match self {
            SurrogateKind::Hinge | SurrogateKind::SquaredHinge => [up, down],
            SurrogateKind::Ramp => [up - down; 2],
        }
    }

    /// The value of a query from its offset and its Σ s ∂/∂s.
    pub(in crate::pairs) fn value(self, offset: f64, moment: f64) -> f64 {
        match self {
            SurrogateKind::SquaredHinge => (offset + moment) / 2.0,
            _ => offset + moment,
        }
    }
}

/// A number, or 0: by its bits, as a branch here would be mispredicted, and keep lanes apart.
#[inline(always)]
pub(in crate::pairs) fn number_if(condition: bool, number: f64) -> f64 {
    f64::from_bits(number.to_bits() & u64::from(condition).wrapping_neg())
}

/// The slopes of one kind, for a pair with a coefficient.
pub(in crate::pairs) trait Slope {
    /// Slopes grow with the distance from the threshold.
    const SQUARED: bool = false;
    /// The second hinge counts worse examples *above* the threshold s_i + margin, not below.
    const BOUNDED: bool = false;
    /// Slopes are added without their signs: what is summed is a curvature.
    const UNSIGNED: bool = false;

    /// How fast the first part falls with d, `slack` being margin − d.
    #[inline(always)]
    fn first(slack: f64, coefficient: f64) -> f64 {
        number_if(slack > 0.0, coefficient)
    }
    /// How fast the second part rises with d, `slack` being margin + d.
    #[inline(always)]
    fn second(slack: f64, coefficient: f64) -> f64 {
        Self::first(slack, coefficient)
    }
    /// Both, of a pair with its coefficients, its mass and its difference d.
    #[inline(always)]
    fn both(margin: f64, d: f64, [first, second]: [f64; 2], mass: f64) -> [f64; 2] {
        [Self::first(margin - d, first * mass), Self::second(margin + d, second * mass)]
    }

    /// What a pair adds to an example whose score the first number pulls up and the second one down.
    #[inline(always)]
    fn added(up: f64, down: f64) -> f64 {
        if Self::UNSIGNED { up + down } else { up - down }
    }
}

pub(in crate::pairs) struct Hinge;

/// The active pairs of the hinge, counted without signs.
pub(in crate::pairs) struct Active;

pub(in crate::pairs) struct SquaredHinge;

pub(in crate::pairs) struct Ramp;

impl Slope for Hinge {}

impl Slope for Active {
    const UNSIGNED: bool = true;
}

impl Slope for SquaredHinge {
    const SQUARED: bool = true;

    #[inline(always)]
    fn first(slack: f64, coefficient: f64) -> f64 {
        slack.max(0.0) * coefficient
    }
}

impl Slope for Ramp {
    const BOUNDED: bool = true;

    #[inline(always)]
    fn second(slack: f64, coefficient: f64) -> f64 {
        // Below the ramp the second hinge takes back what the first one adds.
        number_if(slack <= 0.0, coefficient)
    }
}
