/** An independent search for a token: it decodes a text in every way instead of encoding the token, and uses no code of `src`. */

/** Describes the places of a token in a text; empty if there are none. */
export function leaksOf(text: string, token: string): readonly string[] {
  const found: string[] = [];
  const holds = (what: string, decoded: string): void => {
    if (decoded.includes(token)) found.push(what);
  };
  holds('as it is', text);
  const unescaped = unescapedOf(text);
  holds('escaped', unescaped);
  holds('escaped twice', unescapedOf(unescaped));
  for (const [run] of text.matchAll(/(?:[\da-f]{2}){8,}/giu)) {
    for (const from of [0, 1])
      holds('in hexadecimal digits', Buffer.from(run.slice(from), 'hex').toString('latin1'));
  }
  for (const [run] of text.matchAll(/[\w+/-]{8,}/gu)) {
    for (const from of [0, 1, 2, 3])
      holds('in base64', Buffer.from(run.slice(from), 'base64').toString('latin1'));
  }
  return [...new Set(found)];
}

const unescapedOf = (text: string): string =>
  text
    .replaceAll(/(?:\\u00|\\x|%)(?<code>[\da-f]{2})/giu, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replaceAll(/\\(?<sign>["\\/])/gu, '$<sign>');

/** The bytes of a text as `\u00..`, `%..` or `\x..`. */
const each = (token: string, before: string, isUpper: boolean): string =>
  Array.from(token, (sign) => {
    const code = sign.charCodeAt(0).toString(16).padStart(2, '0');
    return before + (isUpper ? code.toUpperCase() : code);
  }).join('');

/** Encodings in which a venue, a library or a person may repeat a token within a text. */
export const disguises: readonly ((token: string, before: string, after: string) => string)[] = [
  (token, before, after) => before + token + after,
  (token, before, after) => `${before}Bearer ${token}${after}`,
  (token, before, after) => JSON.stringify({ error: before + token + after }),
  (token, before, after) => JSON.stringify(JSON.stringify({ error: before + token + after })),
  (token, _, after) => JSON.stringify({ error: token + after }).replaceAll('/', '\\/'),
  (token, before, after) => before + encodeURIComponent(before + token + after) + after,
  (token, before, after) => before + Buffer.from(before + token + after, 'latin1').toString('base64') + after,
  (token, before, after) =>
    `${before} ${Buffer.from(`${before}${token}${after}`, 'latin1').toString('base64url')} ${after}`,
  (token, before) => before + Buffer.from(`${token}:`).toString('base64'),
  (token, before, after) => `${before} ${Buffer.from(token).toString('hex')} ${after}`,
  (token, before, after) => `${before} ${Buffer.from(token).toString('hex').toUpperCase()} ${after}`,
  (token, before, after) => before + each(token, '%', true) + after,
  (token, before, after) => before + each(token, '%', false) + after,
  (token, before, after) => before + each(token, '\\u00', false) + after,
  (token, before, after) => before + each(token, '\\u00', true) + after,
  (token, before, after) => before + each(token, '\\x', false) + after,
];
