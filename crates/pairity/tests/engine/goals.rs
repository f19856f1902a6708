//! What the goal language reads, what it refuses, and how its errors look.

use pairity::goals::{
    Constraint, Criterion, Expression, GoalError, LinearForm, Sense, Vocabulary, parse_constraint,
    parse_expression, parse_maximize, parse_minimize,
};
use pairity::rates::{Rate, Side};

fn words(groups: &[&str]) -> Vocabulary {
    Vocabulary { groups: groups.iter().map(|name| name.to_string()).collect(), continuous: false }
}

fn people() -> Vocabulary {
    words(&["female", "male"])
}

fn continuous() -> Vocabulary {
    Vocabulary { groups: vec![], continuous: true }
}

fn accuracy(better: usize, worse: usize) -> Rate {
    Rate::Accuracy { better: Side::Group(better), worse: Side::Group(worse) }
}

fn one(rate: Rate) -> Expression {
    Expression::Linear(LinearForm::rate(rate))
}

/// The part of the text that an error points at, and its message.
fn blamed<T: std::fmt::Debug>(result: Result<T, GoalError>) -> (String, String) {
    let error = result.unwrap_err();
    (error.text[error.span].to_string(), error.message)
}

#[track_caller]
fn assert_refused(text: &str, place: &str, message: &str) {
    let (found, said) = blamed(parse_constraint(text, &people()));
    assert_eq!((found.as_str(), said.as_str()), (place, message));
}

#[track_caller]
fn assert_shown<T: std::fmt::Debug>(result: Result<T, GoalError>, lines: &[&str]) {
    assert_eq!(result.unwrap_err().to_string(), lines.join("\n"));
}

#[test]
fn every_kind_of_rate_is_read() {
    let read = |text| parse_expression(text, &people()).unwrap();
    assert_eq!(read("auc"), one(Rate::AUC));
    assert_eq!(read("A[* > *]"), one(Rate::AUC));
    assert_eq!(read("mse"), one(Rate::Mse));
    assert_eq!(read("A[female > male]"), one(accuracy(0, 1)));
    assert_eq!(read("A[* > male]"), one(Rate::Accuracy { better: Side::Any, worse: Side::Group(1) }));
    assert_eq!(read("P[male > female]"), one(Rate::Parity { first: 1, second: 0 }));
    assert_eq!(read("S[male]"), read("A[male > *] + A[* > male]"));
    let by_age = |text| parse_expression(text, &Vocabulary { groups: vec![], continuous: true }).unwrap();
    assert_eq!(by_age("A[z > z']"), one(Rate::Greater));
    assert_eq!(by_age("P[z > z']"), one(Rate::ParityGreater));
    assert_eq!(by_age("P[z < z']"), one(Rate::ParityLess));
    for criterion in Criterion::ALL.into_iter().filter(|criterion| !criterion.is_continuous()) {
        assert_eq!(read(criterion.name()), criterion.expression(&people()).unwrap());
    }
}

#[test]
fn names_of_groups_are_words_or_quoted() {
    let names = ["non-chain", "female & black", "ménage", "a.b_c", "it's", "*", "-1", "0.5"];
    let read = |text| parse_expression(text, &words(&names)).unwrap();
    assert_eq!(read("A[non-chain > ménage]"), one(accuracy(0, 2)));
    assert_eq!(read("A[\"female & black\" > 'a.b_c']"), one(accuracy(1, 3)));
    assert_eq!(read("A['it\\'s' > \"it's\"]"), one(accuracy(4, 4)));
    assert_eq!(read("S[\"*\"]"), read("A['*' > *] + A[* > '*']"));
    assert_eq!(read("A[0.5>-1]"), one(accuracy(7, 6)));
    assert_eq!(read("A[.5 > -1.0]"), one(accuracy(7, 6)));
}

#[test]
fn numeric_names_match_by_value_if_one_group_does() {
    let expression = parse_expression("A[0 > 1]", &words(&["0.0", "1.0"])).unwrap();
    assert_eq!(expression, one(accuracy(0, 1)));
    let (place, message) = blamed(parse_expression("A[0 > 1]", &words(&["0.0", "0.00", "1"])));
    assert_eq!((place.as_str(), message.as_str()), ("0", "\"0\" could be any of several groups"));
}

