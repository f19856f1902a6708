//! What a reader could do next, in the words of the front end that shows the report.

/// Who shows a report to people: it decides the words of advice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FrontEnd {
    /// Options of commands.
    #[default]
    CommandLine,
    /// Parameters and methods of the Python package.
    Python,
}

/// What a reader could do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Say what the labels are.
    Labels,
    /// Say what the groups are.
    Groups,
    /// Look at all values, of which some are shown.
    AllValues,
    /// Look at the intervals, for which there was no room.
    Intervals,
    /// Go on with a training that was stopped.
    Resume,
    /// Train longer.
    Iterations,
    /// Use the method that trains for constraints.
    Constrained,
    /// Ask for less, or allow more.
    Loosen,
    /// Train instead of adjusting.
    Train,
}

impl Advice {
    /// The advice as a part of a sentence.
    pub(crate) fn words(self, front_end: FrontEnd) -> &'static str {
        let (command_line, python) = match self {
            Advice::Labels => ("name the label column with --label", "pass labels"),
            Advice::Groups => ("name a column with --group or --protected", "pass groups or protected"),
            Advice::AllValues => ("--format json has all", "to_dict() has all"),
            Advice::Intervals => (
                "intervals are in --format json, or show in a wider terminal",
                "intervals are in to_dict() and to_frame()",
            ),
            Advice::Resume => ("--resume goes on", "a larger time_limit= lets it finish"),
            Advice::Iterations => ("more --iterations may help", "more iterations= may help"),
            Advice::Constrained => {
                ("--method constrained trains for it", "method=\"constrained\" trains for it")
            }
            Advice::Loosen => (
                "Loosen the bound, use a richer --model, or allow --group-aware",
                "Loosen the bound, use a richer model=, or allow group_aware=True",
            ),
            Advice::Train => (
                "Loosen the bound, or train a scorer for it (pairity train)",
                "Loosen the bound, or train a scorer for it (pairity.FairRanker)",
            ),
        };
        match front_end {
            FrontEnd::CommandLine => command_line,
            FrontEnd::Python => python,
        }
    }
}
