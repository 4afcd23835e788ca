/** An independent search for a token: by decoding what could hold it, not by knowing how it is spelt. Nothing of `src` is used. */

/** Where a token stands in a text, in words; empty when it does not. */
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

/** Ways in which a venue, a library or a person passes a token on, within a text around it. */
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
