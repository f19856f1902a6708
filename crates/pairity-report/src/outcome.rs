//! What runs were for and how they ended, in words that text and pages share: trainings, comparisons, the demo,
//! reproduced experiments.

use crate::facts::percent;
use crate::report::{DemoReport, Reproduced, TrainingReport};
use crate::words::{Advice, FrontEnd, fine, many, or_dash, plain, rate};
use pairity::goals::{Assessment, Goal, Objective, ViolationKind};
use pairity::metrics::{Check, Verdict};
use pairity::model::{Adjustment, GroupCurve, GroupLogistic};
use pairity::run::{ComparisonSetup, ConstraintLimit, HarmedRate, TrainOutcome, TrainingPart};
use pairity::solvers::{Answer, Evaluation, PassedOver, Status, Trained};

/// More names of files than this are counted rather than listed.
const MAX_NAMES: usize = 3;

/// More rates.
const MAX_RATES: usize = 4;

/// What is missed by less is missed by rounding.
const MET: f64 = 1e-6;

/// More names of features.
const MAX_FEATURES: usize = 12;

/// How good an end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Unsure,
    Bad,
}

/// How training ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) tone: Tone,
    /// In a word or two.
    pub(crate) word: &'static str,
    /// And in a sentence that goes on after a colon, and may end with advice.
    words: String,
    advice: Option<Advice>,
}

impl Ending {
    /// The whole sentence.
    pub(crate) fn words(&self, front_end: FrontEnd) -> String {
        match self.advice {
            Some(advice) => format!("{} {}.", self.words, advice.words(front_end)),
            None => self.words.clone(),
        }
    }
}

impl TrainingReport {
    /// What was trained on: "Training on people.csv".
    pub(crate) fn title(&self) -> String {
        on_files("Training", &self.run.tables)
    }

    /// The goal as it was stated: "maximize auc subject to cross_group <= 0.01".
    pub(crate) fn goal_words(&self) -> String {
        let mut goal = goal_words(&self.run.goal);
        if self.run.method != "constrained" {
            goal += &format!(" (method: {})", self.run.method);
        }
        goal
    }

    /// How much data there was, and what was trained.
    pub(crate) fn facts(&self) -> Vec<String> {
        let part = |part: &TrainingPart| {
            let audit = &part.evaluation.audit;
            let queries = audit.queries.map(|n| format!(" in {}", many(n, "query"))).unwrap_or_default();
            format!("{} {}{queries}", part.name, many(audit.rows, "row"))
        };
        let mut facts: Vec<String> = self.run.parts.iter().map(part).collect();
        let kind = scorer_words(self.run.scorer);
        let aware = if self.run.group_aware { " that sees the group" } else { "" };
        let features = feature_words(&self.run.features);
        facts.push(format!("{kind} of {features}{aware}"));
        facts.push(format!("solver {}, seed {}", self.run.solver.name(), self.run.seed));
        facts
    }

