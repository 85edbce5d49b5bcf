//! Lines and columns of a text.

/// The line and the column of a byte of `text`, both from 1; a column is a character.
pub(crate) fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_characters_are_counted_from_one() {
        let text = "a\nbü c\n";
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, 2), (2, 1));
        assert_eq!(place(text, text.find('c').unwrap()), (2, 4));
        assert_eq!(place(text, text.len()), (3, 1));
    }
}
