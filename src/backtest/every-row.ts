import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Lookout } from '../engine/ports.ts';
import { bandRows } from './band-rows.ts';
import { areEven } from './history.ts';
import { evenRows, mergedRows } from './rows.ts';
import { beyond, driftProblem, nextPriceAt } from './solve.ts';
import type { LookedUntil, NextPossible } from './tape-market.ts';
import { knownAt, lastKnownRow } from './tape.ts';
import type { Tape } from './tape.ts';

type Found = Instant | LookedUntil;
/** Looks at every price from `from` to `until`. */
type Visit = (from: Instant, until: Instant) => Found;
type Waiting = NonNullable<Lookout['wait']>;

/** What becomes known within so many bars is looked at ahead at first, and twice as much each time that nobody was woken. */
const BARS_AHEAD = 64;
const MINUTE_MS = 60_000;

/**
 * Where over these tapes something that is waited for can come true, found without an index: every row is visited, one after
 * another, and at each one doubles are asked whether the wait can come true there. The desk is told where they cannot exclude
 * it. A wait without such a question is told of every row.
 *
 * Rows are looked at only a little ahead of the desk, for whatever happens to it may end a wait: by as much as has been passed
 * while it waited, so that no more than that is looked at in vain.
 */
export function visitedOver(tapes: readonly Tape[], barsAhead = BARS_AHEAD): NextPossible {
  const byPair = new Map(tapes.map((tape) => [tape.pair, tape]));
  const barMs = Math.min(...tapes.map((tape) => (tape.barMs === 0 ? MINUTE_MS : tape.barMs)));
  const aheadMs = new WeakMap<Lookout, number>();
  const bands = new WeakMap<Waiting, BandVisit>();
  return (lookout, from) => {
    const { pairs, wait, holdings } = lookout;
    const known = pairs.map((pair) => byPair.get(pair)).filter((tape) => tape !== undefined);
    // Only a new price can change what was looked at before.
    const next = nextPriceAt(known, from);
    if (next === undefined || wait === undefined) return next;
    const ahead = aheadMs.get(lookout) ?? barsAhead * barMs;
    aheadMs.set(lookout, 2 * ahead);
    const until = instant(next + ahead);
    if (wait.on === 'drift') {
      const visit = bands.get(wait) ?? bandVisit(byPair, wait);
      bands.set(wait, visit);
      return visit(holdings ?? new Map())(next, until);
    }
    const tape = byPair.get(wait.pair);
    return tape && priceVisit(tape, wait)(next, until);
  };
}

function priceVisit(tape: Tape, { is, level }: Waiting & { on: 'price' }): Visit {
  const { times, close, rows, barMs } = tape;
  const isWanted = beyond(is, level);
  return (from, until) => {
    for (let row = Math.max(0, lastKnownRow(tape, from)); row < rows; row++) {
      const time = times[row] ?? 0;
      if (time + barMs > until) break;
      // The last of several trades of an instant is its price.
      if (isWanted(close[row] ?? 0) && time !== times[row + 1])
        return instant(Math.max(from, knownAt(tape, row)));
    }
    return { lookedUntil: until };
  };
}

type BandVisit = (holdings: NonNullable<Lookout['holdings']>) => Visit;

function bandVisit(byPair: ReadonlyMap<string, Tape>, wait: Waiting & { on: 'drift' }): BandVisit {
  const { pairs, valuations, band, heldIn } = driftProblem(wait);
  const tapes = pairs.map((pair) => byPair.get(pair)).filter((tape) => tape !== undefined);
  // Without a price of each nothing is known of the whole.
  if (tapes.length < pairs.length || tapes.length === 0) return () => (_, until) => ({ lookedUntil: until });
  const cursor = areEven(tapes) ? evenRows(tapes) : mergedRows(tapes);
  const rows = bandRows({ tapes, valuations, band, cursor });
  return (holdings) => {
    const question = { ...heldIn(holdings), isBreach: () => true };
    return (from, until) => {
      const begin = Math.max(from, rows.firstKnown);
      if (begin > until) return { lookedUntil: until };
      rows.ask(question);
      if (rows.isBreachAt(begin)) return instant(begin);
      return rows.goOn(until + 1) ? instant(cursor.at) : { lookedUntil: until };
    };
  };
}