    /// How training ended.
    pub(crate) fn ending(&self) -> Ending {
        let run = &self.run;
        let trained = &run.trained;
        let part = self.chosen_on();
        let scorers = many(trained.components.len(), "scorer");
        let worst = fine(worst_of(&trained.violations));
        let constrained = !run.goal.subject_to.is_empty();
        let (tone, word) = match (run.verdict(), trained.status) {
            (Verdict::NotEstimable, _) => (Tone::Unsure, "Can't tell"),
            (Verdict::Fail, _) if trained.meets_goal => (Tone::Bad, "Goal not met"),
            (_, Status::Feasible | Status::FeasibleAsMixture) if !constrained => (Tone::Good, "Trained"),
            (_, Status::Feasible | Status::FeasibleAsMixture) => (Tone::Good, "Goal met"),
            (_, Status::TimeLimit) => (Tone::Unsure, "Stopped early"),
            (_, Status::NotConverged | Status::Infeasible) => (Tone::Bad, "Goal not met"),
        };
        let drawn_once = trained.components.len() > 1 && !run.has_queries();
        let mixes = run.answer.mixes(run.has_queries());
        let (words, advice) = match trained.status {
            _ if run.verdict() == Verdict::NotEstimable => {
                let reason = reasons(run.part(run.selected_on()).into_iter()).join("; ");
                (
                    format!("whether the goal is met on {part} can't be estimated: {reason}."),
                    Some(Advice::UNITS),
                )
            }
            _ if trained.meets_goal && run.verdict() == Verdict::Fail => {
                let missed = self.surely_missed().join(" and ");
                (
                    format!("it is on {part}, but on the test rows, which nothing was chosen on, {missed}."),
                    None,
                )
            }
            Status::Feasible if !constrained => (format!("one scorer, chosen on {part}."), None),
            Status::FeasibleAsMixture if !constrained => {
                (format!("a mixture of {scorers}, chosen on {part}."), None)
            }
            Status::Feasible => (format!("by one scorer, on {part}."), None),
            Status::FeasibleAsMixture if drawn_once => {
                let drawn =
                    "There are no queries, so one of them is drawn for the whole table; each meets the goal.";
                (format!("by a mixture of {scorers}, on {part}. {drawn}"), None)
            }
            Status::FeasibleAsMixture => {
                let drawn = "Each query draws one of them; no single one found does as well.";
                (format!("by a mixture of {scorers}, on {part}. {drawn}"), None)
            }
            Status::TimeLimit if trained.meets_goal => {
                (format!("the best so far meets the goal on {part}, with {scorers}."), Some(Advice::RESUME))
            }
            Status::TimeLimit => {
                (format!("the best so far misses the goal by {worst} on {part}."), Some(Advice::RESUME))
            }
            Status::NotConverged => {
                let what = if mixes { "mixture" } else { "scorer" };
                let words = format!("the best {what} found still misses it by {worst} on {part}");
                (format!("{words}, but was coming nearer:"), Some(Advice::ITERATIONS))
            }
            Status::Infeasible if run.method != "constrained" => {
                (format!("{} misses it by {worst} on {part}.", run.method), Some(Advice::CONSTRAINED))
            }
            Status::Infeasible if drawn_once => {
                let drawn = "There are no queries, so one of them is drawn for the whole table";
                let words = format!("{drawn}, and the worst misses it by {worst} on {part}.");
                (format!("the model is a mixture of {scorers}. {words}"), Some(Advice::ONE))
            }
            Status::Infeasible => match trained.passed_over {
                Some(passed) => (self.passed_over(passed), Some(Advice::ROWS)),
                None => {
                    let what = if mixes { "any mixture" } else { "any" };
                    let words = match run.answer {
                        Answer::Last => {
                            format!("the last scorer of every game misses it on {part} by {worst} or more.")
                        }
                        _ => format!(
                            "the least violation that {what} of the scorers found reaches on {part} is {worst}."
                        ),
                    };
                    (words, Some(Advice::LOOSEN))
                }
            },
        };
        Ending { tone, word, words, advice }
    }

