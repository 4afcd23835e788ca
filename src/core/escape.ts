/**
 * Escapes in finished JSON what JSON leaves as it is but terminals and editors act on: DEL, the C1 controls, line
 * separators, marks that turn the direction of text or take no room. All of it can only stand inside a string there.
 */
export const escapeMarks = (json: string): string =>
  json.replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Text that was not written here, for a terminal: what would move the cursor, colour or turn it is replaced. */
export const forTerminal = (text: string): string =>
  text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
