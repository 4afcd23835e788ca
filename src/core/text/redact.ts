/**
 * Removes secrets from text in all encodings that programs commonly use: plain, escaped for JSON or URLs, base64 at any
 * offset, hexadecimal.
 */
export interface Redactor {
  /** Returns the text with every known spelling of a secret replaced by a mark. */
  readonly clean: (text: string) => string;
  /** Whether a secret occurs in the text, also behind other escapes (`\u0061`, `%61`), nested at most twice. */
  readonly holds: (text: string) => boolean;
}

/** Shorter secrets are matched only in plain form, because their other encodings would occur in any text. */
const DISGUISED_LENGTH_MIN = 8;
/** Maximum depth of nested escapes to decode. */
const UNESCAPES_MAX = 2;

/** `secrets` contain ASCII characters, as in an HTTP header. */
export function redactor(secrets: readonly string[], mark = '[redacted]'): Redactor {
  const known = secrets.filter((secret) => secret !== '');
  // Longest first, because a shorter secret may be part of a longer one.
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

/** Every predictable encoding of a secret. */
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

/** The base64 digits of a secret at any offset within a longer text, without the digits shared with its neighbours. */
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
