//! Properties of the language: texts mean what they say, shapes are right, and nothing panics.

use proptest::prelude::*;

use super::*;
use crate::rates::{Rate, Side};

/// An expression as a user could write it, evaluated without the language.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    Rate(usize),
    Criterion(Criterion),
    Neg(Box<Tree>),
    Add(Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    Times(f64, Box<Tree>),
    TimesRight(Box<Tree>, f64),
    Over(Box<Tree>, f64),
    Abs(Box<Tree>),
    Min(Vec<Tree>),
    Max(Vec<Tree>),
}

const GROUPS: usize = 3;

const RATES: [(&str, Rate); 11] = [
    ("auc", Rate::AUC),
    ("A[* > *]", Rate::AUC),
    ("mse", Rate::Mse),
    ("A[z > z']", Rate::Greater),
    ("A[z<z']", Rate::Less),
    ("P[z > z']", Rate::ParityGreater),
    ("P[z<z']", Rate::ParityLess),
    ("A[a > \"x & y\"]", Rate::Accuracy { better: Side::Group(0), worse: Side::Group(2) }),
    ("A[*>non-chain]", Rate::Accuracy { better: Side::Any, worse: Side::Group(1) }),
    ("A['a' > a]", Rate::Accuracy { better: Side::Group(0), worse: Side::Group(0) }),
    ("P[non-chain > a]", Rate::Parity { first: 1, second: 0 }),
];

fn words() -> Vocabulary {
    let groups = ["a", "non-chain", "x & y"].map(String::from).to_vec();
    Vocabulary { groups, continuous: true }
}

/// Where the value of a rate is in a list of random numbers.
fn slot(rate: Rate) -> usize {
    let side = |side| match side {
        Side::Group(index) => index,
        Side::Any => GROUPS,
    };
    match rate {
        Rate::Accuracy { better, worse } => side(better) * 4 + side(worse),
        Rate::Parity { first, second } => 16 + first * 3 + second,
        Rate::Greater => 25,
        Rate::Less => 26,
        Rate::Mse => 27,
        Rate::ParityGreater => 28,
        Rate::ParityLess => 29,
    }
}

const SLOTS: usize = 30;

fn at(point: &[f64]) -> impl FnMut(Rate) -> f64 + '_ {
    |rate| point[slot(rate)]
}

impl Tree {
    fn value(&self, point: &[f64]) -> f64 {
        match self {
            Tree::Number(number) => *number,
            Tree::Rate(index) => point[slot(RATES[*index].1)],
            Tree::Criterion(criterion) => gap(*criterion, point),
            Tree::Neg(inner) => -inner.value(point),
            Tree::Add(left, right) => left.value(point) + right.value(point),
            Tree::Sub(left, right) => left.value(point) - right.value(point),
            Tree::Times(factor, inner) | Tree::TimesRight(inner, factor) => factor * inner.value(point),
            Tree::Over(inner, divisor) => inner.value(point) / divisor,
            Tree::Abs(inner) => inner.value(point).abs(),
            Tree::Min(list) => list.iter().map(|tree| tree.value(point)).fold(f64::INFINITY, f64::min),
            Tree::Max(list) => list.iter().map(|tree| tree.value(point)).fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The text, with parentheses where it binds less than its place asks: 0 for a sum, 1 for a product,
    /// 2 for a signed part.
    fn text(&self, place: usize, space: &str) -> String {
        let list = |name: &str, list: &[Tree]| {
            let parts: Vec<String> = list.iter().map(|tree| tree.text(0, space)).collect();
            format!("{name}{space}({})", parts.join(&format!("{space},")))
        };
        let (binds, text) = match self {
            Tree::Number(number) => (3, number.to_string()),
            Tree::Rate(index) => (3, RATES[*index].0.to_string()),
            Tree::Criterion(criterion) => (3, criterion.name().to_string()),
            Tree::Neg(inner) => (2, format!("-{space}{}", inner.text(2, space))),
            Tree::Add(left, right) => {
                (0, format!("{}{space}+{space}{}", left.text(0, space), right.text(1, space)))
            }
            Tree::Sub(left, right) => {
                (0, format!("{}{space}-{space}{}", left.text(0, space), right.text(1, space)))
            }
            Tree::Times(factor, inner) => (1, format!("{factor}{space}*{space}{}", inner.text(2, space))),
            Tree::TimesRight(inner, factor) => (1, format!("{}*{space}{factor}", inner.text(1, space))),
            Tree::Over(inner, divisor) => (1, format!("{}/{space}{divisor}", inner.text(1, space))),
            Tree::Abs(inner) => (3, list("abs", std::slice::from_ref(inner))),
            Tree::Min(entries) => (3, list("min", entries)),
            Tree::Max(entries) => (3, list("max", entries)),
        };
        if binds < place { format!("({space}{text})") } else { text }
    }
}

fn gap(criterion: Criterion, point: &[f64]) -> f64 {
    let mut values = Vec::new();
    let accuracy = |i, j| point[i * 4 + j];
    for i in 0..GROUPS {
        for j in 0..GROUPS {
            match criterion {
                Criterion::EqualOpportunity => values.push(accuracy(i, j)),
                Criterion::CrossGroup if i != j => values.push(accuracy(i, j)),
                Criterion::WithinGroup if i == j => values.push(accuracy(i, i)),
                Criterion::Marginal if j == 0 => values.push(accuracy(i, 3)),
                Criterion::StatisticalParity if i != j => values.push(point[16 + i * 3 + j]),
                Criterion::Symmetric if j == 0 => values.push(accuracy(i, 3) + accuracy(3, i)),
                _ => {}
            }
        }
    }
    match criterion {
        Criterion::Continuous => values.extend([point[25], point[26]]),
        Criterion::ContinuousParity => values.extend([point[28], point[29]]),
        _ => {}
    }
    let mut widest: f64 = 0.0;
    for a in &values {
        for b in &values {
            widest = widest.max((a - b).abs());
        }
    }
    widest
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(0.5), Just(0.001), 0.0..3.0f64]
}

fn linear() -> impl Strategy<Value = Tree> {
    let atom = prop_oneof![number().prop_map(Tree::Number), (0..RATES.len()).prop_map(Tree::Rate)];
    atom.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|tree| Tree::Neg(Box::new(tree))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Add(Box::new(a), Box::new(b))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Sub(Box::new(a), Box::new(b))),
            (number(), inner.clone()).prop_map(|(factor, tree)| Tree::Times(factor, Box::new(tree))),
            (inner.clone(), number()).prop_map(|(tree, factor)| Tree::TimesRight(Box::new(tree), factor)),
            (inner, 0.5..3.0f64).prop_map(|(tree, divisor)| Tree::Over(Box::new(tree), divisor)),
        ]
    })
}

