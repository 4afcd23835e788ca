import { hash as hashOf } from 'node:crypto';

/**
 * Ids are pure functions of what they identify. They are never random, can be recomputed after a crash, and can be
 * recognised at the venue.
 *
 * A client id is `tr-<desk>-<parent>-<slice>-<attempt>-<check>`: at most 36 characters of `[a-z0-9-]`. It is sent as
 * `client_quote_id` and again as `client_order_id`.
 */
export interface AttemptName {
  /** Name of the desk, as in the config. */
  readonly desk: string;
  /** Id of the parent, from `parentId`. */
  readonly parent: string;
  /** Number of the slice in its parent, from 0. */
  readonly slice: number;
  /** Number of the attempt at the slice, from 0. */
  readonly attempt: number;
}

/** The fields of a client id. */
export interface ClientId {
  /** Mark of the desk: `deskMark(desk)`. */
  readonly mark: string;
  readonly parent: string;
  readonly slice: number;
  readonly attempt: number;
}

/** Number of attempts that a slice can have, because ids have no room for more. */
export const ATTEMPTS_MAX = 36 ** 3;

const BASE32 = 'abcdefghijkmnpqrstuvwxyz23456789';
const SHAPE =
  /^tr-(?<mark>[a-z2-9]{4})-(?<parent>[a-z2-9]{8})-(?<slice>[0-9a-z]{1,5})-(?<attempt>[0-9a-z]{1,3})-(?<check>[a-z2-9]{4})$/u;

/** SHA-256 in hexadecimal. */
export const sha256 = (text: string): string => hashOf('sha256', text, 'hex');

/** A hash of `text` in `length` characters of 5 bits each. */
export function digest(text: string, length: number): string {
  // One character per byte, because a buffer would cost more than the hash.
  const bytes = hashOf('sha256', text, 'latin1');
  let out = '';
  for (let i = 0; i < length; i++) out += BASE32[bytes.charCodeAt(i) & 31] ?? '';
  return out;
}

/** Characters of a check. */
const CHECK = 4;
/** Cache of checks: a desk parses the same few ids many times. */
const checks = new Map<string, string>();
const CHECKS_MAX = 4_096;

/** Four characters that detect typing errors. */
function checkOf(body: string): string {
  const known = checks.get(body);
  if (known !== undefined) return known;
  const check = digest(body, CHECK);
  if (checks.size >= CHECKS_MAX) checks.clear();
  checks.set(body, check);
  return check;
}

/** The first characters after `tr-` of every client id of a desk. */
export function deskMark(desk: string): string {
  if (lastMark.desk !== desk) lastMark = { desk, mark: checkOf(`desk\n${desk}`) };
  return lastMark.mark;
}

/** Cached, because a process has only one desk, or a few. */
let lastMark = { desk: '', mark: checkOf('desk\n') };

/** Id of a parent: a function of the desk, the strategy, its content, the run and the leg. */
export function parentId(desk: string, strategy: string, hash: string, run: string, leg: string): string {
  const known = lastRun;
  if (known.desk !== desk || known.strategy !== strategy || known.hash !== hash || known.run !== run) {
    const begin = ['parent', desk, strategy, hash, run, ''].join('\n');
    lastRun = { desk, strategy, hash, run, begin };
  }
  return digest(lastRun.begin + leg, 8);
}

/** Cached prefix, because consecutive ids mostly name legs of the same run. */
let lastRun = { desk: '', strategy: '', hash: '', run: '', begin: 'parent\n\n\n\n\n' };

export function clientId({ desk, parent, slice, attempt }: AttemptName): string {
  if (slice < 0 || slice >= 36 ** 5 || attempt < 0 || attempt >= ATTEMPTS_MAX) {
    throw new RangeError(`clientId: slice ${slice} or attempt ${attempt} is out of range`);
  }
  const body = `tr-${deskMark(desk)}-${parent}-${slice.toString(36)}-${attempt.toString(36)}`;
  // Not cached, because an attempt is named once.
  return `${body}-${digest(body, CHECK)}`;
}

/** Parses a client id; `undefined` if it is not one of ours or its check fails. */
export function parseClientId(id: string): ClientId | undefined {
  const groups = SHAPE.exec(id)?.groups;
  if (groups === undefined) return undefined;
  const cut = id.lastIndexOf('-');
  if (checkOf(id.slice(0, cut)) !== id.slice(cut + 1)) return undefined;
  return {
    mark: groups['mark'] ?? '',
    parent: groups['parent'] ?? '',
    slice: Number.parseInt(groups['slice'] ?? '', 36),
    attempt: Number.parseInt(groups['attempt'] ?? '', 36),
  };
}

/** Ids that identify nothing, as some systems write them. */
const NO_ID = /^(?:[^\p{L}\p{N}]*|0+|null|none|nil|undefined|n\/a)$/iu;
/** An id that a row shows; `undefined` if it identifies nothing. */
export const idOf = (shown: string | undefined): string | undefined =>
  shown === undefined || NO_ID.test(shown) ? undefined : shown;

/** Letters and digits that a distorted id must share with ours at its beginning or end. */
const SHARED_MIN = 6;
/** A text with fewer letters and digits than this names nobody. */
const NAME_MIN = 4;

/**
 * Whether a client id is another's: it names somebody, and it is not one of ours in upper case, cut, or with something
 * around it. Counts only on an account that shows our ids exactly.
 */
export function isAnothers(shown: string | undefined, mark: string, open: readonly string[]): boolean {
  const id = idOf(shown);
  if (id === undefined) return false;
  const bare = bareId(id);
  if (bare.length < NAME_MIN || bare.includes(`tr${mark}`)) return false;
  return !open.map(bareId).some((ours) => {
    const [head, tail] = [ours.slice(0, SHARED_MIN), ours.slice(-SHARED_MIN)];
    return ours.includes(bare) || bare.includes(ours) || bare.includes(head) || bare.includes(tail);
  });
}

const bareId = (id: string): string => id.toLowerCase().replace(/[^a-z0-9]/gu, '');

const DIGITS = /^\d+$/u;
/** Whether an id of a row tells which rows are newer. */
export const isNumericId = (id: string): boolean => DIGITS.test(id);

/** Orders the venue's ids of account rows: an empty one first, then by number, and other texts after all numbers. */
export function compareRowIds(a: string, b: string): number {
  if (a === '' || b === '') return a.length - b.length;
  const [isA, isB] = [isNumericId(a), isNumericId(b)];
  if (isA && isB && a.length < 16 && b.length < 16) return Number(a) - Number(b);
  if (isA && isB) return Number(BigInt(a) > BigInt(b)) - Number(BigInt(a) < BigInt(b));
  if (isA !== isB) return isA ? -1 : 1;
  return Number(a > b) - Number(a < b);
}