    /// The rows that the model was chosen on.
    fn chosen_on(&self) -> &'static str {
        let [cross_fit, across_queries] = [self.run.trained.cross_fit, self.run.trained.across_queries];
        match self.run.selected_on() {
            _ if cross_fit && across_queries => {
                "the training rows, each scored by scorers fit to others and compared with rows of all queries"
            }
            _ if cross_fit => "the training rows, each scored by scorers fit to others",
            _ if across_queries => "the training rows, each compared with rows of all queries",
            "validation" => "the validation rows",
            _ => "the training rows",
        }
    }

    /// The constraints that are surely missed on the test rows.
    fn surely_missed(&self) -> Vec<String> {
        let Some(test) = self.run.part("test") else { return Vec::new() };
        let missed = test.audit.checks.iter().enumerate().filter(|(_, check)| check.verdict == Verdict::Fail);
        let words = |(place, check): (usize, &Check)| {
            let miss = or_dash(test.assessment.miss(place), rate);
            format!("{} is surely missed, by {miss}", plain(&check.expression))
        };
        missed.map(words).collect()
    }

    /// Why a model was chosen though another misses the constraints by less.
    fn passed_over(&self, passed: PassedOver) -> String {
        let (run, part) = (&self.run, self.chosen_on());
        let [worst, objective, less] =
            [worst_of(&run.trained.violations), run.trained.objective, passed.objective].map(fine);
        let other = match passed.violation > 0.0 {
            true => format!("misses it by {}", fine(passed.violation)),
            false => "meets it".to_owned(),
        };
        let stated = plain(objective_of(&run.goal));
        format!(
            "it is missed by {worst} on {part}, about as much as chance alone gives. What {other} there has {stated} \
             {less} in place of {objective}, and was passed over."
        )
    }

    /// Whether the bounds are guaranteed on new data, if that was asked for, in a word and a sentence that goes on
    /// after a colon.
    pub(crate) fn guarantee(&self) -> Option<(&'static str, String)> {
        let guarantee = self.run.guarantee.as_ref()?;
        let unit = if self.run.has_queries() { "query" } else { "row" };
        let tested = many(guarantee.units, unit);
        let limit = |own: &ConstraintLimit| match own.limit {
            Some(limit) => format!("{} has the limit {}", plain(&own.constraint), fine(limit)),
            None => format!("{} can't be estimated", plain(&own.constraint)),
        };
        let confidence = percent(guarantee.confidence);
        if guarantee.given {
            let limits: Vec<String> = guarantee.limits.iter().map(limit).collect();
            let words = format!(
                "with {confidence} confidence, on {tested} that nothing was chosen on: {}.",
                limits.join("; ")
            );
            return Some(("Guaranteed", words));
        }
        let missed: Vec<String> = guarantee.limits.iter().filter(|own| !own.keeps).map(limit).collect();
        let needed = match guarantee.units_needed {
            Some(needed) => format!("About {} would do.", many(needed as usize, unit)),
            None => {
                "More rows would not help, as the value itself is beyond the bound or can't be estimated."
                    .to_owned()
            }
        };
        let words = format!("with {confidence} confidence, on {tested}, {}. {needed}", missed.join("; "));
        Some(("No guarantee", words))
    }

    /// What fairness costs those it is for, if there is something to tell.
    pub(crate) fn harm(&self, front_end: FrontEnd) -> Vec<String> {
        let Some(harm) = &self.run.harm else { return Vec::new() };
        let (part, mut told) = (self.chosen_on(), Vec::new());
        let listed = |rates: &[&HarmedRate], value: fn(&HarmedRate) -> f64| {
            let words = |own: &&HarmedRate| {
                format!("{} {} (was {})", plain(&own.rate), fine(value(own)), fine(own.unconstrained))
            };
            let more = rates.len().saturating_sub(MAX_RATES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            rates.iter().take(MAX_RATES).map(words).collect::<Vec<_>>().join(", ") + &more
        };
        if harm.lowers_all() {
            told.push(format!(
                "Levelling down: every accuracy that the constraints compare is below that of the unconstrained scorer on \
                 {part}: {}.",
                listed(&harm.rates.iter().collect::<Vec<_>>(), |own| own.value)
            ));
        }
        let worse: Vec<&HarmedRate> = harm.worse_than_chance().collect();
        if !worse.is_empty() {
            let who =
                if self.run.trained.components.len() > 1 { "a scorer that is drawn" } else { "the scorer" };
            told.push(format!(
                "Worse than chance: {who} orders pairs of somebody wrong more often than right on {part}: {}.",
                listed(&worse, |own| own.least)
            ));
        }
        match harm.allowed {
            None => {
                told.extend(told.last().is_some().then(|| format!("{}.", Advice::NO_HARM.words(front_end))))
            }
            Some(allowed) => {
                let trained = &self.run.trained;
                let (stated, firm) = trained.violations.split_at(harm.stated.min(trained.violations.len()));
                let missed = worst_of(firm);
                let words = match (worst_of(stated) > 0.0, missed > MET) {
                    _ if trained.meets_goal => "the goal is met with it".to_owned(),
                    (_, true) => format!("even that is missed, by {} on {part}", fine(missed)),
                    (true, false) => {
                        let reached =
                            self.run.goal.subject_to.iter().zip(stated).filter(|(_, miss)| **miss > MET);
                        let reached =
                            reached.map(|(text, miss)| format!("{} by {}", plain(text), fine(*miss)));
                        let reached: Vec<String> = reached.collect();
                        format!(
                            "with it, the nearest that is reached on {part} misses {}",
                            reached.join(" and ")
                        )
                    }
                    (false, false) => "the goal is missed by rounding alone".to_owned(),
                };
                told.push(format!(
                    "No accuracy may fall by more than {allowed} below the unconstrained scorer's: {words}."
                ));
            }
        }
        told
    }

    /// How near the model is to the best there is, or how thoroughly a better one was looked for.
    pub(crate) fn optimality(&self) -> Option<String> {
        let stated = plain(objective_of(&self.run.goal));
        if let Some(own) = self.run.trained.certificate {
            let [objective, bound] = [own.objective, own.bound].map(fine);
            let gap = if own.gap < 1e-4 { "less than 0.0001".to_owned() } else { fine(own.gap) };
            return Some(format!(
                "Certified: no mixture of such scorers that meets the goal on the training rows has a better {stated} \
                 than {bound}; this one has {objective}, a gap of {gap}."
            ));
        }
        let tries = self.run.trained.tries?;
        Some(format!("No better answer was found in {tries} {}.", if tries == 1 { "try" } else { "tries" }))
    }

    /// The step sizes of the runs that scorers come from, where runs have any.
    pub(crate) fn step_sizes(&self) -> Option<String> {
        let mut sizes = self.run.trained.step_sizes.clone();
        sizes.retain(|size| size.is_finite());
        sizes.sort_unstable_by(f64::total_cmp);
        sizes.dedup();
        let words: Vec<String> = sizes.iter().map(f64::to_string).collect();
        let name = if sizes.len() > 1 { "step sizes" } else { "step size" };
        (!sizes.is_empty()).then(|| format!("{name} {}", words.join(", ")))
    }

    /// After how many steps runs ended, where some of them ended early.
    pub(crate) fn steps_made(&self) -> Option<String> {
        let Trained { endings, .. } = &self.run.trained;
        let made: Vec<String> = endings.iter().map(|ending| ending.iterations.to_string()).collect();
        let all = self.run.iterations;
        self.run.trained.ended_early().then(|| format!("{} of {all} steps, then no better", made.join(", ")))
    }

    /// That the model is far below the best scorer found whatever the constraints, if it is.
    pub(crate) fn far_below(&self) -> Option<String> {
        let far = self.run.trained.far_below?;
        let [own, best, constant] = [self.run.trained.objective, far.unbound, far.constant].map(fine);
        let stated = plain(objective_of(&self.run.goal));
        let part = self.chosen_on();
        Some(format!(
            "This model is far below what is reached whatever the constraints: on {part} its {stated} is {own}, that of \
             the best scorer found {best}, and that of a constant score {constant}."
        ))
    }
}

