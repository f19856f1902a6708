//! The policies of all queries of a table.

use super::candidates::Candidates;
use super::{Exposure, Policy, Utilities, position_exposure};
use crate::examples::{Examples, NO_GROUP};
use crate::model::ModelError;
use rayon::prelude::*;

/// One ranking of every query. Both columns are in the order of the rows given.
#[derive(Debug, Clone, PartialEq)]
pub struct RankingMember {
    /// Minus the rank inside the query. Candidates of one group with equal utilities share their mean
    /// rank: any order of them is as good to the method, and which row comes first must not count.
    /// 0 in rows of weight 0, which are not ranked.
    pub scores: Vec<f64>,
    /// The probability of the row's query to be ranked so; those of all members add up to 1.
    pub probabilities: Vec<f64>,
}

/// Stochastic rankings of the queries of a table: the first member holds the most probable ranking of
/// every query. Where a query has fewer rankings than there are members, it is in the others with its first
/// ranking and probability 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Rankings {
    /// At most as many as groups.
    pub members: Vec<RankingMember>,
    /// The [slack](Policy::slack) of each query, by ascending query.
    pub slacks: Vec<f64>,
    /// The [objective](Policy::objective) of each query, by ascending query.
    pub objectives: Vec<f64>,
}

/// The groups' names and the examples' codes; or why the examples can't be ranked.
pub(crate) fn check(examples: &Examples) -> Result<(&[String], &[u16]), String> {
    if !examples.has_queries() {
        let shared = "exposure is shared among the candidates of a query, and there are no queries";
        return Err(format!("{shared}: name their column"));
    }
    examples.coded_groups().map_err(|found| format!("exposure is compared between groups, and {found}"))
}

