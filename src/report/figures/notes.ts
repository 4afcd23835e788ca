import { unpricedFees } from '../../core/cycle/balance-changes.ts';
import { NO_QUANTITY, add, quantity, text } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, isoOf } from '../../core/time.ts';
import { MARK_OUT_MINUTES } from './fill-figures.ts';
import type { Figures } from './figures.ts';
import { gapsOf } from './gaps.ts';
import type { PriceBook } from './prices.ts';
import type { ParentFigures } from './shortfall.ts';

/** Maximum number of names in a sentence. */
const NAMES_MAX = 8;
/** Fewer fills than this raise a warning. */
const FILLS_MIN = 30;
/** An end price older than this raises a warning. */
const END_AGE_MAX_MS = 15 * MINUTE_MS;

/** Caveats for the reader, one sentence each. */
export function notesOf(figures: Figures): {
  readonly assumptions: readonly string[];
  readonly warnings: readonly string[];
} {
  return {
    assumptions: [...ASSUMPTIONS, ...(figures.input.assumptions ?? [])],
    warnings: [...(figures.input.told ?? []), ...warningsOf(figures)],
  };
}

/** Fees without a price, summed by currency. */
function elsewhereFees({ fills }: Figures): readonly string[] {
  const sums = new Map<string, Quantity>();
  for (const fill of fills)
    if (fill.other_fees !== undefined)
      for (const [currency, fee] of Object.entries(unpricedFees(fill)))
        sums.set(currency, add(sums.get(currency) ?? NO_QUANTITY, quantity(fee)));
  return [...sums].map(([currency, fee]) => `${text(fee)} ${currency}`);
}

const ASSUMPTIONS = [
  'Arrival is the reference price when the first slice of a parent was decided; decision is the price when the parent was due.',
  'Spread is measured against the reference price before the quote request, not against the quote.',
  'Benchmarks are means over the window of a parent, regardless of its slices and of when it stopped trading; if its document gives no window, over the time from its first slice to its end.',
];

function* warningsOf(figures: Figures): Generator<string> {
  const { facts, parents, quoting, prices } = figures;
  if (parents.length === 0) yield 'No parent started in this period: there is nothing to report.';
  yield* modesOf(figures);
  const byPair = Map.groupBy(parents, ({ facts: { pair } }) => pair);
  yield* pricesOf(byPair, prices);
  const without = parents.filter(({ shortfall }) => shortfall === undefined);
  if (without.length > 0)
    yield `${without.length} of ${parents.length} parents have no arrival price and are excluded from all costs: ${names(without.map(({ facts: { parent } }) => parent))}.`;
  yield* fewOf(figures);
  const unpriced = figures.totals.reduce((sum, { costs }) => sum + (costs.passed_without_price ?? 0), 0);
  if (unpriced > 0)
    yield `${unpriced} slots passed without an attempt and have no known time, size or price: the shortfall includes their cost, but does not show it separately.`;
  const open = parents.filter(({ isOpen }) => isOpen);
  if (open.length > 0)
    yield `${open.length} of ${parents.length} parents are still running: what they have not traded yet is in no cost until they end.`;
  if (quoting.open > 0)
    yield `${quoting.open === 1 ? '1 order has' : `${quoting.open} orders have`} an unknown outcome: if one traded, its fill is missing here.`;
  // The other parents need no end price.
  const short = parents.filter(({ planned, traded }) => planned?.eq(traded) === false);
  const stale = short.filter(
    ({ facts: { pair }, end, window }) =>
      end !== undefined && window.until - end.at > END_AGE_MAX_MS + (prices.tape(pair)?.barMs ?? 0),
  );
  if (stale.length > 0)
    yield `${stale.length} parents ended without a current price: opportunity cost uses the last known one, up to ${minutes(Math.max(...stale.map(({ end, window: { until } }) => until - (end?.at ?? until))))} older.`;
  if (facts.corrections > 0)
    yield `${facts.corrections === 1 ? '1 fill uses' : `${facts.corrections} fills use`} the figures of the account, which differ from the first booking.`;
  const elsewhere = elsewhereFees(figures);
  if (elsewhere.length > 0)
    yield `No cost includes fees in currencies that their fills do not trade: ${elsewhere.join(', ')}.`;
  const late = figures.fills.filter(({ source }) => source !== 'order' && source !== 'dry_run').length;
  if (late > 0)
    yield `${late === 1 ? '1 fill was' : `${late} fills were`} proven by the account or a person, not by the answer to the order.`;
  const unbegun = parents.filter((parent) => parent.facts.unbegun !== undefined).length;
  if (unbegun > 0)
    yield `${unbegun} of ${parents.length} parents never started: the desk attempted nothing, and their whole cost is opportunity cost.`;
  const strays = parents.filter(
    (one) => one.facts.slices.size === 0 && one.facts.unbegun === undefined,
  ).length;
  if (strays > 0)
    yield `${strays} parents come from the account and were not decided in this journal: they have fills, but no plan.`;
  const borrows = facts.holdings.some(
    (held) => 'read' in held && Object.values(held.read).some((amount) => amount.startsWith('-')),
  );
  if (borrows && figures.input.charges === undefined)
    yield 'The account has borrowed. The journal does not record interest, so no cost of a parent includes it; in portfolios, a debt that grew without a fill counts as interest. tranche account pts-interest shows it.';
  if (prices.tapes.length > 0) {
    yield* barsOf(byPair, prices);
    yield* reachOf(byPair, prices);
    yield* holesOf(figures);
    yield* stalePricesOf(figures);
  }
}