#[test]
fn z_with_a_prime_is_the_continuous_attribute_and_z_alone_a_group() {
    assert_eq!(parse_expression("A[z > z']", &continuous()).unwrap(), one(Rate::Greater));
    assert_eq!(parse_expression("A[z<z']", &continuous()).unwrap(), one(Rate::Less));
    let both = Vocabulary { groups: vec!["z".into(), "z'".into()], continuous: true };
    assert_eq!(parse_expression("A[z > z']", &both).unwrap(), one(Rate::Greater));
    assert_eq!(parse_expression("A[z > \"z'\"]", &both).unwrap(), one(accuracy(0, 1)));
    assert_eq!(parse_expression("A[z > z]", &both).unwrap(), one(accuracy(0, 0)));
}

#[test]
fn constants_are_moved_to_the_right() {
    let gap = Criterion::CrossGroup.expression(&people()).unwrap();
    let read = |text| parse_constraint(text, &people()).unwrap();
    let expected = Constraint {
        text: "cross_group + 1 <= 1.25".into(),
        expression: gap.clone(),
        sense: Sense::AtMost,
        bound: 0.25,
        sides: Some(("cross_group + 1".into(), 1.25)),
        lacks: None,
    };
    assert_eq!(read("\n cross_group + 1 <= 1.25\t"), expected);
    let ratio = read("A[female > male] >= 0.8 * A[male > female]");
    let form = LinearForm::new(0.0, [(accuracy(0, 1), 1.0), (accuracy(1, 0), -0.8)]);
    assert_eq!((ratio.expression, ratio.sense, ratio.bound), (Expression::Linear(form), Sense::AtLeast, 0.0));
    let turned = read("0.8 ≤ auc");
    assert_eq!((turned.expression, turned.sense, turned.bound), (one(Rate::AUC), Sense::AtLeast, 0.8));
    let turned = read("0.1 >= cross_group");
    assert_eq!((turned.expression, turned.sense, turned.bound), (gap, Sense::AtMost, 0.1));
}

