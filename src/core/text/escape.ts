/**
 * Escapes characters in JSON text that JSON allows but that terminals and editors act on: DEL, the C1 controls, line
 * separators, and marks that reverse text or have no width. In JSON text, they occur only inside strings.
 */
export const escapeMarks = (json: string): string =>
  json.replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * The control sequences that this program writes to a terminal itself: bold, red, cyan, and erasing its own output at the start of a
 * piece.
 */
const CSI = `${String.fromCodePoint(0x1b)}\\[`;
const OWN = new RegExp(`^(?:${CSI}\\d{1,3}A${CSI}0J|\r${CSI}K)|${CSI}(?:0|1|22|31|36|39)m`, 'gu');

/** Applied to all output to a terminal: keeps lines, tabs and our own control sequences, and replaces every other control character. */
export function onTerminal(text: string): string {
  let out = '';
  let at = 0;
  const words = (part: string): string => part.replaceAll(/[^\n\t]+/gu, forTerminal);
  for (const mark of text.matchAll(OWN)) {
    out += words(text.slice(at, mark.index)) + mark[0];
    at = mark.index + mark[0].length;
  }
  return out + words(text.slice(at));
}

/**
 * Sanitizes foreign text for a terminal: replaces characters that would move the cursor, or change colours or the
 * text direction.
 */
export const forTerminal = (text: string): string =>
  text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
