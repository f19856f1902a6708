//! Names that resemble a name that is not there, for messages that help.

/// How alike two names must be, by Jaro and Winkler.
const ALIKE: f64 = 0.75;

/// The candidates most like a name, the most similar first, three at most; case does not count.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = candidates
        .map(|candidate| (strsim::jaro_winkler(&name, &candidate.to_lowercase()), candidate))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first_and_the_case_does_not_matter() {
        let names = ["age", "scope", "Score", "score_2", "core"];
        assert_eq!(nearest("SCORE", names.into_iter()), ["Score", "score_2", "core"]);
        assert_eq!(nearest("zip", names.into_iter()), Vec::<&str>::new());
    }
}
