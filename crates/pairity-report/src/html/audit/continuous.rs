//! Accuracy and parity by a continuous attribute.

use super::AuditPage;
use super::scores::write;
use crate::facts::has_labels;
use crate::html::chart::{Chart, ChartPoint, Swatch};
use crate::html::frame::{Section, remarks, section};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
use crate::html::whiskers::{Whisker, Whiskers};
use crate::scale::Scale;
use crate::words::{count, rate, shorten};
use pairity::metrics::{ContinuousRates, DifferenceBin, Differences};

impl AuditPage<'_> {
    pub(super) fn continuous(&self) -> Option<Section> {
        let audit = &self.report.audit;
        let both = audit.continuous.as_ref().filter(|_| has_labels(audit))?;
        let z = shorten(&self.attribute(), 40);
        let whiskers =
            Whiskers::of("Accuracy with its interval", "Accuracy", Whisker::of_continuous(both, "", &z))
                .beside(&audit.auc);
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

    pub(super) fn continuous_parity(&self) -> Option<Section> {
        let rates = self.report.audit.continuous.as_ref()?;
        let z = shorten(&self.attribute(), 40);
        let rows = Whisker::of_continuous_parity(rates, "", &z);
        let whiskers = Whiskers::of("Parity with its interval", "Parity", rows).holding([0.5]);
        let about =
            format!("How often the one of two with the higher {z} scores higher, whatever their labels.");
        let about = format!("{about} 0.5 is parity.");
        section("continuous-parity", "Parity by a continuous attribute", &about, [whiskers.html()])
    }

    fn difference_chart(&self, found: &Differences, z: &str, rates: &ContinuousRates) -> Html {
        let ContinuousRates { greater, less, .. } = rates;
        let auc = self.report.audit.auc.value;
        let x = Scale::over(found.bins.iter().map(|bin| bin.mean).chain([0.0]));
        let values = found.bins.iter().map(|bin| bin.accuracy);
        let ends = [greater, less].into_iter().flat_map(|m| [m.low, m.high]).flatten();
        let y = Scale::over(values.chain(ends).chain(auc));
        let sides = [(greater, (0.0, x.high), "A[z > z']"), (less, (x.low, 0.0), "A[z < z']")];
        let said: Vec<String> =
            found.bins.iter().map(|bin| format!("{} at {}", rate(bin.accuracy), write(bin.mean))).collect();
        let label = format!("Accuracy by the difference of {z}: {}", said.join(", "));
        let x_title = format!("{z} of the better one minus that of the worse one");
        let mut chart = Chart::new("Accuracy by difference", (&x_title, x), ("accuracy", y), label);
        chart.explain(Swatch::Path, 0, "accuracy of pairs that differ by so much");
        for (metric, x, name) in &sides {
            if let (Some(low), Some(high)) = (metric.low, metric.high) {
                chart.band(1, *x, (low, high), &format!("{name}: {} to {}", rate(low), rate(high)));
            }
        }
        if sides.iter().any(|(metric, ..)| metric.low.is_some() && metric.high.is_some()) {
            chart.explain(Swatch::Band, 1, "interval of A[z < z'], left, and A[z > z'], right");
        }
        if let Some(auc) = auc {
            chart.across(auc, &format!("overall accuracy, {}", rate(auc)));
            chart.explain(Swatch::Rule, 0, "overall accuracy, and equal attributes");
        }
        chart.up(0.0, "equal");
        chart.line(0, &found.bins.iter().map(|bin| (bin.mean, bin.accuracy)).collect::<Vec<_>>());
        for bin in &found.bins {
            let about = format!("z − z' {}: {}, {} pairs", range(bin), rate(bin.accuracy), count(bin.pairs));
            chart.dot(0, false, &ChartPoint::at(bin.mean, bin.accuracy, about));
        }
        chart.html()
    }
}

fn difference_table(found: &Differences, z: &str) -> HtmlTable {
    let caption = format!("Accuracy by the difference of {z}, pooled over all pairs");
    let mut table = HtmlTable::new(caption, &["z − z'", "#Mean", "#Accuracy", "#Pairs"]);
    for bin in &found.bins {
        let numbers = [write(bin.mean), rate(bin.accuracy), count(bin.pairs)];
        table.row(TableCell::name(&range(bin)), numbers.map(TableCell::number));
    }
    table
}

fn range(bin: &DifferenceBin) -> String {
    match bin.low == bin.high {
        true => write(bin.low),
        false => format!("{} to {}", write(bin.low), write(bin.high)),
    }
}