fn criterion() -> impl Strategy<Value = Tree> {
    prop::sample::select(Criterion::ALL.to_vec()).prop_map(Tree::Criterion)
}

fn any_tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![3 => linear(), 1 => criterion()];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            inner.clone().prop_map(|tree| Tree::Neg(Box::new(tree))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Add(Box::new(a), Box::new(b))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Sub(Box::new(a), Box::new(b))),
            (number(), inner.clone()).prop_map(|(factor, tree)| Tree::Times(factor, Box::new(tree))),
            inner.clone().prop_map(|tree| Tree::Abs(Box::new(tree))),
            list().prop_map(Tree::Min),
            list().prop_map(Tree::Max),
        ]
    })
}

/// Trees that are convex by the way they are made.
fn convex_tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![linear(), criterion(), linear().prop_map(|tree| Tree::Abs(Box::new(tree)))];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let negative = |tree| Tree::Neg(Box::new(tree));
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Add(Box::new(a), Box::new(b))),
            (linear(), inner.clone()).prop_map(move |(a, b)| Tree::Sub(Box::new(a), Box::new(negative(b)))),
            (number(), inner.clone()).prop_map(|(factor, tree)| Tree::Times(factor, Box::new(tree))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::Max),
            prop::collection::vec(inner.prop_map(negative), 1..4)
                .prop_map(move |list| negative(Tree::Min(list))),
        ]
    })
}

fn point() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..1.0f64, SLOTS)
}

