import { OperatorError } from '../core/errors.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  cost,
  isAboveZero,
  isBelowZero,
  negate,
  subtract,
} from '../core/money.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { gainOf } from './subledger.ts';
import type { Entry } from './subledger.ts';

/** A price with its origin. */
export interface Valuation {
  readonly price: Price;
  readonly at: Instant;
  readonly source: string;
}

/** The change of an asset's fair value in a period: opening + additions − dispositions + gain = closing. */
export interface AssetRoll {
  readonly currency: string;
  readonly openingUnits: Quantity;
  readonly opening: Money;
  /** At cost, without fees; deposits and credits at their fair value. */
  readonly additions: Money;
  /** At the proceeds, without fees; withdrawals at their fair value. */
  readonly dispositions: Money;
  /** Realised and unrealised; negative for a loss. */
  readonly gain: Money;
  readonly closingUnits: Quantity;
  readonly closing: Money;
  /** Cost of the units held at the end. */
  readonly closingCost: Money;
  /** Gains and losses of dispositions in the period, against cost. */
  readonly realisedGains: Money;
  readonly realisedLosses: Money;
  readonly openingPrice: Valuation | undefined;
  readonly closingPrice: Valuation | undefined;
}

export interface RollForwardOptions {
  readonly from: Instant;
  readonly until: Instant;
  /** Currency of the books, which does not count as an asset. */
  readonly currency: string;
  readonly valueAt: (currency: string, at: Instant) => Valuation | undefined;
}

interface Flow {
  openingUnits: Quantity;
  units: Quantity;
  cost: Money;
  additions: Money;
  dispositions: Money;
  realisedGains: Money;
  realisedLosses: Money;
}

/**
 * Computes the roll-forward of fair values, one row per asset. Source: ASU 2023-08, ASC 350-60-50-3 and 50-4.
 *
 * @throws OperatorError `data` when a price is missing.
 */
export function rollForward(entries: Iterable<Entry>, options: RollForwardOptions): readonly AssetRoll[] {
  const flows = new Map<string, Flow>();
  const adjusted = new Map<object, Map<string, Money>>();
  for (const entry of entries) {
    if (entry.at >= options.until) continue;
    const isBefore = entry.at < options.from;
    for (const change of changesOf(entry, options)) {
      const flow = flowOf(flows, change.currency);
      addTo(flow, change, { isBefore, isReversal: entry.isReversal === true });
      if (isBefore) continue;
      if (entry.what === 'correction' || entry.what === 'identification') {
        // All entries of a correction together change one gain, as do all rows of an identification.
        const key = entry.source ?? entry;
        const own = adjusted.get(key) ?? new Map<string, Money>();
        own.set(change.currency, change.gains.reduce(add, own.get(change.currency) ?? NO_MONEY));
        adjusted.set(key, own);
      } else for (const gain of change.gains) addGain(flow, gain);
    }
  }
  for (const own of adjusted.values())
    for (const [currency, gain] of own) addGain(flowOf(flows, currency), gain);
  return [...flows]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([currency, flow]) => rollOf(currency, flow, options));
}

interface Change {
  readonly currency: string;
  readonly units: Quantity;
  readonly cost: Money;
  /** Fair value at the time of the change. */
  readonly flow: Money;
  readonly gains: readonly Money[];
}

/** Returns the changes that an entry makes, one per asset. */
function changesOf({ at, what, postings, gains }: Entry, options: RollForwardOptions): readonly Change[] {
  const held = Map.groupBy(
    postings.filter(({ account, currency }) => account === 'holdings' && currency !== options.currency),
    ({ currency }) => currency,
  );
  return [...held].map(([currency, own]) => {
    const units = own.reduce((sum, { quantity }) => add(sum, quantity), NO_QUANTITY);
    const paid = own.reduce((sum, { value }) => add(sum, value), NO_MONEY);
    const realised = gains.filter((gain) => gain.currency === currency).map(gainOf);
    const flow =
      what === 'withdrawal'
        ? cost(needed(currency, at, options).price, units)
        : realised.reduce((sum, gain) => subtract(sum, gain), paid);
    return { currency, units, cost: paid, flow, gains: realised };
  });
}

function flowOf(flows: Map<string, Flow>, currency: string): Flow {
  const known = flows.get(currency);
  if (known !== undefined) return known;
  const made: Flow = {
    openingUnits: NO_QUANTITY,
    units: NO_QUANTITY,
    cost: NO_MONEY,
    additions: NO_MONEY,
    dispositions: NO_MONEY,
    realisedGains: NO_MONEY,
    realisedLosses: NO_MONEY,
  };
  flows.set(currency, made);
  return made;
}

function addTo(
  sums: Flow,
  { units, cost: paid, flow }: Change,
  { isBefore, isReversal }: { readonly isBefore: boolean; readonly isReversal: boolean },
): void {
  sums.units = add(sums.units, units);
  sums.cost = add(sums.cost, paid);
  if (isBefore) sums.openingUnits = sums.units;
  // The reversal of an addition reduces additions; it is not a disposition.
  else if (isBelowZero(flow) === isReversal) sums.additions = add(sums.additions, flow);
  else sums.dispositions = subtract(sums.dispositions, flow);
}

function addGain(sums: Flow, gain: Money): void {
  if (isAboveZero(gain)) sums.realisedGains = add(sums.realisedGains, gain);
  else sums.realisedLosses = add(sums.realisedLosses, negate(gain));
}

function rollOf(currency: string, flow: Flow, options: RollForwardOptions): AssetRoll {
  const priced = (units: Quantity, at: Instant): Valuation | undefined =>
    units.isZero() ? undefined : needed(currency, at, options);
  const [openingPrice, closingPrice] = [
    priced(flow.openingUnits, options.from),
    priced(flow.units, options.until),
  ];
  const opening = openingPrice === undefined ? NO_MONEY : cost(openingPrice.price, flow.openingUnits);
  const closing = closingPrice === undefined ? NO_MONEY : cost(closingPrice.price, flow.units);
  const { additions, dispositions, realisedGains, realisedLosses, openingUnits } = flow;
  return {
    currency,
    openingUnits,
    opening,
    additions,
    dispositions,
    gain: subtract(subtract(closing, opening), subtract(additions, dispositions)),
    closingUnits: flow.units,
    closing,
    closingCost: flow.cost,
    realisedGains,
    realisedLosses,
    openingPrice,
    closingPrice,
  };
}

function needed(currency: string, at: Instant, { valueAt }: RollForwardOptions): Valuation {
  const found = valueAt(currency, at);
  if (found === undefined)
    throw new OperatorError(
      'data',
      `no price for ${currency} at ${isoOf(at)} or in the day before: add one to the prices`,
    );
  return found;
}