/// The policy of each query, from scores in the order of the rows.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::model::exposure::{Exposure, Utilities, policy};
///
/// let groups = Groups::from_names(&["a", "a", "b", "b"]);
/// let examples = Examples::new(Columns {
///     groups: Some(&groups),
///     queries: Some(&[1, 1, 1, 1]),
///     ..Columns::default()
/// })?;
/// let scores = [0.9, 0.8, 0.79, 0.7];
/// let rankings = policy(&examples, &scores, Exposure::Treatment, Utilities::Clipped)?;
/// let [likely, other] = &rankings.members[..] else { panic!("two rankings") };
/// assert_eq!(likely.scores, [-1.0, -4.0, -2.0, -3.0]);
/// assert_eq!(likely.probabilities[0] + other.probabilities[0], 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The method does not apply without queries or without groups; scores have to be finite, one for each
/// row.
pub fn policy(
    examples: &Examples,
    scores: &[f64],
    exposure: Exposure,
    utilities: Utilities,
) -> Result<Rankings, ModelError> {
    let (names, codes) = check(examples).map_err(ModelError::NoRanking)?;
    let arranged = examples.arrange(scores)?;
    let largest = (0..examples.queries()).map(|query| examples.query(query).len()).max();
    let position = position_exposure(largest.unwrap_or(0));
    let code = |&code: &u16| if (code as usize) < names.len() { u32::from(code) } else { NO_GROUP };

    let solved: Vec<(Policy, Vec<Vec<f64>>)> = (0..examples.queries())
        .into_par_iter()
        .map(|query| {
            let range = examples.query(query);
            let codes: Vec<u32> = codes[range.clone()].iter().map(code).collect();
            let candidates = Candidates::new(&utilities.of(&arranged[range]), &codes, exposure, &position);
            let policy = candidates.policy();
            let scores = policy.rankings.iter().map(|ranking| candidates.scores(&ranking.order)).collect();
            (policy, scores)
        })
        .collect();

    let count = solved.iter().map(|(_, scores)| scores.len()).max().unwrap_or(0);
    let member = |m: usize| {
        let mut member = RankingMember {
            scores: vec![0.0; examples.rows()],
            // That of rows that are in no query.
            probabilities: vec![if m == 0 { 1.0 } else { 0.0 }; examples.rows()],
        };
        for (query, (policy, scores)) in solved.iter().enumerate() {
            let probability = policy.rankings.get(m).map_or(0.0, |ranking| ranking.probability);
            let Some(scores) = scores.get(m).or(scores.first()) else { continue };
            for (&row, &score) in examples.row[examples.query(query)].iter().zip(scores) {
                member.scores[row as usize] = score;
                member.probabilities[row as usize] = probability;
            }
        }
        member
    };
    Ok(Rankings {
        members: (0..count).map(member).collect(),
        slacks: solved.iter().map(|(policy, _)| policy.slack).collect(),
        objectives: solved.iter().map(|(policy, _)| policy.objective).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Columns, ExamplesError, Groups};

    fn table(scores: &[f64], groups: &[&str], queries: &[u32], weights: Option<&[f64]>) -> Rankings {
        let groups = Groups::from_names(groups);
        let columns =
            Columns { groups: Some(&groups), queries: Some(queries), weights, ..Columns::default() };
        policy(&Examples::new(columns).unwrap(), scores, Exposure::Impact, Utilities::Clipped).unwrap()
    }

    #[test]
    fn rows_keep_their_places_and_queries_their_probabilities() {
        // Query 2 is the pair of rows 1 and 3, each on top half of the time. Query 5 has one group.
        let rankings = table(&[1.0, 2.0, 3.0, 1.0], &["a", "a", "a", "b"], &[5, 2, 5, 2], None);
        let [first, second] = &rankings.members[..] else { panic!("{rankings:?}") };
        assert_eq!(first.probabilities, [1.0, 0.5, 1.0, 0.5]);
        assert_eq!(second.probabilities, [0.0, 0.5, 0.0, 0.5]);
        assert_eq!((first.scores[0], first.scores[2]), (-2.0, -1.0));
        assert_eq!((second.scores[0], second.scores[2]), (-2.0, -1.0));
        let pair = |member: &RankingMember| [member.scores[1], member.scores[3]];
        assert!(pair(first) != pair(second) && pair(first).contains(&-1.0) && pair(second).contains(&-1.0));
        assert_eq!(rankings.slacks, [0.0, 0.0]);
        assert_eq!(rankings.objectives.len(), 2);
    }

    #[test]
    fn candidates_that_are_equal_to_the_method_are_tied() {
        let rankings = table(&[1.0, 1.0, 0.0, 1.0, -2.0], &["a"; 5], &[0; 5], None);
        assert_eq!(rankings.members[0].scores, [-2.0, -2.0, -4.5, -2.0, -4.5]);
    }

    #[test]
    fn rows_of_weight_zero_are_not_ranked() {
        let rankings = table(&[9.0, 2.0, 1.0], &["a", "a", "b"], &[1, 1, 1], Some(&[0.0, 1.0, 2.0]));
        let scores: Vec<f64> = rankings.members.iter().map(|member| member.scores[0]).collect();
        assert_eq!(scores, [0.0, 0.0]);
        let mut top: Vec<f64> = rankings.members.iter().map(|member| member.scores[1]).collect();
        top.sort_by(f64::total_cmp);
        assert_eq!(top, [-2.0, -1.0]);
        for row in 0..3 {
            assert_eq!(rankings.members.iter().map(|member| member.probabilities[row]).sum::<f64>(), 1.0);
        }
    }

    #[test]
    fn threads_do_not_change_the_rankings() {
        let n = 3_000;
        let scores: Vec<f64> = (0..n).map(|i| f64::from(i * 7_919 % 1_013)).collect();
        let groups: Vec<&str> = (0..n).map(|i| ["a", "b", "c", ""][(i * 31 % 97 % 4) as usize]).collect();
        let queries: Vec<u32> = (0..n as u32).map(|i| i / 7 % 100).collect();
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let run = || table(&scores, &groups, &queries, None);
        assert_eq!(pool(1).install(run), pool(3).install(run));
    }

    #[test]
    fn it_says_why_it_does_not_apply() {
        let groups = Groups::from_names(&["a", "b"]);
        let error = |columns: Columns, scores: &[f64]| {
            policy(&Examples::new(columns).unwrap(), scores, Exposure::Impact, Utilities::Range).unwrap_err()
        };
        let queries = Some(&[0, 0][..]);
        let all = Columns { groups: Some(&groups), queries, ..Columns::default() };
        let says = |columns: Columns, why: &str| {
            let text = error(columns, &[1.0, 2.0]).to_string();
            assert!(text.starts_with("Singh & Joachims does not apply") && text.contains(why), "{text}");
        };
        says(Columns { queries: None, ..all }, "there are no queries");
        says(Columns { labels: Some(&[0.0, 1.0]), queries, ..Columns::default() }, "there are none");
        says(Columns { protected: Some(&[0.5, 0.1]), queries, ..Columns::default() }, "is continuous");
        assert!(matches!(
            error(all, &[1.0, f64::INFINITY]),
            ModelError::Examples(ExamplesError::NotFinite { row: 1, .. })
        ));
    }
}
