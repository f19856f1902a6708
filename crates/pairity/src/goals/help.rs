//! The words of the goal language, for help texts.

use super::criterion::Criterion;

/// Columns of the lines.
const WIDTH: usize = 80;

/// The words of the goal language on a few lines, each behind two spaces.
pub fn language_help() -> String {
    let mut criteria = String::from(" ");
    let mut used = 1;
    for criterion in Criterion::documented() {
        let size = 2 + criterion.name().len();
        if used + size > WIDTH {
            criteria += "\n ";
            used = 1;
        }
        criteria += if used == 1 { " " } else { "  " };
        criteria += criterion.name();
        used += size;
    }
    format!(
        "  auc   mse   A[female > male]   A[* > male]   P[a > b]   S[a]   A[z > z']   A[z < z']\n{criteria}\n  \
         abs(e)  min(e, e)  max(e, e)  + - * numbers ( )  and one of  <=  >="
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_in_the_help() {
        let lines = language_help();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines[1], "  cross_group  within_group  marginal  equal_opportunity  statistical_parity");
        assert_eq!(lines[2], "  symmetric  continuous");
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn the_guide_has_the_same_criteria() {
        let guide = include_str!("../../../../docs/audit.md");
        let table = guide.split("| criterion |").nth(1).unwrap_or_default();
        let names = table.lines().skip(2).map_while(|line| line.strip_prefix("| `")?.split('`').next());
        assert_eq!(names.collect::<Vec<_>>(), Criterion::ALL.map(Criterion::name));
    }
}
