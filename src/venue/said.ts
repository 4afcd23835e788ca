/** Most characters of the venue's own words that go anywhere: logs, errors, the journal. */
const SAID_MAX = 200;

/**
 * Text of the venue, fit to be shown: cut to 200 characters (or `max`), without the token should the venue echo it, control and
 * formatting characters replaced. Whatever the venue writes can then forge neither a log line nor a terminal escape.
 */
export function cleaned(text: string, secret: string, max = SAID_MAX): string {
  // Removed before the cut: a cut through the token would leave a part of it that no longer looks like it.
  const safe = secret === '' ? text : text.replaceAll(secret, '[token]');
  return safe
    .slice(0, max)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�');
}
