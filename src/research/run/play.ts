import { OperatorError } from '../../core/errors.ts';
import { approximate } from '../../core/money.ts';
import type { Price, Quantity } from '../../core/money.ts';
import { limitsFrom } from '../../core/risk/limit-table.ts';
import type { LimitTexts } from '../../core/risk/limit-table.ts';
import { sidesOf } from '../../core/pairs.ts';
import { MINUTE_MS, after } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { DeskSettings } from '../../engine/desk-settings.ts';
import type { BegunDocument, StrategySource } from '../../engine/state/strategy-source.ts';
import { tapeOf } from '../tape/tape.ts';
import type { Tape } from '../tape/tape.ts';
import { backtest } from './run.ts';
import type { BacktestSetup, RecordedChanges } from './run.ts';
import { solvedOver } from './wake-index.ts';

/** What a desk traded with, as its journal records it. Lists are oldest first. */
export interface Recorded extends Pick<RecordedChanges, 'flows'> {
  /** Name of the desk, on which ids of parents and orders depend. */
  readonly desk: string;
  /** When the first strategies began, and the time of the last record. */
  readonly from: Instant;
  readonly until: Instant;
  /** Balances at `from`. */
  readonly opening: ReadonlyMap<string, Quantity>;
  /** The documents in force; the first are those at `from`. */
  readonly texts: readonly { readonly at: Instant; readonly documents: readonly BegunDocument[] }[];
  readonly limits: readonly { readonly at: Instant; readonly limits: LimitTexts }[];
  /** Reference prices by pair. */
  readonly references: ReadonlyMap<string, readonly Reference[]>;
}

export interface Reference {
  readonly at: Instant;
  readonly price: Price;
}

/** `tapes`: as `pricesOf` returns them. `journal`: empty; the backtest writes to it. */
export interface PlaySetup extends Pick<
  BacktestSetup,
  'policy' | 'model' | 'tapes' | 'seed' | 'currencies' | 'journal'
> {
  readonly recorded: Recorded;
  /** Returns a strategy from its text; `undefined` when this version cannot read it. */
  revive(begun: BegunDocument): StrategySource | undefined;
}

/**
 * Plays the strategies of a journal once, in virtual time over prices, with the model as the venue. Documents, limits
 * and deposits change when they changed at the desk; nobody gives commands.
 *
 * @throws OperatorError
 */
export function play(setup: PlaySetup): void {
  const { policy, tapes } = setup;
  const { desk, from, until, texts, limits, flows } = setup.recorded;
  const changes = [...texts.slice(1), ...limits.slice(1)].map(({ at }) => at);
  const limitsAt = (at: Instant): Pick<DeskSettings, 'limits'> | undefined => {
    const known = limits.findLast((each) => each.at <= at) ?? limits[0];
    return known && { limits: limitsFrom(known.limits) };
  };
  backtest({
    ...setup,
    nextPossible: solvedOver(tapes),
    from,
    until: after(until, 1),
    strategies: sourcesAt(setup, from),
    policy: { ...policy, desk, approvals: undefined, ...limitsAt(from) },
    holdings: holdingsOf(setup),
    changes: {
      reloads: [...new Set(changes)].filter((at) => at > from).toSorted((a, b) => a - b),
      strategies: (clock) => ({
        read: () => ({ sources: sourcesAt(setup, clock.wall()), off: [], notes: [], ...limitsAt(clock.wall()) }), // prettier-ignore
        revive: (begun) => setup.revive(begun),
      }),
      flows,
      accountPollMs: flows.length === 0 ? undefined : policy.accountPollMs,
    },
  }).run();
}

/** Returns the strategies whose pairs have prices: the desk had none for the others either. @throws OperatorError `data` */
function sourcesAt(setup: PlaySetup, at: Instant): readonly StrategySource[] {
  const { tapes } = setup;
  const { texts } = setup.recorded;
  const priced = new Set(tapes.map(({ pair }) => pair));
  const sources = (texts.findLast((each) => each.at <= at) ?? texts[0])?.documents.map((begun) => {
    const source = setup.revive(begun);
    if (source !== undefined) return source;
    throw new OperatorError('data', `this version cannot read strategy ${begun.strategy} as the journal records it: kind ${begun.type}`); // prettier-ignore
  });
  return (sources ?? []).filter(({ bound }) => bound.pairs.every((pair) => priced.has(pair)));
}

/** Returns the opening holdings that the simulated venue can value; nothing trades the others. */
function holdingsOf({ recorded, tapes, currencies = {} }: PlaySetup): ReadonlyMap<string, Quantity> {
  const sides = new Set(tapes.flatMap(({ pair }) => Object.values(sidesOf(pair, recorded.opening.keys()))));
  const isPriced = (currency: string): boolean =>
    currency === 'usd' || currencies[currency]?.usdRate !== undefined || sides.has(currency);
  return new Map([...recorded.opening].filter(([currency]) => isPriced(currency)));
}

/** Returns the given tapes and, for pairs without one, tapes of the references in the journal. */
export function pricesOf({ references, from, until }: Recorded, tapes: readonly Tape[]): readonly Tape[] {
  const given = new Set(tapes.map(({ pair }) => pair));
  const own = [...references].flatMap(([pair, seen]) => {
    const [first] = seen;
    // The first reference is valid from the start, because a tape begins with a price.
    return given.has(pair) || first === undefined ? [] : [referenceTape(pair, [{ ...first, at: from }, ...seen], until)]; // prettier-ignore
  });
  return [...tapes, ...own];
}

/** Reference prices that are further apart are repeated in between, so that nothing takes them for stale. */
const REPEAT_MS = 10 * MINUTE_MS;

/** Returns reference prices as a tape until `until`, in which each is valid until the next. */
function referenceTape(pair: string, references: readonly Reference[], until: Instant): Tape {
  const rows = references.flatMap(({ at, price }, i) => {
    const end = (references[i + 1]?.at ?? until + 1) - 1;
    const repeats = Math.max(0, Math.floor((end - at) / REPEAT_MS));
    return Array.from({ length: repeats + 1 }, (_, n) => ({ at: at + n * REPEAT_MS, price }));
  });
  // The shortest text of a double equals the original decimal, up to 15 digits.
  const prices = Float64Array.from(rows, ({ price }) => approximate(price));
  const times = Float64Array.from(rows, ({ at }) => at);
  const volume = new Float64Array(rows.length).fill(Number.NaN);
  return tapeOf({ pair, barMs: 0, columns: { times, open: prices, high: prices, low: prices, close: prices, volume } }); // prettier-ignore
}
