/**
 * Takes secrets out of text, in the spellings in which programs pass text on: as it is, escaped for JSON or an address, in
 * base64 at any place of a longer text, in hexadecimal digits.
 */
export interface Redactor {
  /** The text with a mark in place of every spelling that is known. */
  readonly clean: (text: string) => string;
  /** Whether a secret stands in the text, also behind escapes that are no known spelling (`\u0061`, `%61`), twice at most. */
  readonly holds: (text: string) => boolean;
}

/** Shorter secrets are looked for as they are only: their other spellings would be found in any text. */
const DISGUISED_LENGTH_MIN = 8;
/** Escapes within escapes that are undone before it is given up. */
const UNESCAPES_MAX = 2;

/** `secrets` hold characters of ASCII, as what stands in a header does. */
export function redactor(secrets: readonly string[], mark = '[redacted]'): Redactor {
  const known = secrets.filter((secret) => secret !== '');
  // The longest first: a shorter one may be a part of it.
  const spellings = [...new Set(known.flatMap(spellingsOf))].toSorted((a, b) => b.length - a.length);
  const isIn = (text: string): boolean => spellings.some((spelling) => text.includes(spelling));
  return {
    clean: (text) =>
      isIn(text) ? spellings.reduce((cleaned, spelling) => cleaned.replaceAll(spelling, mark), text) : text,
    holds(text) {
      let plain = text;
      for (let turn = 0; turn <= UNESCAPES_MAX; turn++) {
        if (isIn(plain)) return true;
        const next = unescaped(plain);
        if (next === plain) return false;
        plain = next;
      }
      return isIn(plain);
    },
  };
}

/** Every way in which a secret is written that can be told beforehand. */
function spellingsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const plain = [secret, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(secret)];
  if (secret.length < DISGUISED_LENGTH_MIN) return plain;
  const codes = Array.from(secret, (sign) => sign.charCodeAt(0).toString(16).padStart(2, '0'));
  const written = (before: string): string => codes.map((code) => before + code).join('');
  const hex = [written(''), written('%'), written('\\u00'), written('\\x')];
  return [
    ...plain,
    ...hex,
    ...hex.map((text) => text.replaceAll(/[a-f]/gu, (digit) => digit.toUpperCase())),
    ...base64Of(secret).flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]),
  ];
}

/** The digits that a secret has in base64 wherever it begins within a longer text: those that no neighbour has a part in. */
function base64Of(secret: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const digits = btoa('\0'.repeat(before) + secret);
    return digits.slice(Math.ceil((before * 8) / 6), Math.floor(((before + secret.length) * 8) / 6));
  });
}

const unescaped = (text: string): string =>
  text.includes('\\') || text.includes('%')
    ? text
        .replaceAll(/(?:\\u00|\\x|%)(?<code>[2-7][\da-fA-F])/gu, (_, code: string) =>
          String.fromCharCode(Number.parseInt(code, 16)),
        )
        .replaceAll(/\\(?<sign>["\\/])/gu, '$<sign>')
    : text;