/// Why values have no number or no interval, each reason once.
pub(crate) fn reasons<'a>(evaluations: impl Iterator<Item = &'a Evaluation>) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for own in evaluations {
        let metrics = own.audit.checks.iter().map(|check| &check.metric).chain([&own.objective]);
        for reason in metrics.filter_map(|metric| metric.reason.as_deref()).map(plain) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    reasons
}

/// A part of the rows and what it was used for.
pub(crate) fn part_words(run: &TrainOutcome, part: &TrainingPart) -> &'static str {
    match part.name {
        "train" if run.selected_on() == "train" => "train (fit to and chosen on)",
        "train" => "train (fit to)",
        "validation" => "validation (chosen on)",
        "safety" => "safety (for the guarantee)",
        _ => "test (new to the model)",
    }
}

/// Whether training enforced constraints.
pub(crate) fn is_constrained(run: &TrainOutcome) -> bool {
    !run.goal.subject_to.is_empty() && run.method == "constrained"
}

/// The largest violation; 0 without one.
pub(crate) fn worst_of(violations: &[f64]) -> f64 {
    violations.iter().copied().fold(0.0, f64::max)
}

/// What values of a comparison are of, and what was trained.
pub(crate) fn comparison_facts(setup: &ComparisonSetup) -> Vec<String> {
    let mut facts = vec![
        format!("values of the {} part, {}", setup.part, many(setup.rows, "row")),
        format!("{} of {}", scorer_words(setup.scorer), feature_words(&setup.features)),
        format!("seed {}", setup.seed),
    ];
    if setup.violation != ViolationKind::Gap {
        let meaning = ViolationKind::NAMES.iter().find(|(_, kind, _)| *kind == setup.violation);
        facts.extend(meaning.map(|(.., words)| format!("violation: {words}")));
    }
    facts
}