/// The middle between the least and the largest.
fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) =
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (value.min(low), value.max(high)));
    (low + high) / 2.0
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// Reads a text in every way; an error must point into the text.
fn read_all_ways(text: &str, words: &Vocabulary) -> Result<(), TestCaseError> {
    let errors = [
        parse_expression(text, words).err(),
        parse_constraint(text, words).err(),
        parse_maximize(text, words).err(),
        parse_minimize(text, words).err(),
    ];
    for error in errors.into_iter().flatten() {
        prop_assert_eq!(&error.text, text);
        prop_assert!(error.text.get(error.span.clone()).is_some(), "{:?}", error);
        let shown = error.to_string();
        prop_assert!(shown.starts_with(&error.message));
        if let (Some(line), true) = (shown.lines().nth(1), !text.trim().is_empty()) {
            prop_assert!(line.chars().count() <= 102, "{}", line);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_text_means_what_it_says(
        tree in any_tree(), point in point(), space in prop::sample::select(vec!["", " ", "\n\t "]),
    ) {
        let text = tree.text(0, space);
        let expression = parse_expression(&text, &words()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let (value, expected) = (expression.value(&mut at(&point)), tree.value(&point));
        prop_assert!(close(value, expected), "{} is {}, not {}", text, value, expected);
    }

    #[test]
    fn shapes_are_right_at_random_points(tree in any_tree(), a in point(), b in point(), share in 0.0..1.0f64) {
        let expression = parse_expression(&tree.text(0, ""), &words()).unwrap();
        let between: Vec<f64> = a.iter().zip(&b).map(|(a, b)| share * a + (1.0 - share) * b).collect();
        let inside = expression.value(&mut at(&between));
        let chord = share * expression.value(&mut at(&a)) + (1.0 - share) * expression.value(&mut at(&b));
        if expression.is_convex(1.0) {
            prop_assert!(inside <= chord + 1e-9 * (1.0 + chord.abs()));
        }
        if expression.is_convex(-1.0) {
            prop_assert!(inside >= chord - 1e-9 * (1.0 + chord.abs()));
        }
        for sign in [1.0, -1.0] {
            let mut lists = Vec::new();
            if let Some(forms) = expression.linear_forms(sign, 2_000, &mut lists) {
                let best: Vec<f64> = lists.iter().map(|list| middle(list.iter().map(|form| form.value(&mut at(&a))))).collect();
                let largest = |shift: f64| {
                    let value = |form: &LinearForm| {
                        let own = form.centers.iter().map(|&(center, factor)| factor * (best[center] + shift));
                        form.value(&mut at(&a)) + own.sum::<f64>()
                    };
                    forms.iter().map(value).fold(f64::NEG_INFINITY, f64::max)
                };
                prop_assert!(close(sign * largest(0.0), expression.value(&mut at(&a))));
                prop_assert!(largest(0.1) >= largest(0.0) - 1e-9 && largest(-0.1) >= largest(0.0) - 1e-9);
            }
        }
    }

    #[test]
    fn an_accepted_constraint_is_convex_and_means_what_it_says(
        left in any_tree(), right in prop_oneof![number().prop_map(Tree::Number), linear(), any_tree()],
        at_most: bool, a in point(), b in point(),
    ) {
        let sign = if at_most { "<=" } else { "≥" };
        let text = format!("{} {sign} {}", left.text(0, " "), right.text(0, " "));
        if let Ok(constraint) = parse_constraint(&text, &words()) {
            let violation = |point: &[f64]| constraint.violation(&mut at(point));
            let excess = (left.value(&a) - right.value(&a)) * if at_most { 1.0 } else { -1.0 };
            prop_assert!(close(violation(&a), excess));
            let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a + b) / 2.0).collect();
            let chord = (violation(&a) + violation(&b)) / 2.0;
            prop_assert!(violation(&middle) <= chord + 1e-9 * (1.0 + chord.abs()));
        }
    }

    #[test]
    fn what_is_convex_by_construction_is_accepted(tree in convex_tree(), bound in linear()) {
        let (tree, bound) = (tree.text(0, " "), bound.text(1, " "));
        let negative = format!("-({tree})");
        for text in [format!("{tree} <= {bound}"), format!("{negative} >= {bound}"), format!("{bound} >= {tree}")] {
            if let Err(error) = parse_constraint(&text, &words()) {
                prop_assert_eq!(&error.message, "there is no rate in this constraint", "{}", error);
            }
        }
    }

    #[test]
    fn a_refused_shape_is_blamed_on_a_function_or_a_criterion(left in any_tree(), right in any_tree()) {
        let text = format!("{} <= {}", left.text(0, " "), right.text(0, " "));
        if let Err(error) = parse_constraint(&text, &words()) {
            let blamed = &text[error.span];
            let bends = ["abs", "min", "max"].iter().any(|name| blamed.starts_with(name))
                || Criterion::from_name(blamed).is_some();
            prop_assert!(bends || error.message == "there is no rate in this constraint", "{}: {}", error.message, blamed);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        read_all_ways(&text, &words())?;
    }

    #[test]
    fn no_heap_of_tokens_makes_it_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "auc", "mse", "A[", "P[", "S[", "]", "a", "z", "z'", "*", ">", "<", "<=", "≥", "=", "(", ")", "abs(", "min(",
        ",", "+", "-", "/", "0", "1e308", ".5", "\"x & y\"", "'", "\"", "\\", "é", "女", " ", "\n", "cross_group",
    ]), 0..24)) {
        read_all_ways(&parts.concat(), &words())?;
        read_all_ways(&parts.join(" "), &Vocabulary::default())?;
    }

    #[test]
    fn nothing_in_brackets_makes_it_panic(inside in "[az> *'’\"\\\\é女&n=-]{0,12}") {
        for text in [format!("A[{inside}] <= 1"), format!("S['{inside}']"), format!("P[{inside}")] {
            read_all_ways(&text, &words())?;
        }
    }

    #[test]
    fn no_damaged_text_makes_it_panic(
        tree in any_tree(), place in any::<prop::sample::Index>(), length in 0..4usize, insert in ".{0,3}",
    ) {
        let mut text: Vec<char> = format!("{} <= 0.1", tree.text(0, " ")).chars().collect();
        let start = place.index(text.len());
        let end = (start + length).min(text.len());
        text.splice(start..end, insert.chars());
        read_all_ways(&text.into_iter().collect::<String>(), &words())?;
    }
}
