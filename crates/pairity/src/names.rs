//! Names of settings: one table for each, beside its type, which commands, Python and the documentation are
//! made from.

/// Gives a type without fields its table of names: `NAMES` with a line on each value, and the two ways to
/// look into it.
macro_rules! names {
    ($kind:ty: $($name:literal => $value:ident, $about:literal;)+) => {
        impl $kind {
            /// Every value: what it is called, the value, and a line on it.
            pub const NAMES: &'static [(&'static str, Self, &'static str)] =
                &[$(($name, Self::$value, $about)),+];

            /// The value of a name.
            pub fn named(name: &str) -> Option<Self> {
                Self::NAMES.iter().find(|(known, ..)| *known == name).map(|(_, value, _)| *value)
            }

            /// What it is called.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }
    };
}

pub(crate) use names;

#[cfg(test)]
mod tests {
    use crate::solvers::Player;

    #[test]
    fn names_and_values_lead_to_each_other() {
        for (name, value, _) in Player::NAMES {
            assert_eq!((Player::named(name), value.name()), (Some(*value), *name));
        }
        assert_eq!(Player::named("nobody"), None);
    }
}
