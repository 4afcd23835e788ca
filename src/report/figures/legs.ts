import { parentId } from '../../core/ids.ts';
import { isAmountText } from '../../core/money.ts';
import type { WakeRecord } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { LifeFacts, MissedFacts, ParentFacts } from './facts.ts';
import { isRecord } from '../../core/text/json.ts';

/** Known data of a parent before its first slice. */
interface Before {
  readonly at: Instant;
  readonly missed: MissedFacts[];
  /** The leg as a rebalancing decided it. */
  readonly decided: DecidedLeg | undefined;
  /** Whether its calendar was closed, so that nothing was planned. */
  isClosed: boolean;
  /** When it was dropped after it had been decided. */
  droppedAt: Instant | undefined;
}

/** The legs of one run of a strategy. */
export interface Legs {
  readonly strategy: string;
  readonly hash: string;
  readonly life: LifeFacts | undefined;
  /** Includes parents that have begun, because a map with many deletions is rebuilt repeatedly. */
  readonly before: Map<string, Before>;
  readonly parentOf: Map<string, ParentFacts>;
  /** Legs of the current rebalancing. */
  decided: readonly DecidedLeg[];
}

/** Identifies the running document in the way that a wake does. */
interface Text {
  readonly strategy: string;
  readonly hash: string;
}

export const legsOfLife = ({ strategy, hash }: Text, life: LifeFacts | undefined): Legs => ({
  strategy,
  hash,
  life,
  before: new Map(),
  parentOf: new Map(),
  decided: [],
});

export const textKey = ({ strategy, hash }: Text): string => `${strategy}\n${hash}`;

interface When {
  readonly at: Instant;
  /** When the wake was due. */
  readonly since: Instant;
}

function know({ before }: Legs, leg: string, at: Instant, decided?: DecidedLeg): Before {
  let known = before.get(leg);
  if (known === undefined) {
    known = { at, missed: [], decided, isClosed: false, droppedAt: undefined };
    before.set(leg, known);
  }
  return known;
}

/** Records the trades of a rebalancing, from its decision to its end. */
export function decide(legs: Legs, state: unknown, { at, since }: When): void {
  if (isDecided(legs.decided, state)) return;
  const now = legsIn(state);
  for (const { leg } of legs.decided) {
    const before = legs.parentOf.has(leg) ? undefined : legs.before.get(leg);
    if (before !== undefined && now.every((one) => one.leg !== leg)) before.droppedAt ??= at;
  }
  for (const leg of now) know(legs, leg.leg, since, leg);
  legs.decided = now;
}

/** Records the slots that passed without an attempt. */
export function pass(legs: Legs, { missed, reason }: WakeRecord, { at, since }: When): void {
  // Of several times that passed together, only the last was certainly closed. An outage is thus not mistaken for a
  // closed time.
  const isClosed = reason === 'blackout' && missed.every(({ leg }) => leg === missed[0]?.leg);
  for (const slice of missed) {
    const parent = legs.parentOf.get(slice.leg);
    if (parent !== undefined) {
      parent.missed.push({ ...slice, at });
      continue;
    }
    const before = know(legs, slice.leg, since);
    before.missed.push({ ...slice, at });
    if (isClosed) before.isClosed = true;
  }
}

