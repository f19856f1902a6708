//! Accuracy by a continuous attribute.

use super::AuditPage;
use super::scores::write;
use crate::html::chart::{Chart, ChartPoint, Mark, Swatch};
use crate::html::frame::{Section, remarks, section};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
use crate::html::whiskers::{Whisker, Whiskers};
use crate::scale::Scale;
use crate::text::words::{count, rate, shorten};
use pairity::metrics::{DifferenceBin, Differences, Metric};

impl AuditPage<'_> {
    pub(super) fn continuous(&self) -> Option<Section> {
        let both = self.report.audit.continuous.as_ref()?;
        if !self.report.has_labels() {
            return None;
        }
        let z = shorten(&self.attribute(), 40);
        let whiskers =
            Whiskers::of("Accuracy with its interval", "Accuracy", Whisker::of_continuous(both, "", &z))
                .beside(&self.report.audit.auc);
        let mut body = vec![whiskers.html()];
        let differences = self.distributions.and_then(|found| found.differences.as_ref());
        if let Some(found) = differences.filter(|found| !found.bins.is_empty()) {
            body.push(self.difference_chart(found, &z, both));
            if found.rounded {
                let words = format!(
                    "{z} has many values, which were rounded to about a hundred for this picture; all pairs are \
                     counted. Pairs of one rounded value stand at 0."
                );
                body.push(remarks(&[words]));
            }
            body.push(difference_table(found, &z).behind("These numbers as a table"));
        }
        let about = format!("z is {z}, of the better one; z' that of the worse one.");
        section("continuous", "Accuracy by a continuous attribute", &about, body)
    }

    fn difference_chart(&self, found: &Differences, z: &str, both: &(Metric, Metric)) -> Html {
        let (greater, less) = both;
        let x = Scale::over(found.bins.iter().map(|bin| bin.mean).chain([0.0]));
        let values = found.bins.iter().map(|bin| bin.accuracy);
        let ends = [greater, less].into_iter().flat_map(|m| [m.low, m.high]).flatten();
        let y = Scale::over(values.chain(ends).chain(self.report.audit.auc.value));
        let mut marks = Vec::new();
        let mut legend = vec![(Swatch::Path, 0, "accuracy of pairs that differ by so much".to_owned())];
        let sides = [(greater, (0.0, x.high()), "A[z > z']"), (less, (x.low(), 0.0), "A[z < z']")];
        for (metric, x, name) in sides {
            if let (Some(low), Some(high)) = (metric.low, metric.high) {
                let about = format!("{name}: {} to {}", rate(low), rate(high));
                marks.push(Mark::Band { series: 1, x, y: (low, high), about });
            }
        }
        if !marks.is_empty() {
            legend.push((Swatch::Band, 1, "interval of A[z < z'], left, and A[z > z'], right".to_owned()));
        }
        if let Some(auc) = self.report.audit.auc.value {
            marks.push(Mark::Across { y: auc, about: format!("overall accuracy, {}", rate(auc)) });
            legend.push((Swatch::Rule, 0, "overall accuracy, and equal attributes".to_owned()));
        }
        marks.push(Mark::Up { x: 0.0, about: "equal".to_owned() });
        let points = found.bins.iter().map(|bin| (bin.mean, bin.accuracy));
        marks.push(Mark::Line { series: 0, points: points.collect() });
        let point = |bin: &DifferenceBin| ChartPoint {
            x: bin.mean,
            y: bin.accuracy,
            x_interval: None,
            y_interval: None,
            about: format!("z − z' {}: {}, {} pairs", range(bin), rate(bin.accuracy), count(bin.pairs)),
        };
        marks.push(Mark::Points { series: 0, faded: false, points: found.bins.iter().map(point).collect() });
        let said: Vec<String> =
            found.bins.iter().map(|bin| format!("{} at {}", rate(bin.accuracy), write(bin.mean))).collect();
        Chart {
            label: format!("Accuracy by the difference of {z}: {}", said.join(", ")),
            title: "Accuracy by difference".to_owned(),
            x_title: format!("{z} of the better one minus that of the worse one"),
            y_title: "accuracy".to_owned(),
            x,
            y,
            marks,
            legend,
        }
        .html()
    }
}

fn difference_table(found: &Differences, z: &str) -> HtmlTable {
    let caption = format!("Accuracy by the difference of {z}, pooled over all pairs");
    let mut table = HtmlTable::new(caption, &["z − z'", "#Mean", "#Accuracy", "#Pairs"]);
    for bin in &found.bins {
        table.push(vec![
            TableCell::name(&range(bin)),
            TableCell::number(write(bin.mean)),
            TableCell::number(rate(bin.accuracy)),
            TableCell::count(bin.pairs),
        ]);
    }
    table
}

fn range(bin: &DifferenceBin) -> String {
    match bin.low == bin.high {
        true => write(bin.low),
        false => format!("{} to {}", write(bin.low), write(bin.high)),
    }
}
