//! The methods by name.

use super::singh_joachims::{Exposure, Utilities};
use crate::pairs::Membership;
use crate::training::Penalty;

/// A way to get a fair scorer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// The objective alone: what the others are measured against.
    Unconstrained,
    /// The objective subject to the constraints, by the game.
    Constrained,
    /// The least of the objective and the rates of the constraints, by the game.
    Robust,
    /// Example weights ([`debiased`](super::debiased)).
    Debiased,
    /// A penalty on the correlation of residuals and groups (Beutel et al. 2019).
    Beutel(Penalty),
    /// A logistic map of one group's scores ([`kallus_zhou`](super::kallus_zhou)).
    KallusZhou,
    /// Rankings of fair exposure ([`singh_joachims`](super::singh_joachims)).
    SinghJoachims(Exposure, Utilities),
    /// A shift of each group's scores ([`group_offset`](super::group_offset)).
    GroupOffset,
    /// One distribution of scores for all groups ([`quantile_match`](super::quantile_match)).
    QuantileMatch,
    /// The best merge of two groups' orders ([`x_order`](super::x_order)).
    XOrder,
}

impl Method {
    /// Every method, with its default settings.
    pub const ALL: [Method; 11] = [
        Method::Unconstrained,
        Method::Constrained,
        Method::Robust,
        Method::Debiased,
        Method::BEUTEL,
        Method::KallusZhou,
        Method::SinghJoachims(Exposure::Impact, Utilities::Range),
        Method::SinghJoachims(Exposure::Treatment, Utilities::Range),
        Method::GroupOffset,
        Method::QuantileMatch,
        Method::XOrder,
    ];

    /// Beutel et al. with their weight of 1.
    pub const BEUTEL: Method = Method::Beutel(Penalty { weight: 1.0, membership: Membership::Cross });

    /// The name that commands know it by; both kinds of exposure have the same.
    ///
    /// ```
    /// use pairity::methods::Method;
    /// assert_eq!(Method::BEUTEL.name(), "beutel");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Method::Unconstrained => "unconstrained",
            Method::Constrained => "constrained",
            Method::Robust => "robust",
            Method::Debiased => "debiased",
            Method::Beutel(_) => "beutel",
            Method::KallusZhou => "kallus-zhou",
            Method::SinghJoachims(..) => "singh-joachims",
            Method::GroupOffset => "group-offset",
            Method::QuantileMatch => "quantile-match",
            Method::XOrder => "x-order",
        }
    }

    /// The name with what tells it from others of the same name.
    pub fn full_name(self) -> &'static str {
        match self {
            Method::SinghJoachims(Exposure::Impact, _) => "singh-joachims (impact)",
            Method::SinghJoachims(Exposure::Treatment, _) => "singh-joachims (treatment)",
            other => other.name(),
        }
    }

    /// Whether it starts from the scores of an unconstrained scorer.
    pub fn is_post_processing(self) -> bool {
        match self {
            Method::KallusZhou
            | Method::SinghJoachims(..)
            | Method::GroupOffset
            | Method::QuantileMatch
            | Method::XOrder => true,
            Method::Unconstrained
            | Method::Constrained
            | Method::Robust
            | Method::Debiased
            | Method::Beutel(_) => false,
        }
    }
}
