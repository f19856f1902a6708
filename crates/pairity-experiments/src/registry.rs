//! What there is to know of each data set: its files, their checksums, and who publishes them.

/// Size and checksum of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileCheck {
    /// Bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: &'static str,
}

/// One file of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataFile {
    /// Its name.
    pub name: &'static str,
    /// What it is checked by; none where the published file is not known byte by byte.
    pub check: Option<FileCheck>,
    /// Where it is published; none if it is not published in this form.
    pub address: Option<&'static str>,
}

/// A data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it is called.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The folder of its files.
    pub folder: &'static str,
    /// Under which terms it is published.
    pub license: &'static str,
    /// The ways to have it, the best first: each is a list of files that belong together. None if the data
    /// set is generated.
    pub ways: &'static [&'static [DataFile]],
}

impl Entry {
    /// Whether it is drawn from a seed, without files.
    pub fn is_generated(&self) -> bool {
        self.ways.is_empty()
    }

    /// The first way whose files can all be fetched and checked.
    pub fn fetched(&self) -> Option<&'static [DataFile]> {
        let can = |file: &DataFile| file.check.is_some() && file.address.is_some();
        self.ways.iter().copied().find(|files| files.iter().all(can))
    }

    /// Files that are better than those fetched, but have no checksum here: they have to be downloaded from
    /// their addresses and put in place by hand.
    pub fn by_hand(&self) -> Option<&'static [DataFile]> {
        let best = self.ways.first().copied()?;
        Some(best).filter(|files| files.iter().all(|file| file.check.is_none() && file.address.is_some()))
    }
}

/// A file with a checksum that is not published in this form.
const fn local(name: &'static str, size: u64, sha256: &'static str) -> DataFile {
    DataFile { name, check: Some(FileCheck { size, sha256 }), address: None }
}

/// A file with a checksum, and where it is published.
const fn published(name: &'static str, size: u64, sha256: &'static str, address: &'static str) -> DataFile {
    DataFile { address: Some(address), ..local(name, size, sha256) }
}

/// A part of the full wiki set, which is known by its address alone.
const fn wiki(name: &'static str, address: &'static str) -> DataFile {
    DataFile { name, check: None, address: Some(address) }
}

/// All data sets.
pub static DATA_SETS: [Entry; 7] = [
    Entry {
        name: "crime",
        about: "Communities and Crime: violent crime in 1,994 communities, by race",
        folder: "crime",
        license: "CC BY 4.0 (UCI Machine Learning Repository)",
        ways: &[&[
            published(
                "communities.data",
                1_100_821,
                "d90d85bd66bad9a00fa0ed6c15ac017b5966d528e55ba2940ad028d071353f95",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/communities/communities.data",
            ),
            published(
                "communities.names",
                27_173,
                "d4c5560c798d2c723d4455cdea7c87be59a10327dee20ef175a17eaea1445827",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/communities/communities.names",
            ),
        ]],
    },
    Entry {
        name: "law",
        about: "Bar passage study: undergraduate grades of 27,234 law students, by gender",
        folder: "law_school",
        license: "released publicly by the Law School Admission Council; no formal license is known",
        ways: &[
            &[published(
                "law_school_lsac_27478.csv",
                3_944_453,
                "b76e20ecd2cc615509e22b33cc72ee2e78b7c81ed1407c6b26a449bb79813780",
                "https://raw.githubusercontent.com/neutron0001/FAIR_batch/b360e92748f0c82929af878f4e882ef570076761/data/law_school.csv",
            )],
            &[local(
                "law_school_27234.csv",
                1_124_079,
                "bddc3353fffdb8e4e60fb3b7ed9c27a20c4749f3b12ad3752e928a95bbb6512d",
            )],
        ],
    },
    Entry {
        name: "w3c",
        about: "W3C experts: 48 topics with 200 candidates each, by gender",
        folder: "w3c_experts",
        license: "GPL-3.0 (DELTR experiments)",
        ways: &[
            &[published(
                "features_withListNetFormat_withGender_withZscore_candidateAmount-200_total.csv",
                767_328,
                "91729e57f12033a84fa1f2fe6a339d2e4af4ca87b518d07d113e0eee8de06b81",
                "https://raw.githubusercontent.com/MilkaLichtblau/DELTR-Experiments/042e432fc8dcd9ccf6d0203d63e55572c2554317/data/TREC/features_withListNetFormat_withGender_withZscore_candidateAmount-200_total.csv",
            )],
            &[local(
                "w3c_experts_48x200_labelled.csv",
                539_812,
                "c269b754ab95dbe4b9c96df0cce9658a156b1147d37e2e0c59322d601688c816",
            )],
        ],
    },
    Entry {
        name: "wiki",
        about: "Wikipedia talk pages: toxic comments, by the word \"gay\" (toxic language!)",
        folder: "wiki_toxicity",
        license: "comments CC BY-SA (Wikipedia), labels Apache-2.0",
        ways: &[
            &[
                wiki(
                    "wiki_train.csv",
                    "https://github.com/conversationai/unintended-ml-bias-analysis/raw/e02b9f12b63a39235e57ba6d3d62d8139ca5572c/data/wiki_train.csv",
                ),
                wiki(
                    "wiki_dev.csv",
                    "https://github.com/conversationai/unintended-ml-bias-analysis/raw/e02b9f12b63a39235e57ba6d3d62d8139ca5572c/data/wiki_dev.csv",
                ),
                wiki(
                    "wiki_test.csv",
                    "https://github.com/conversationai/unintended-ml-bias-analysis/raw/e02b9f12b63a39235e57ba6d3d62d8139ca5572c/data/wiki_test.csv",
                ),
            ],
            &[published(
                "toxicity_nonfuzzed_testset.csv",
                943_090,
                "c11caefa0c487cb7a7fc0726cb53358d4e5463bd071d65979398af59fa80f881",
                "https://raw.githubusercontent.com/conversationai/unintended-ml-bias-analysis/9c7d91aaa53406a362354661a93e07956d95e59a/archive/unintended_ml_bias/eval_datasets/toxicity_nonfuzzed_testset.csv",
            )],
        ],
    },
    generated("simulated", "simulated ranking task with two groups"),
    generated("simulated-3", "simulated ranking task with three groups"),
    generated("business", "synthetic stand-in for the paper's proprietary business matching data"),
];

const fn generated(name: &'static str, about: &'static str) -> Entry {
    Entry { name, about, folder: "", license: "generated", ways: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_set_can_be_fetched_over_https_and_checked() {
        for entry in DATA_SETS.iter().filter(|entry| !entry.is_generated()) {
            let files = entry.fetched().unwrap_or_default();
            assert!(!files.is_empty(), "{}", entry.name);
            for file in entry.ways.iter().copied().flatten() {
                assert!(file.address.is_none_or(|address| address.starts_with("https://")), "{}", file.name);
                let Some(check) = file.check else { continue };
                assert!(check.sha256.len() == 64 && check.size > 0, "{}", file.name);
                assert!(check.sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
            }
        }
    }

    #[test]
    fn only_the_full_wiki_set_is_to_be_put_in_place_by_hand() {
        let by_hand: Vec<&str> =
            DATA_SETS.iter().flat_map(Entry::by_hand).flatten().map(|file| file.name).collect();
        assert_eq!(by_hand, ["wiki_train.csv", "wiki_dev.csv", "wiki_test.csv"]);
    }

    #[test]
    fn names_are_not_used_twice() {
        let mut names: Vec<&str> = DATA_SETS.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DATA_SETS.len());
    }
}