#[test]
fn operators_bind_as_usual() {
    let value = |text| parse_expression(text, &people()).unwrap().value(&mut |_| 0.5);
    for (text, expected) in [
        ("1 - 2 - 3", -4.0),
        ("1 - (2 - 3)", 2.0),
        ("2 + 3 * 4", 14.0),
        ("8 / 4 / 2", 1.0),
        ("-2 * -3", 6.0),
        ("- - 2 + +1", 3.0),
        ("-auc * 2 + .5", -0.5),
        ("2 * (auc + 1) / 3", 1.0),
        ("min(3, max(1, 2), abs(-7))", 2.0),
        ("1 -1e-3", 0.999),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn the_constraints_that_training_needs_are_accepted() {
    for text in [
        "cross_group <= 0.01",
        "max(cross_group, within_group) <= 0.01",
        "abs(A[female > male] - A[male > female]) ≤ 0.01",
        "2 * cross_group + abs(auc - 1) <= auc",
        "min(A[female > male], A[male > female]) >= 0.7",
        "auc - cross_group >= 0.5",
        "0.5 <= auc - cross_group",
        "mse <= 0.1",
        "abs(abs(auc - 0.5)) <= 0.1",
        "cross_group - cross_group + auc >= 0.5",
    ] {
        assert!(parse_constraint(text, &people()).is_ok(), "{text}");
    }
    assert!(parse_constraint("continuous <= 0.01", &continuous()).is_ok());
}

#[test]
fn what_is_not_convex_is_refused_at_its_place() {
    let above = |name: &str| format!("`{name}` can be bounded from above, but not from below");
    let below = |name: &str| format!("`{name}` can be bounded from below, but not from above");
    assert_refused("abs(auc - 0.5) >= 0.1", "abs(auc - 0.5)", &above("abs"));
    assert_refused("0.1 <= (abs(auc - 0.5))", "abs(auc - 0.5)", &above("abs"));
    assert_refused("max(auc, mse) >= 0.1", "max(auc, mse)", &above("max"));
    assert_refused("cross_group >= 0.1", "cross_group", &above("cross_group"));
    assert_refused("auc <= cross_group", "cross_group", &above("cross_group"));
    assert_refused("auc - 2 * marginal <= 0.1", "marginal", &above("marginal"));
    assert_refused("min(auc, mse) <= 0.1", "min(auc, mse)", &below("min"));
    assert_refused("max(auc, min(auc, mse)) <= 1", "min(auc, mse)", &below("min"));
    assert_refused("min(auc, mse) + cross_group <= 1", "min(auc, mse)", &below("min"));
    assert_refused("min(auc, mse) + cross_group >= 1", "cross_group", &above("cross_group"));
    assert_refused("marginal / -4 <= 1", "marginal", &above("marginal"));
    assert_refused(
        "auc + abs(cross_group - 0.1) <= 1",
        "abs(cross_group - 0.1)",
        "`abs` is convex around a linear expression only",
    );
}

#[test]
fn what_is_not_linear_is_refused_at_its_place() {
    assert_refused("2 * auc * (auc - 1) <= 1", "2 * auc * (auc - 1)", "a product of rates is not linear");
    assert_refused("auc >= mse / auc", "auc", "division by a rate is not linear");
    assert_refused("auc / (1 - 1) <= 1", "(1 - 1)", "division by zero");
    let too_large = "the numbers here are too large or too small";
    assert_refused("1e308 * 10 * auc <= 1", "1e308", too_large);
    assert_refused("1e60 * 1e60 * auc <= 1", "1e60 * 1e60 * auc", too_large);
    assert_refused("auc / 1e-308 <= 1", "auc / 1e-308", too_large);
    assert_refused("auc * 1e-200 <= 1", "auc * 1e-200", too_large);
    assert_refused("1e100 * auc >= -1e100 * auc", "1e100 * auc >= -1e100 * auc", too_large);
}

#[test]
fn other_comparisons_are_refused_with_what_to_write() {
    assert_refused("auc < 1", "<", "`<` is not allowed, use <=");
    assert_refused("auc > 1", ">", "`>` is not allowed, use >=");
    assert_refused("auc == 1", "==", "`==` is not allowed, use <= or >=");
    assert_refused("auc = 1", "=", "`=` is not allowed, use <= or >=");
    assert_refused("auc => 1", "=>", "`=>` is not allowed, use >=");
    assert_refused("0 <= auc <= 1", "<=", "a second comparison");
    assert_refused("0 <= auc < 1", "<", "a second comparison");
    assert_refused("(auc <= 1)", "<=", "expected an operator or `)`, found a comparison");
    assert_refused("auc", "", "expected `<=` or `>=`, found the end");
    assert_refused("auc <=", "", "expected a rate or a number, found the end");
    assert_refused("<= 1", "<=", "expected a rate or a number, found a comparison");
    assert_eq!(blamed(parse_expression("auc < 1", &people())).1, "there can be no comparison here");
    assert_eq!(blamed(parse_maximize("auc >= 1", &people())).1, "there can be no comparison here");
}

#[test]
fn broken_texts_are_refused_at_their_place() {
    assert_refused("", "", "this goal is empty");
    assert_refused(" \n", " \n", "this goal is empty");
    assert_refused("2 auc <= 1", "auc", "expected an operator, found `auc`");
    assert_refused("auc <= 1 and mse <= 1", "and", "expected an operator, found `and`");
    assert_refused("auc <= 1)", ")", "this parenthesis was never opened");
    assert_refused("max(auc, (1 <= 1", "<=", "expected an operator or `)`, found a comparison");
    assert_refused("max(auc, (1", "(", "this parenthesis is never closed");
    assert_refused("abs(auc, 1) <= 1", "abs(auc, 1)", "`abs` takes one expression, and got 2");
    assert_refused("min() >= 1", "()", "there is nothing in `min`");
    assert_refused("() >= 1", "()", "there is nothing in these parentheses");
    assert_refused("(auc, 1) >= 1", "(auc, 1)", "parentheses hold one expression");
    assert_refused("max auc <= 1", "auc", "expected `(` after `max`, found `auc`");
    assert_refused("|auc| <= 1", "|", "unexpected character '|'");
    assert_refused("auc ** 2 <= 1", "*", "expected a rate or a number, found `*`");
    assert_refused("2 - 1 <= 3", "2 - 1 <= 3", "there is no rate in this constraint");
    assert_refused(" auc - auc <= 3", "auc - auc <= 3", "there is no rate in this constraint");
}

#[test]
fn broken_brackets_are_refused_at_their_place() {
    assert_refused("A >= 1", ">=", "expected `[` after `A`, found a comparison");
    assert_refused("A[male > female", "[", "this bracket is never closed");
    assert_refused("A[male", "[", "this bracket is never closed");
    assert_refused("A[male > female >= 1", ">", "expected `]`, found `>`");
    assert_refused("A[male female] >= 1", "female", "expected `>`, found `female`");
    assert_refused("A[> female] >= 1", ">", "expected the name of a group, found `>`");
    assert_refused("A[male < female] >= 1", "<", "groups are compared by `>`");
    assert_refused("A[z > z'] >= 1", "z > z'", "there is no continuous protected attribute");
    assert_refused("A[male > z'] >= 1", "male > z'", "`z'` stands on the right of `z`");
    assert_refused("P[male > *] >= 1", "*", "`P` compares two groups, `*` is none");
    assert_refused("P[male > male] >= 1", "male > male", "`P` compares two groups, and these are the same");
    assert_refused("S[*] >= 1", "*", "`S` takes one group, `*` is none");
    assert_refused("S[male > female] >= 1", ">", "expected `]`, found `>`");
    assert_refused("A[\"male > female] >= 1", "\"", "this quote is never closed");
}

#[test]
fn deep_nesting_is_an_error_and_long_rows_are_not() {
    let nested = |depth| format!("{}auc{} >= 0.5", "(".repeat(depth), ")".repeat(depth));
    assert!(parse_constraint(&nested(100), &people()).is_ok());
    assert_refused(&nested(101), "(", "parentheses are nested more than 100 deep");
    assert_refused(&nested(4000), "(", "parentheses are nested more than 100 deep");
    let calls = format!("{}auc", "abs(".repeat(2400));
    assert_refused(&calls, "(", "parentheses are nested more than 100 deep");
    for row in ["-".repeat(9000) + "auc", "auc+".repeat(2400) + "auc", "1*".repeat(4900) + "auc"] {
        assert!(parse_constraint(&(row + " <= 5000"), &people()).is_ok());
    }
}

#[test]
fn a_text_too_long_is_refused() {
    let text = "é".repeat(5001);
    let error = parse_expression(&text, &people()).unwrap_err();
    assert_eq!(error.message, "this goal has 10002 bytes, more than the 10000 allowed");
    assert_eq!((error.text.len(), error.span.clone()), (10_000, 10_000..10_000));
    assert!(error.to_string().lines().all(|line| line.chars().count() <= 102));
}

#[test]
fn objectives_must_bend_the_right_way() {
    for text in ["auc", "min(auc, A[female > male]) + min(auc, A[male > female])", "auc - cross_group"] {
        assert!(parse_maximize(text, &people()).is_ok(), "{text}");
    }
    for text in
        ["mse", "mse + cross_group", "1 - auc", "max(mse, 1 - auc)", "mse - min(auc, 0.5)", "abs(mse - 1)"]
    {
        assert!(parse_minimize(text, &people()).is_ok(), "{text}");
    }
    let maximize = |text| blamed(parse_maximize(text, &people()));
    let minimize = |text| blamed(parse_minimize(text, &people()));
    let pair = |place: &str, message: &str| (place.to_string(), message.to_string());
    assert_eq!(
        maximize("auc + marginal"),
        pair("marginal", "`marginal` can be minimized, but not maximized")
    );
    assert_eq!(
        maximize("auc - min(auc, 1)"),
        pair("min(auc, 1)", "`min` can be maximized, but not minimized")
    );
    assert_eq!(minimize("min(auc, 1)"), pair("min(auc, 1)", "`min` can be maximized, but not minimized"));
    assert_eq!(maximize("auc - mse"), pair("mse", "`mse` is an error, and can't be maximized"));
    assert_eq!(minimize("cross_group - mse"), pair("mse", "`mse` is an error, and can't be maximized"));
    assert_eq!(minimize("-min(mse, 2 * mse)"), pair("mse", "`mse` is an error, and can't be maximized"));
    assert_eq!(maximize(" 1 + 1 "), pair("1 + 1", "there is no rate in this objective"));
}

#[test]
fn criteria_that_do_not_apply_are_refused() {
    let (place, message) = blamed(parse_constraint("auc - continuous >= 0", &people()));
    assert_eq!(place, "continuous");
    assert_eq!(message, "`continuous` needs a continuous protected attribute, and there is none");
    let (place, message) = blamed(parse_constraint("cross_group <= 0.1", &continuous()));
    assert_eq!(place, "cross_group");
    assert_eq!(message, "`cross_group` compares groups, and the protected attribute is continuous");
}

#[test]
fn an_unknown_group_is_shown_with_the_known_ones() {
    assert_shown(
        parse_constraint("A[femal > male] >= 0.8", &people()),
        &[
            "unknown group \"femal\"",
            "  A[femal > male] >= 0.8",
            "    ^^^^^",
            "help: the groups are \"female\", \"male\"; did you mean \"female\"?",
        ],
    );
    assert_shown(
        parse_constraint("A[x > y] >= 0.8", &continuous()),
        &[
            "unknown group \"x\"",
            "  A[x > y] >= 0.8",
            "    ^",
            "help: the protected attribute is continuous: its rates are A[z > z'], A[z < z'], P[z > z'] and P[z < z']",
        ],
    );
}

#[test]
fn an_unknown_name_is_shown_with_the_nearest() {
    assert_shown(
        parse_constraint("auc >= 0.8 +\n  crossgroup", &people()),
        &[
            "unknown name `crossgroup`",
            "  auc >= 0.8 +   crossgroup",
            "                 ^^^^^^^^^^",
            "help: did you mean `cross_group`?",
        ],
    );
    assert_shown(
        parse_constraint("a[male > female] >= 0.8", &people()),
        &["unknown name `a`", "  a[male > female] >= 0.8", "  ^", "help: did you mean `A[x > y]`?"],
    );
}

#[test]
fn carets_follow_wide_letters() {
    assert_shown(
        parse_constraint("A[ménage > *] - A[女 > 男] <= 0.1", &words(&["ménage", "女"])),
        &[
            "unknown group \"男\"",
            "  A[ménage > *] - A[女 > 男] <= 0.1",
            "                         ^^",
            "help: the groups are \"ménage\", \"女\"",
        ],
    );
}

#[test]
fn a_shape_that_cannot_be_trained_for_is_underlined_whole() {
    assert_shown(
        parse_constraint("auc + abs(A[female > male] - A[male > female]) >= 0.1", &people()),
        &[
            "`abs` can be bounded from above, but not from below",
            "  auc + abs(A[female > male] - A[male > female]) >= 0.1",
            "        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
            "help: the models that satisfy this don't form a convex set, so it can't be trained for",
        ],
    );
}

#[test]
fn a_long_text_is_shown_around_the_place() {
    let text = format!("{}A[femal > male] >= 0.8{}", "auc + ".repeat(30), " + auc".repeat(30));
    let error = parse_constraint(&text, &people()).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    let column = lines[2].find('^').unwrap();
    let below: String = lines[1].chars().skip(column).take(lines[2].trim().len()).collect();
    assert_eq!(below, "femal");
    assert!(lines[1].starts_with("  …") && lines[1].ends_with('…') && lines[1].chars().count() == 102);
}
