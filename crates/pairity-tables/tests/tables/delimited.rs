//! Tables from CSV and TSV files.

use super::{message, numbers, read, read_all, read_path, texts, write};
use pairity_tables::{self as tables, Selection, Source, Want};

#[test]
fn a_file_gives_numbers_and_categories_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "people.csv", "group,score,name\nb,1.5,x\na,-2e3,y\nb,.5,z\n");
    let table = read_path(&path, &[Want::number("score"), Want::category("group")]).unwrap();
    assert_eq!(table.rows(), 3);
    assert_eq!(numbers(&table, "score"), [1.5, -2000.0, 0.5]);
    let (codes, levels) = table.column("group").unwrap().categories().unwrap();
    assert_eq!((codes, levels), (&[0, 1, 0][..], &["b".to_owned(), "a".to_owned()][..]));
    assert!(table.column("name").is_none());
    assert_eq!(table.locate(1), format!("{path}, data row 2"));
    assert_eq!(tables::column_names(&Source::parse(&path).unwrap()).unwrap(), ["group", "score", "name"]);
}

#[test]
fn a_bad_cell_is_named_by_file_line_and_column() {
    let text = "score,group\n1,a\n2,b\nhigh,a\n";
    assert_eq!(
        message(read("people.csv", text, &[Want::category("group"), Want::number("score")])),
        "people.csv, line 4, column \"score\": expected a number, found \"high\". \
         Correct the cell, or leave it empty if the value is missing"
    );
    assert!(read("people.csv", text, &[Want::category("group")]).is_ok(), "other columns don't matter");
}

#[test]
fn text_that_is_nan_or_infinite_is_an_error_with_its_place() {
    for bad in ["NaN", "nan", "inf", "-Infinity", "1e400"] {
        let text = format!("a,b\n1,1\n2,{bad}\n");
        let expected = format!(
            "x.csv, line 3, column \"b\": expected a finite number, found \"{bad}\". \
             If the value is missing, leave the cell empty (in Parquet: null)"
        );
        assert_eq!(message(read("x.csv", &text, &[Want::number("b")])), expected);
        assert_eq!(message(read("x.csv", &text, &[Want::infer("b")])), expected, "inferred");
        let table = read("x.csv", &text, &[Want::category("b")]).unwrap();
        assert_eq!(texts(&table, "b"), ["1", bad], "as a category it is a text like any other");
    }
}

#[test]
fn line_numbers_count_line_breaks_within_quotes() {
    let text = "id,note,score\n1,\"two\nlines\",0.5\n2,\"three\r\nlines\r\n\",x\n3,plain,y\n";
    // The note starts on line 4 and the cell after it stands on line 6.
    let error = message(read("x.csv", text, &[Want::number("score")]));
    assert!(error.starts_with("x.csv, line 6, column \"score\""), "{error}");
    let error = message(read("x.csv", text.replace(",x\n", ",1\n"), &[Want::number("score")]));
    assert!(error.starts_with("x.csv, line 7, column \"score\""), "{error}");
    let table = read("x.csv", text, &[Want::category("note")]).unwrap();
    assert_eq!(texts(&table, "note"), ["two\nlines", "three\r\nlines", "plain"]);
}

#[test]
fn line_numbers_count_blank_lines_and_every_line_ending() {
    for ending in ["\n", "\r\n", "\r"] {
        let text = "a\n\n1\n\n\n2\nx\n".replace('\n', ending);
        let error = message(read("x.csv", &text, &[Want::number("a")]));
        assert!(error.starts_with("x.csv, line 7, "), "{ending:?}: {error}");
    }
}

