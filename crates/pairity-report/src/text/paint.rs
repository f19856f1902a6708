//! Color, for terminals only.

/// Paints words, or leaves them as they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    pub(super) fn title(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    pub(super) fn unsure(self, text: &str) -> String {
        self.wrap("33", text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 && !text.trim().is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
