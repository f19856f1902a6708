//! Pages of the real binary in a real browser: wide and narrow, light, dark and on paper. `scripts/browser.sh`
//! installs what this needs.

use super::{HIRING, pairity};
use assert_cmd::Command;
use pairity_testing::need;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");

/// The browser, if it is there with Node.js and its packages.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find =
        |name: &str| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file());
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let browser =
        named.or_else(|| ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|n| find(n)));
    let packages = Path::new(FOLDER).join("node_modules/playwright-core").is_dir();
    let missing = |what: &str| Err(format!("{what} is not installed; scripts/browser.sh does that"));
    let found = match (browser, find("node"), packages) {
        (None, ..) => missing("Chromium"),
        (_, None, _) => missing("Node.js"),
        (_, _, false) => missing("playwright-core"),
        (Some(browser), ..) => Ok(browser),
    };
    need("browser", "pages in a browser", found)
}

/// What is wrong with pages, one line each. With `PAIRITY_SHOTS`, pictures are kept in that folder.
fn faults(browser: &Path, pages: &[PathBuf]) -> String {
    let mut command = Command::new("node");
    command.current_dir(FOLDER).arg("check.mjs").arg(browser).args(pages);
    if let Some(folder) = std::env::var_os("PAIRITY_SHOTS") {
        command.arg("--shots").arg(folder);
    }
    let output = command.output().expect("Node.js runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Makes the page of an audit.
fn page(folder: &TempDir, name: &str, table: &str, arguments: &[&str]) -> PathBuf {
    let data = folder.path().join(format!("{name}.csv"));
    std::fs::write(&data, table).expect("a file");
    let page = folder.path().join(format!("{name}.html"));
    let mut command = pairity();
    let output =
        command.arg("audit").arg(&data).args(arguments).arg("--html").arg(&page).output().expect("a run");
    assert_ne!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    page
}

/// Makes a page by a command that ends in `--html`.
fn made(folder: &TempDir, name: &str, arguments: &[&str]) -> PathBuf {
    let page = folder.path().join(format!("{name}.html"));
    let mut command = pairity();
    let output =
        command.current_dir(folder.path()).args(arguments).arg("--html").arg(&page).output().expect("a run");
    assert_ne!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    page
}

/// Rows of so many queries of ten, whose label, score, attribute and group come from fixed arithmetic.
fn table(header: &str, queries: u32, groups: &[&str]) -> String {
    let mut text = format!("{header}\n");
    for i in 0..queries * 10 {
        let (label, age) = (i * 13 % 7 % 3, 18 + i * 31 % 60);
        let group = groups[(i * 5 % 23) as usize % groups.len()].replace('"', "\"\"");
        let score = f64::from(i * 7919 % 997) / 997.0 + 0.3 * f64::from(label) - 0.005 * f64::from(age);
        text += &format!("{},\"{group}\",{label},{score:.3},{age}\n", i / 10);
    }
    text
}

#[test]
fn pages_render_and_can_be_used_by_all() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let grouped = ["--score", "s", "--label", "y", "--query", "q", "--group", "g"];
    let hiring = std::fs::read_to_string(HIRING).expect("the example");
    let mut pages = vec![page(
        &folder,
        "hiring",
        &hiring,
        &[
            "--score",
            "score",
            "--label",
            "label",
            "--query",
            "query",
            "--group",
            "gender",
            "--check",
            "cross_group <= 0.1",
            "--check",
            "auc >= 0.7",
            "--check",
            "cross_group <= 0.28",
        ],
    )];

    let ages = table("q,g,y,s,age", 40, &[""]);
    pages.push(page(
        &folder,
        "continuous",
        &ages,
        &["--score", "s", "--label", "y", "--query", "q", "--protected", "age"],
    ));

    let long = [
        "Persons who prefer not to state their gender in this questionnaire, or in any other",
        "Women",
        "Donaudampfschiffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
        "Men",
    ];
    pages.push(page(&folder, "long", &table("q,g,y,s,age", 60, &long), &grouped));

    let unknown = "q,g,y,s\n1,a,1,0.9\n1,a,0,0.1\n1,a,1,0.5\n1,a,0,0.3\n1,b,1,0.4\n2,c,0,1\n";
    pages.push(page(&folder, "unknown", unknown, &[&grouped[..], &["--check", "A[a > b] >= 0.5"]].concat()));

    let twelve: Vec<String> = (1..=12).map(|i| format!("region number {i}")).collect();
    let twelve: Vec<&str> = twelve.iter().map(String::as_str).collect();
    let all = table("q,g,y,s,age", 60, &twelve);
    pages.push(page(&folder, "twelve", &all, &["--score", "s", "--label", "y", "--group", "g"]));

    let found = faults(&browser, &pages);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn pages_of_training_can_be_used_by_all() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("two.csv"), table("q,g,y,s,age", 60, &["Women", "Men"]))
        .expect("a file");
    let nasty = [
        "<script>alert(1)</script>",
        "' onclick='alert(1)",
        "a group of a long name that has to be cut somewhere",
    ];
    std::fs::write(folder.path().join("three.csv"), table("q,g,y,s,<b>age</b>", 60, &nasty)).expect("a file");
    let few = ["--iterations", "120", "--step-size", "0.1,1"];
    let train = |name: &str, arguments: &[&str]| made(&folder, name, &[&["train"], arguments, &few].concat());
    let grouped = ["--label", "y", "--query", "q", "--group", "g", "-o", "model.json"];
    let pages = [
        train("two", &[&["two.csv"], &grouped[..], &["--subject-to", "cross_group <= 0.02"]].concat()),
        train(
            "three",
            &[&["three.csv"], &grouped[..], &["--subject-to", "A[* > '<script>alert(1)</script>'] >= 0.5"]]
                .concat(),
        ),
        train(
            "regression",
            &[
                "two.csv",
                "--label",
                "y",
                "--protected",
                "age",
                "-o",
                "m.json",
                "--minimize",
                "mse",
                "--subject-to",
                "continuous <= 0.05",
            ],
        ),
        train("plain", &["two.csv", "--label", "y", "--features", "s", "-o", "p.json"]),
    ];
    let found = faults(&browser, &pages);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn the_page_of_the_demo_can_be_used_by_all() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let found = faults(&browser, &[made(&folder, "demo", &["demo"])]);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn pages_of_comparisons_can_be_used_by_all() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let two = table("q,g,y,s,age", 60, &["Women", "<script>alert(1)</script>"]);
    std::fs::write(folder.path().join("two.csv"), two).expect("a file");
    let few = ["two.csv", "--label", "y", "--iterations", "60", "--step-size", "0.3"];
    let grouped = ["--query", "q", "--group", "g", "--subject-to", "cross_group <= 0.1"];
    let methods = ["--methods", "constrained,unconstrained,group-offset", "--bounds", "0.2,0.1,0"];
    let regression = ["--protected", "age", "--minimize", "mse", "--subject-to", "continuous <= 0.1"];
    let pages = [
        made(&folder, "compare", &[&["compare"], &few[..], &grouped].concat()),
        made(&folder, "compare-regression", &[&["compare"], &few[..], &regression].concat()),
        made(&folder, "frontier", &[&["frontier"], &few[..], &grouped, &methods].concat()),
        made(
            &folder,
            "reproduce",
            &[
                "reproduce",
                "simulated",
                "simulated-all",
                "--seeds",
                "2",
                "--iterations",
                "50",
                "--queries",
                "1000",
            ],
        ),
    ];
    let found = faults(&browser, &pages);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn scripts_in_names_do_not_run() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let names = [
        "<script>globalThis.pairityWasTricked = true; alert(1)</script>",
        "\"><img src=x onerror='globalThis.pairityWasTricked = true'>",
        "' onmouseover='globalThis.pairityWasTricked = true",
        "</title></style></svg><svg onload=globalThis.pairityWasTricked=true>",
    ];
    let header = "q,g,y,\"<script>globalThis.pairityWasTricked = true</script>\",age";
    let columns =
        ["--score", "<script>globalThis.pairityWasTricked = true</script>", "--label", "y", "--group", "g"];
    let page = page(&folder, "<script>alert(1)<", &table(header, 60, &names), &columns);
    let text = std::fs::read_to_string(&page).expect("the page");
    assert!(text.contains("&lt;script&gt;") && !text.contains("<script"));
    let found = faults(&browser, &[page]);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn the_checks_find_what_is_wrong() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("wrong.html");
    // A slider whose script does nothing, and what it chooses from is hidden without it.
    let idle = folder.path().join("idle.html");
    let body = "<!doctype html><html lang=en><title>x</title><body><main><h1>x</h1><div class=chooser>\
        <div class=slider><label>n<input type=range min=0 max=1></label></div>\
        <div class=choice data-name=a hidden>one</div><div class=choice data-name=b>two</div></div>\
        <svg width=9 height=9></svg></main><script>1</script>";
    std::fs::write(&idle, body).expect("a file");
    let found = faults(&browser, &[idle]);
    for fault in [
        "has a slider at a that says",
        "hides 1 choices without scripts",
        "shows a slider that nothing moves",
    ] {
        assert!(found.contains(fault), "{fault}\n{found}");
    }
    let wrong = "<!doctype html><title>x</title><body><h1>x</h1><p style='width: 2000px; color: #ddd'>pale</p>\
        <svg width=0 height=5></svg><img src='http://localhost:9/x.png'><div class=scroll style='overflow: auto'>\
        <p style='width: 3000px'>wide</p></div><svg><text y=20>one</text><text y=21>two</text></svg>\
        <script>globalThis.pairityWasTricked = true; console.error('oh')</script><a href='#x' tabindex=-1>y</a>";
    std::fs::write(&page, wrong).expect("a file");
    let found = faults(&browser, &[page]);
    for fault in [
        "wrong.html, wide: is ",
        "narrow: is ",
        "paper: is ",
        "has an empty picture",
        "asks for http://localhost:9/x.png",
        "writes to the console: oh",
        "has scripts",
        "ran a script that came from the data",
        "scrolls, but not with the keyboard",
        "has labels over each other",
        "(critical, image-alt)",
        "(serious, color-contrast)",
        "(serious, html-has-lang)",
        "lets the keyboard reach 0 of 1 places",
    ] {
        assert!(found.contains(fault), "{fault}\n{found}");
    }
}
