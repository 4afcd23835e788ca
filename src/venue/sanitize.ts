import { forTerminal } from '../core/text/escape.ts';
import { redactor } from '../core/text/redact.ts';
import type { Redactor } from '../core/text/redact.ts';

/** Maximum number of characters of the venue's text in logs, errors and the journal. */
const SAID_MAX = 200;
/** Shorter tokens occur in any text, so the venue's text is not changed for them. */
const TOKEN_LENGTH_MIN = 8;
const MARK = '[token]';

/** The token is read each time, because it may change; derived values are cached. */
let latest: { readonly secrets: readonly string[]; readonly redact: Redactor } | undefined;

function redactorOf(secrets: readonly string[]): Redactor {
  const isLatest =
    latest?.secrets.length === secrets.length && secrets.every((each, i) => each === latest?.secrets[i]);
  if (latest === undefined || !isLatest) latest = { secrets, redact: redactor(secrets, MARK) };
  return latest.redact;
}

/** A token of the venue. It may be replaced while requests are in flight; the old one remains secret. */
export interface VenueToken {
  /** The token that requests carry. */
  reveal(): string;
  /** The token and its predecessors, newest first; omitted: there are none. */
  revealAll?(): readonly string[];
}

/** Every text that must not be displayed. */
export const secretsOf = (token: VenueToken): readonly string[] => token.revealAll?.() ?? [token.reveal()];

/**
 * Text of the venue for display: cut to 200 characters (or `max`), without the token if the venue echoes it, control
 * and formatting characters replaced. Text of the venue can then forge neither a log line nor a terminal escape.
 */
export function sanitize(text: string, secrets: readonly string[], max = SAID_MAX): string {
  const redact = redactorOf(secrets);
  // The token is removed before the cut, because a cut through it would leave a part that no pattern matches.
  const safe = redact.clean(text);
  return forTerminal((redact.holds(safe) ? MARK : safe).slice(0, max));
}

/**
 * The body of an answer without the token, in case the venue echoes it in a field, which could carry it into the
 * journal. `undefined` if the token appears in an encoded form that cannot be removed.
 */
export function withoutToken(body: string, secrets: readonly string[]): string | undefined {
  const long = secrets.filter(({ length }) => length >= TOKEN_LENGTH_MIN);
  if (long.length === 0) return body;
  const redact = redactorOf(long);
  const clean = redact.clean(body);
  return redact.holds(clean) ? undefined : clean;
}
