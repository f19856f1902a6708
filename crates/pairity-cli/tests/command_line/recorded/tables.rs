//! The tables that the recorded commands read: always the same bytes, from whole numbers alone.

use super::super::HIRING;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Whole numbers that look random, the same at every call.
struct Draws(u64);

impl Draws {
    /// A number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// A bell of thousandths with mean 0 and a deviation of about 577.
    fn bell(&mut self) -> i64 {
        (0..4).map(|_| self.below(1001) as i64).sum::<i64>() - 2000
    }

    /// The text, or an empty cell once in `n` times.
    fn or_missing(&mut self, n: u64, text: String) -> String {
        if self.below(n) == 0 { String::new() } else { text }
    }
}

/// A number of thousandths as a decimal.
fn thousandths(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", number.abs() / 1000, number.abs() % 1000)
}

/// A number of tenths as a decimal.
fn tenths(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}.{}", number.abs() / 10, number.abs() % 10)
}

/// Writes all tables into a folder.
pub fn write_tables(folder: &Path) {
    let save = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a table");
    fs::copy(HIRING, folder.join("hiring.csv")).expect("the example");
    save("people.csv", &people());
    save("two.csv", &two(11, 120));
    save("validation.csv", &two(12, 30));
    save("test.csv", &two(13, 25));
    save("pay.csv", &pay());
    save("comments.csv", &comments());
    save("vectors.txt", "nonsense 1 0 0 0.5\nthe 0 1 0 0\nunused 0 0 1 0\ncats 0.5 0 0 -1\n");
    let (tabs, svmlight) = search();
    save("search.tsv", &tabs);
    save("search.svm", &svmlight);
}

/// Queries of different sizes with three groups and rows of none, ties in scores and labels, labels that are
/// real numbers, weights, and cells that are missing.
fn people() -> String {
    const POSITIONS: [&str; 9] = ["1", "0.631", "0.5", "0.431", "0.387", "0.356", "0.333", "0.315", "0.301"];
    let mut draws = Draws(5);
    let mut text = "id,query,group,sex,age,label,grade,score,tied,weight,position,x1,x2,x3,city\n".to_owned();
    let mut id = 0;
    for query in 0..80 {
        for position in &POSITIONS[..4 + query % 6] {
            id += 1;
            let group = draws.below(10) as usize;
            let quality = draws.bell();
            let shift = [0, 0, 0, 0, -300, -300, -300, 400, 400, 0][group];
            let score = quality + draws.bell() + shift;
            let group =
                ["red", "red", "red", "red", "green", "green", "green", "dark blue", "dark blue", ""][group];
            let sex = ["f", "m"][draws.below(2) as usize];
            let label = draws.or_missing(60, ((quality + 1500) / 1000).clamp(0, 2).to_string());
            let grade = draws.or_missing(90, thousandths(quality / 50 * 25));
            let (age, weight) = (18 + draws.below(50), draws.below(31));
            let x1 = quality + draws.bell() + shift;
            let x2 = quality / 2 + draws.bell() - shift;
            let cells = [
                format!("p{id:03}"),
                draws.or_missing(150, format!("job {query}")),
                group.to_owned(),
                sex.to_owned(),
                draws.or_missing(40, age.to_string()),
                label,
                grade,
                draws.or_missing(80, thousandths(score)),
                tenths(score / 300),
                draws.or_missing(100, tenths(weight as i64)),
                (*position).to_owned(),
                thousandths(x1),
                draws.or_missing(12, thousandths(x2)),
                draws.below(4).to_string(),
                ["Rome", "Oslo", "Kyoto", ""][draws.below(4) as usize].to_owned(),
            ];
            writeln!(text, "{}", cells.join(",")).expect("a row");
        }
    }
    text
}

/// Queries of five with two groups: x ranks group a well and puts it before group b, w ranks group b a little.
fn two(seed: u64, queries: usize) -> String {
    let mut draws = Draws(seed);
    let mut text = "q,g,age,y,s,x,w\n".to_owned();
    for query in 0..queries {
        for place in 0..5 {
            let (good, b) = (place < 2 && draws.below(3) > 0, draws.below(5) < 2);
            let lift = |much: i64, little: i64, strong: bool| {
                if !good {
                    0
                } else if strong {
                    much
                } else {
                    little
                }
            };
            let ahead = if b { 0 } else { 500 };
            let (x, w) = (draws.bell() + ahead + lift(1000, 300, !b), draws.bell() + lift(600, 100, b));
            let (group, age) = (if b { "b" } else { "a" }, 20 + draws.below(40));
            let score = thousandths((2 * x + w) / 3);
            writeln!(
                text,
                "{query},{group},{age},{},{score},{},{}",
                u8::from(good),
                thousandths(x),
                thousandths(w)
            )
            .expect("a row");
        }
    }
    text
}

/// A regression without queries, of two groups and a continuous attribute.
fn pay() -> String {
    let mut draws = Draws(3);
    let mut text = "pay,age,sex,skill,years,guess\n".to_owned();
    for _ in 0..160 {
        let (age, skill, years) = (draws.below(45) as i64, draws.bell(), draws.below(20) as i64);
        let sex = draws.below(2) as usize;
        let pay = 5000 + skill + 30 * age + 20 * years + 400 * sex as i64 + draws.bell() / 3;
        let guess = pay + draws.bell() + 10 * age;
        let cells = [pay, skill, guess].map(thousandths);
        writeln!(text, "{},{},{},{},{years},{}", cells[0], 20 + age, ["f", "m"][sex], cells[1], cells[2])
            .expect("a row");
    }
    text
}

/// Comments with quotes, commas and line breaks; one word decides the label, another one the group.
fn comments() -> String {
    const FILLERS: [&str; 8] = ["the", "of", "and", "to", "in", "is", "it's", "was"];
    let mut text = "comment,toxic,term,length\n".to_owned();
    for row in 0..90 {
        let mut words: Vec<&str> = (0..4 + row % 7).map(|i| FILLERS[(row * 5 + i * i) % 8]).collect();
        if row % 3 == 0 {
            words.insert(row % 5, "Nonsense,\n");
        }
        if row % 4 == 0 {
            words.push("\"\"cats\"\"");
        }
        // Some labels contradict the word.
        let (toxic, term) = (u8::from((row % 3 == 0) != (row % 11 == 5)), ["cats", "other"][row % 4 % 2]);
        writeln!(text, "\"{}\",{toxic},{term},{}", words.join(" "), words.len()).expect("a row");
    }
    text
}

/// Rows with tabs, and most of their columns in the format of SVMlight, where zeros are left out.
fn search() -> (String, String) {
    let mut draws = Draws(9);
    let (mut tabs, mut svmlight) = ("topic\tgrade\tside\tf1\tf2\tf3\n".to_owned(), String::new());
    for topic in 0..40 {
        for _ in 0..5 {
            let (grade, side) = (draws.below(3), draws.below(2));
            let f1 = thousandths(draws.bell() + 300 * grade as i64 + 200 * side as i64);
            let (f2, f3) = (draws.below(3), thousandths(draws.bell()));
            writeln!(tabs, "{topic}\t{grade}\t{side}\t{f1}\t{f2}\t{f3}").expect("a row");
            write!(svmlight, "{grade} qid:{topic} 1:{f1}").expect("a row");
            for (feature, value) in [(2, f2), (4, side)].into_iter().filter(|(_, value)| *value > 0) {
                write!(svmlight, " {feature}:{value}").expect("a row");
            }
            svmlight.push('\n');
        }
    }
    (tabs, svmlight)
}