/** The parents of a run without any attempt, if their pair, side and size are known. */
export function unbegunOf(legs: Legs, desk: string): readonly ParentFacts[] {
  const { life } = legs;
  if (life === undefined) return [];
  const { record } = life;
  const { strategy, hash, begun_at: begunAt } = record;
  return [...legs.before].flatMap(([leg, { at, missed, decided, isClosed, droppedAt }]) => {
    const plan = decided ?? planIn(record.document, leg);
    if (isClosed || legs.parentOf.has(leg) || plan === undefined || plan.pair === '') return [];
    const dues = missed.flatMap(({ due }) => due ?? []);
    const decidedAt = dues.length === 0 ? dueOf(leg, at) : instant(Math.min(...dues));
    // A calendar time is over when the desk saw it pass. A window lasts as long as its strategy.
    const seenAt = decided === undefined && leg !== 'all' ? missed.at(-1)?.at : undefined;
    const facts: ParentFacts = {
      parent: parentId(desk, strategy, hash, String(begunAt), leg),
      strategy,
      life,
      leg,
      pair: plan.pair,
      side: plan.side,
      by: plan.by,
      decidedAt,
      begunAt: decidedAt,
      arrival: undefined,
      told: plan.told,
      slices: new Map(),
      missed,
      unbegun: { overAt: droppedAt ?? seenAt },
      fills: [],
    };
    return [facts];
  });
}

/** Whether a state shows that a calendar time is in progress, so that it may have more slices. */
export function isUnderWay(state: unknown, leg: string): boolean {
  const now = isRecord(state) ? state['now'] : undefined;
  return isRecord(now) && ISO.test(leg) && now['due'] === Date.parse(leg);
}

/** The total that a parent should trade. */
interface Told extends Pick<ParentFacts, 'pair' | 'side' | 'by'> {
  readonly told: string;
}
interface DecidedLeg extends Told {
  readonly leg: string;
}

/**
 * The trades that a rebalancing decided together, with their sizes. Its buys start after its sells have ended, but are
 * decided with them. Empty for other kinds, which have no such list.
 */
function legsIn(state: unknown): readonly DecidedLeg[] {
  if (!isRecord(state) || !Array.isArray(state['legs'])) return NONE;
  return state['legs'].flatMap((one: unknown): readonly DecidedLeg[] => {
    if (!isRecord(one)) return [];
    const { leg, quantity: told, pair, side } = one;
    if (typeof leg !== 'string' || !isAmount(told)) return [];
    return [{ leg, told, by: 'quantity', pair: typeof pair === 'string' ? pair : '', side: side === 'sell' ? 'sell' : 'buy' }]; // prettier-ignore
  });
}
const NONE: readonly DecidedLeg[] = [];

/** Whether a state contains the known legs in order, in which case their progress is reported elsewhere. */
function isDecided(decided: readonly DecidedLeg[], state: unknown): boolean {
  const all = isRecord(state) && Array.isArray(state['legs']) ? (state['legs'] as readonly unknown[]) : NONE;
  if (all.length !== decided.length) return false;
  for (let i = 0; i < all.length; i++) {
    const one = all[i];
    if (!isRecord(one) || one['leg'] !== decided[i]?.leg) return false;
  }
  return true;
}

/** The parent defined by a document, if the document defines it completely. */
function planIn(document: unknown, leg: string): Told | undefined {
  const told = totalOf(document, leg);
  if (told === undefined || !isRecord(document)) return undefined;
  const { pair, side } = document;
  if (typeof pair !== 'string' || (side !== 'buy' && side !== 'sell')) return undefined;
  const isAmountTold = isRecord(document[leg === 'all' ? 'total_notional' : 'each_notional']);
  return { pair, side, by: isAmountTold ? 'amount' : 'quantity', told };
}

/** The size that a document gives a parent, for its whole run or for each calendar time. */
export function totalOf(document: unknown, leg: string): string | undefined {
  if (!isRecord(document)) return undefined;
  const keys =
    leg === 'all'
      ? ['total_quantity', 'total_notional']
      : ISO.test(leg)
        ? ['each_quantity', 'each_notional']
        : [];
  for (const key of keys) {
    const size = document[key];
    if (isRecord(size) && isAmount(size['amount'])) return size['amount'];
  }
  return undefined;
}
/** When a parent was due: its calendar time, otherwise a time from its wake. */
export const dueOf = (leg: string, told: Instant): Instant =>
  ISO.test(leg) ? instant(Date.parse(leg)) : told;
const ISO = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/u;

const isAmount = (value: unknown): value is string => typeof value === 'string' && isAmountText(value);