#[test]
fn quoted_cells_hold_delimiters_quotes_and_line_breaks() {
    let text = "a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"1\",\"\"\n";
    let table = read("x.csv", text, &[Want::category("a"), Want::category("b")]).unwrap();
    assert_eq!(texts(&table, "a"), ["x, y", "1"]);
    assert_eq!(texts(&table, "b"), ["say \"hi\"", "-"]);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_name() {
    for text in ["\u{feff}a,b\r\n1,2\r\n", "\u{feff}\"a\",b\n1,2\n"] {
        let table = read("x.csv", text, &[Want::number("a"), Want::number("b")]).unwrap();
        assert_eq!((numbers(&table, "a"), numbers(&table, "b")), (vec![1.0], vec![2.0]));
    }
}

#[test]
fn the_delimiter_follows_the_extension_or_the_header() {
    for (name, text) in [
        ("x.tsv", "a\tb, c\n1\t2\n"),
        ("x.tab", "a\tb, c\n1\t2\n"),
        ("x.csv", "a,\"b, c\"\n1,2\n"),
        ("x.csv", "a;\"b, c\"\n1;2\n"),
        ("x.csv", "a\t\"b, c\"\n1\t2\n"),
        ("standard input", "a,\"b, c\"\n1,2\n"),
    ] {
        let table = read(name, text, &[Want::number("a"), Want::number("b, c")]).unwrap();
        assert_eq!(numbers(&table, "b, c"), [2.0], "{name}: {text}");
    }
}

#[test]
fn empty_cells_question_marks_and_na_are_missing_in_every_kind_of_column() {
    let text = "a,b,c\n1,x,1\n,,\n?,?,?\nNA,NA,NA\n  , ? , NA \n2,y,2\n";
    let wants = [Want::number("a"), Want::category("b"), Want::infer("c")];
    let table = read("x.csv", text, &wants).unwrap();
    for name in ["a", "c"] {
        let numbers = numbers(&table, name);
        assert_eq!((numbers[0], numbers[5]), (1.0, 2.0));
        assert!(numbers[1..5].iter().all(|number| number.is_nan()));
    }
    assert_eq!(texts(&table, "b"), ["x", "-", "-", "-", "-", "y"]);
    assert_eq!(table.column("b").unwrap().categories().unwrap().1, ["x", "y"]);
}

#[test]
fn spaces_around_names_and_cells_do_not_count() {
    let table = read("x.csv", "a, sex\n 1 , Male\n2,Male \n", &[Want::number("a"), Want::category("sex")]);
    let table = table.unwrap();
    assert_eq!(numbers(&table, "a"), [1.0, 2.0]);
    assert_eq!(texts(&table, "sex"), ["Male", "Male"]);
}

#[test]
fn booleans_are_numbers_where_numbers_are_wanted_and_categories_otherwise() {
    let text = "label\nTrue\nfalse\nTRUE\n";
    let table = read("x.csv", text, &[Want::number("label")]).unwrap();
    assert_eq!(numbers(&table, "label"), [1.0, 0.0, 1.0]);
    let table = read("x.csv", text, &[Want::infer("label")]).unwrap();
    assert_eq!(texts(&table, "label"), ["True", "false", "TRUE"]);
}

#[test]
fn a_text_late_in_the_file_makes_the_whole_column_categories() {
    let mut text = String::from("id,code,amount,size\n");
    for i in 0..20_000 {
        text.push_str(&format!("{i},0{},{},10\n", i % 7, i % 5));
    }
    text.push_str("20000,B,5,XL\n");
    let table = read_all("x.csv", &text).unwrap();
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id", "code", "amount", "size"], "the order is that of the file");
    assert_eq!(numbers(&table, "id")[20_000], 20_000.0);
    let (codes, levels) = table.column("code").unwrap().categories().unwrap();
    assert_eq!(levels, ["00", "01", "02", "03", "04", "05", "06", "B"], "the numbers keep their text");
    assert_eq!((codes.len(), codes[8], codes[20_000]), (20_001, 1, 7));
    assert_eq!(numbers(&table, "amount").len(), 20_001);
    assert_eq!(table.column("size").unwrap().categories().unwrap().1, ["10", "XL"]);
}

#[test]
fn all_columns_are_inferred_except_the_overridden() {
    let source = Source::from_reader("x.csv", "id,zip,x\n1,10115,a\n2,10117,b\n".as_bytes()).unwrap();
    let overrides = vec![Want::category("zip")];
    let table = tables::read(&source, &Selection::All { overrides }, &|_, _| ()).unwrap();
    assert_eq!(numbers(&table, "id"), [1.0, 2.0]);
    assert_eq!(texts(&table, "zip"), ["10115", "10117"]);
    assert_eq!(texts(&table, "x"), ["a", "b"]);
    let overrides = vec![Want::category("zap")];
    let error = message(tables::read(&source, &Selection::All { overrides }, &|_, _| ()));
    assert_eq!(error, "no column \"zap\" in x.csv; did you mean \"zip\"? The columns are: id, zip, x");
}

#[test]
fn a_ragged_row_is_named_with_both_counts() {
    let short = message(read("x.csv", "a,b,c\n1,2,3\n4,5\n", &[Want::number("a")]));
    assert_eq!(
        short,
        "x.csv, line 3: found 2 fields, expected 3 as in the header. \
         Give the row all its fields; a field may be empty"
    );
    let long = message(read("x.csv", "a,b\n1,2,3\n", &[Want::number("a")]));
    assert_eq!(
        long,
        "x.csv, line 2: found 3 fields, expected 2 as in the header. \
         Put quotation marks around fields that contain the separator"
    );
}

#[test]
fn a_quotation_mark_that_is_not_closed_does_not_swallow_the_rest() {
    let error = message(read("x.csv", "a,b\n1,\"x\n2,y\n3,z\n", &[Want::number("a")]));
    assert_eq!(
        error,
        "x.csv, line 2: a quotation mark opened in this row is never closed. Close it, or remove it"
    );
    let error = message(read("x.csv", "a,b,c\n1,\"x,0\n2,y,0\n3,z,0\n", &[Want::number("a")]));
    assert_eq!(
        error,
        "x.csv, line 2: found 2 fields, expected 3 as in the header. \
         The row runs on to line 5: look for a quotation mark that is not closed"
    );
}

#[test]
fn an_unknown_column_is_answered_with_the_nearest_name() {
    let error = message(read("people.csv", "score,age,group\n1,2,3\n", &[Want::number("scroe")]));
    assert_eq!(
        error,
        "no column \"scroe\" in people.csv; did you mean \"score\"? The columns are: score, age, group"
    );
}

#[test]
fn columns_of_one_name_are_refused_only_where_they_differ_and_are_used() {
    let text = "a,b,a\n1,2,1\n4,5,6\n";
    let expected = "x.csv has 2 columns named \"a\", which differ on line 3. Rename all but one of them";
    assert_eq!(message(read("x.csv", text, &[Want::number("a")])), expected);
    assert_eq!(message(read_all("x.csv", text)), expected);
    assert!(read("x.csv", text, &[Want::number("b")]).unwrap().warnings().is_empty());
    // Texts that nobody asked for are left out.
    let texts = read_all("x.csv", "a,b,a\n1,2,x\ny,2,y\n").unwrap();
    assert_eq!((texts.columns().len(), texts.skipped()), (1, &["a".to_owned()][..]));
    // The first of equals, whatever its kind, and with spaces around it.
    for text in ["a,b,a,a\n1,2, 1,1\n3,4,3,3 \n", "a,a,b,a\n1,1,x,1\nx,x,7,x\n"] {
        let table = read_all("x.csv", text).unwrap();
        assert_eq!(table.columns().len(), 2);
        let expected = "x.csv has 3 columns named \"a\" with the same cells: the first is used";
        assert_eq!(table.warnings(), [expected]);
    }
}

#[test]
fn one_column_can_not_be_read_in_two_ways() {
    let error = message(read("x.csv", "a\n1\n", &[Want::number("a"), Want::category("a")]));
    assert!(error.starts_with("column \"a\" is asked for both as a number and as a category"), "{error}");
    let table = read("x.csv", "a\n1\n", &[Want::number("a"), Want::number("a")]).unwrap();
    assert_eq!(table.columns().len(), 1);
}

#[test]
fn a_table_without_header_or_without_rows_is_empty() {
    for text in ["", "\n\r\n"] {
        let error = message(read("x.csv", text, &[Want::number("a")]));
        assert!(error.starts_with("empty table: x.csv holds nothing"), "{error}");
    }
    for text in ["a,b", "a,b\n", "\u{feff}a,b\r\n\r\n"] {
        let error = message(read("x.csv", text, &[Want::number("a")]));
        assert!(error.starts_with("empty table: x.csv has columns but no rows"), "{error}");
    }
}

#[test]
fn text_that_is_not_utf8_is_named_where_it_is_read_and_ignored_elsewhere() {
    let text = b"a,b\n1,caf\xc3\xa9\n2,caf\xe9\n";
    let error = message(read("x.csv", text, &[Want::category("b")]));
    assert_eq!(
        error,
        "x.csv, line 3, column \"b\": the cell is not UTF-8 text (it reads \"caf\u{fffd}\"). \
         Save the file in the UTF-8 encoding"
    );
    assert!(message(read("x.csv", text, &[Want::number("b")])).contains("expected a number"));
    assert!(read("x.csv", text, &[Want::number("a")]).is_ok());
}

#[test]
fn random_bytes_are_never_a_panic() {
    use proptest::prelude::*;
    const PIECES: [&[u8]; 13] =
        [b",", b"\"", b"\n", b"\r", b"a", b"1", b"\xff", b";", b"1:2 ", b"qid:3 ", b"#", b"\t", b"NaN"];
    let piece = prop::sample::select(&PIECES[..]);
    proptest!(|(pieces in prop::collection::vec(piece, 0..40), name in "x\\.(csv|tsv|svm|txt|parquet)")| {
        let bytes = pieces.concat();
        if let Ok(table) = read_all(&name, &bytes) {
            for column in table.columns() {
                prop_assert_eq!(column.values.len(), table.rows());
            }
        }
        let _ = read(&name, &bytes, &[Want::number("a"), Want::category("1")]);
    });
}

#[test]
fn a_row_without_end_is_an_error_and_not_read_into_memory() {
    let endless =
        || std::io::Read::chain(&b"a,b\n1,\""[..], std::io::Read::take(std::io::repeat(b'\n'), 65 << 20));
    let source = Source::from_reader("x.csv", endless()).unwrap();
    let error = message(tables::read(&source, &Selection::Columns(vec![Want::number("a")]), &|_, _| ()));
    assert!(error.starts_with("x.csv has a row of more than 64 MiB"), "{error}");
}