/** Fills of a backtest at an outdated close, because the next bar is missing. */
function* stalePricesOf({ fills, prices, input }: Figures): Generator<string> {
  if (input.backtest === undefined) return;
  const ages = fills.flatMap(({ pair, executed_at: at }) => {
    const [tape, seen] = [prices.tape(pair), prices.tapeAt(pair, at)];
    if (tape === undefined || tape.barMs === 0 || seen === undefined) return [];
    const age = at - seen.at;
    return age > tape.barMs ? [age] : [];
  });
  if (ages.length > 0)
    yield `${ages.length} of ${fills.length} fills have a price that is older than its bar, up to ${length(ages.reduce((a, b) => Math.max(a, b)))} old: bars are missing there, and gap_max keeps the last price in use.`;
}

/**
 * If the source lacks a bar, the last price was used. Histories with the same gaps, such as those of one venue, are
 * reported together.
 */
function* holesOf({ prices, from, until }: Figures): Generator<string> {
  const told = prices.tapes.map((tape) => ({ tape, ...gapsOf(tape, from, until) }));
  const ofSome = told.filter(({ gaps }) => gaps > 0);
  const same = Map.groupBy(ofSome, ({ gaps, missingBars, longestMs, longestAt }) => [gaps, missingBars, longestMs, longestAt].join(' ')); // prettier-ignore
  for (const all of same.values()) {
    const [one] = all;
    if (one?.longestAt === undefined) continue;
    const { gaps, missingBars, longestMs, longestAt } = one;
    yield `The history of ${names(all.map(({ tape: { pair } }) => pair))} has ${gaps === 1 ? 'a gap' : `${gaps} gaps`} in this period, ${missingBars} ${missingBars === 1 ? 'bar' : 'bars'} in all, the longest ${length(longestMs)} from ${isoOf(longestAt).slice(0, 16)}: the last price applies there while it is fresh.`;
  }
}

/** Ratios and means of few fills depend mostly on randomness. */
function* fewOf({ fills, quoting }: Figures): Generator<string> {
  if (fills.length > 0 && fills.length < FILLS_MIN)
    yield `Only ${fills.length} ${fills.length === 1 ? 'fill' : 'fills'}: with so few fills, spread, mark-outs and ages are mostly random.`;
  else if (quoting.requests > 0 && fills.length === 0)
    yield 'Nothing was filled: the whole cost is opportunity at the end prices, of the parents that have ended.';
}

function* modesOf({ facts }: Figures): Generator<string> {
  const modes = new Set(facts.starts.map(({ body }) => body.mode));
  if (modes.has('dry_run'))
    yield 'Dry run: quotes were real; the desk answered orders itself at the quoted price. Fill ratio and doubts reveal nothing about the venue.';
  if (modes.has('paper'))
    yield 'Paper: the venue was simulated; spreads, fills and ages come from its model.';
  if (modes.has('backtest'))
    yield 'Backtest: the venue was simulated on market history; see the assumptions for its model. Settings chosen on this history fit it better than future history: tranche sweep counts the trials and tests settings on later windows.';
  if (modes.size > 1) yield `The journal contains runs in several modes: ${names([...modes])}.`;
}

type ByPair = ReadonlyMap<string, readonly ParentFigures[]>;

function* pricesOf(byPair: ByPair, prices: PriceBook): Generator<string> {
  const missing = [...byPair.keys()].filter((pair) => prices.tape(pair) === undefined);
  if (missing.length > 0)
    yield `No market history of ${names(missing)}: TWAP and VWAP benchmarks and mark-outs are omitted (give --data ${missing[0] ?? 'pair'}=FILE).`;
}

/** Bars longer than a mark-out horizon cannot show that mark-out. */
function* barsOf(byPair: ByPair, prices: PriceBook): Generator<string> {
  const own = prices.tapes.filter(({ pair }) => byPair.has(pair));
  for (const [barMs, tapes] of Map.groupBy(own, (tape) => tape.barMs)) {
    const short = MARK_OUT_MINUTES.filter((each) => each * MINUTE_MS < barMs);
    if (short.length > 0)
      yield `The bars of ${names(tapes.map(({ pair }) => pair))} are ${minutes(barMs)} long: mark-outs at ${short.join(', ')} min are omitted.`;
  }
}

function* reachOf(byPair: ByPair, prices: PriceBook): Generator<string> {
  for (const { pair, times, rows, barMs } of prices.tapes) {
    const own = byPair.get(pair) ?? [];
    const begun = (times[0] ?? 0) + barMs;
    const until = (times[rows - 1] ?? 0) + barMs + Math.max(END_AGE_MAX_MS, 3 * barMs);
    const outside = own.filter(({ window }) => window.from < begun || window.until > until);
    if (outside.length > 0)
      yield `The history of ${pair} does not cover ${outside.length} of its ${own.length} parents: their benchmarks are omitted.`;
  }
}

function names(all: readonly string[]): string {
  const shown = all.slice(0, NAMES_MAX).join(', ');
  return all.length > NAMES_MAX ? `${shown} and ${all.length - NAMES_MAX} more` : shown;
}

const minutes = (ms: number): string => `${Math.round(ms / MINUTE_MS)} min`;

/** A duration in the largest unit that fits at least twice. */
function length(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.round((10 * ms) / DAY_MS) / 10} days`;
  return ms >= 2 * HOUR_MS ? `${Math.round((10 * ms) / HOUR_MS) / 10} h` : minutes(ms);
}