/// What was learned from: "2 features (age, tenure)".
fn feature_words(features: &[String]) -> String {
    match features {
        [only] if only.contains(" words of ") || only.contains(" n-grams of ") => plain(only),
        _ => format!("{} ({})", many(features.len(), "feature"), listed(features, MAX_FEATURES, "")),
    }
}

/// Names, of which many are counted.
fn listed(names: &[String], most: usize, noun: &str) -> String {
    let first: Vec<String> = names.iter().take(most).map(|name| plain(name)).collect();
    let more = names.len().saturating_sub(most);
    let more = if more > 0 { format!(" and {more} more{noun}") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

/// The objective as it was stated.
pub(crate) fn objective_of(goal: &Goal) -> &str {
    match &goal.objective {
        Objective::Maximize(text) | Objective::Minimize(text) => text,
    }
}

/// What a map does to scores, a line for each group.
pub(crate) fn map_words(adjustment: &Adjustment) -> Vec<String> {
    match adjustment {
        Adjustment::Offsets { groups } => {
            groups.iter().map(|group| format!("{}: score {:+.4}", group.name, group.offset)).collect()
        }
        Adjustment::Curves { groups } => {
            let words = |GroupCurve { name, curve }: &GroupCurve| match (&curve.x[..], &curve.y[..]) {
                ([low, .., high], [from, .., to]) => {
                    format!("{name}: scores from {low:.4} to {high:.4} become {from:.4} to {to:.4}")
                }
                ([at], [to]) => format!("{name}: a score of {at:.4} becomes {to:.4}"),
                _ => format!("{name}: scores stay as they are"),
            };
            groups.iter().map(words).collect()
        }
        Adjustment::Logistic { center, scale, groups } => {
            let t = match *center {
                0.0 => format!("score / {scale:.4}"),
                center => format!("(score - {center:.4}) / {scale:.4}"),
            };
            let words = |GroupLogistic { name, alpha, beta, raw }: &GroupLogistic| match raw {
                true => format!("{name}: {t}"),
                false => format!("{name}: 1 / (1 + exp(-({alpha:.4} * {t} {beta:+.4})))"),
            };
            groups.iter().map(words).collect()
        }
        Adjustment::Attribute { slope } => vec![format!("score {:+.4} * attribute", -slope)],
        Adjustment::AttributeCurve { knots } => {
            let knot = |(x, y): (&f64, &f64)| format!("score {:+.4} where the attribute is {x:.4}", -y);
            knots.x.iter().zip(&knots.y).map(knot).collect()
        }
    }
}

/// A goal as it was stated.
pub(crate) fn goal_words(goal: &Goal) -> String {
    let verb = if matches!(goal.objective, Objective::Maximize(_)) { "maximize" } else { "minimize" };
    let bounds: Vec<String> = goal.subject_to.iter().map(|text| plain(text)).collect();
    let given = if bounds.is_empty() { "" } else { " subject to " };
    format!("{verb} {}{given}{}", plain(objective_of(goal)), bounds.join(" and "))
}

/// What was done on which files, if on any: "Training on people.csv".
pub(crate) fn on_files(title: &str, tables: &[String]) -> String {
    if tables.is_empty() { title.to_owned() } else { format!("{title} on {}", file_names(tables)) }
}

/// Names of files, of which many are counted.
pub(crate) fn file_names(tables: &[String]) -> String {
    listed(tables, MAX_NAMES, " files")
}

/// Whether a part of the rows meets a constraint, by how much, and on test rows how sure that is: a model keeps
/// a bound on rows that it was fit to or chosen on more easily than on others, whatever their intervals say.
pub(crate) fn slack(part: &TrainingPart, constraint: usize) -> String {
    let verdict = match part.evaluation.audit.checks[constraint].verdict {
        Verdict::NotEstimable => "not estimable",
        _ if part.name != "test" => "",
        Verdict::Pass => "surely holds",
        Verdict::Fail => "surely missed",
        Verdict::Undecided => "data can't tell",
    };
    let assessment = &part.evaluation.assessment;
    let found = match assessment.miss(constraint) {
        Some(miss) if assessment.meets(constraint) => format!("met, slack {}", rate(-miss.min(0.0))),
        Some(miss) => format!("missed by {}", rate(miss)),
        None => String::new(),
    };
    let both = [found.as_str(), verdict].into_iter().filter(|words| !words.is_empty());
    both.collect::<Vec<_>>().join("; ")
}

/// The same of a scorer alone, of which no interval is known.
pub(crate) fn miss(assessment: &Assessment, constraint: usize) -> String {
    match assessment.miss(constraint) {
        Some(_) if assessment.meets(constraint) => "met".to_owned(),
        Some(miss) => format!("missed by {}", rate(miss)),
        None => "not estimable".to_owned(),
    }
}

/// The kind of scorer in words.
pub(crate) fn scorer_words(model: &str) -> &'static str {
    match model {
        "mlp" => "network",
        "text-cnn" => "text network",
        _ => "linear scorer",
    }
}

/// Commands to run next.
pub(crate) const NEXT: [&str; 2] = [
    "pairity audit people.csv --score score --label hired --query job --group gender \\
    --check 'cross_group <= 0.1' --html audit.html",
    "pairity train people.csv --label hired --query job --group gender -o model.json \\
    --subject-to 'cross_group <= 0.01' --html training.html",
];

impl DemoReport {
    /// How each scorer does on rows that none has seen.
    pub(crate) fn tests(&self) -> Vec<&Evaluation> {
        self.runs.iter().filter_map(|report| report.run.parts.last()).map(|part| &part.evaluation).collect()
    }

    /// What was simulated.
    pub(crate) fn about(&self) -> String {
        format!(
            "Simulated searches (seed {}): in each of {} one of {} candidates is relevant. Group 1 is rare, and its \
             relevant candidates look like irrelevant ones of group 0. Three linear scorers that don't see the group \
             were trained and chosen on three quarters of the searches; this is the other quarter, with 95% \
             confidence intervals.",
            self.seed, self.queries, self.candidates
        )
    }

    /// What was found.
    pub(crate) fn meaning(&self) -> String {
        let percent = |test: &Evaluation, a: usize, b: usize| {
            test.audit.accuracy[a][b].value.map_or("?".to_owned(), |x| format!("{:.0}%", 100.0 * x))
        };
        let [plain, fair, _] = self.tests()[..] else { return String::new() };
        format!(
            "The best ranking for everyone together puts a relevant candidate of group 1 above an irrelevant one of \
             group 0 only {} of the time, against {} the other way around. The constrained scorer closes the gap, {} \
             and {}, at the price of some accuracy elsewhere; the robust one raises the worst of the three rates.",
            percent(plain, 1, 0),
            percent(plain, 0, 1),
            percent(fair, 1, 0),
            percent(fair, 0, 1),
        )
    }
}

impl Reproduced {
    /// Decimals of the objective.
    pub(crate) fn digits(&self) -> usize {
        if self.shown == "mse" { 4 } else { 3 }
    }

    /// Whether both values agree with the paper's, in a word or two.
    pub(crate) fn verdict(&self) -> String {
        self.agreement.map_or(String::new(), |(objective, violation)| match objective == violation {
            true => objective.to_owned(),
            false => format!("{objective} ({violation})"),
        })
    }

    /// The values that are worse than the paper's: what each is, with its mean and standard deviation.
    pub(crate) fn worse(&self) -> Vec<(&'static str, (f64, f64))> {
        let (objective, violation) = self.agreement.unwrap_or_default();
        let values = [(objective, self.shown, self.objective), (violation, "violation", self.violation)];
        let worse = values.into_iter().filter(|(word, ..)| *word == "worse");
        worse.map(|(_, what, value)| (what, value)).collect()
    }
}
