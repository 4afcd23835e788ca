import { add, greatest, holding, NO_QUANTITY, negate, ratio, subtract } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { DOCUMENTED_LEVEL, holdingsOf, settlementWords } from '../core/risk/headroom.ts';
import { asMoney, figure, inLimits, openSlices, sumOf, usdOf, worthOf } from './plan.ts';
import type { Check, PlanFacts, PlannedSlice, PlannedStrategy } from './plan.ts';

/** Projects the account after each slice, with every slice at its worst price. */

/** The largest shortfall of a balance below its required minimum, and when it first occurs. */
interface Shortfall {
  readonly currency: string;
  readonly missing: Quantity;
  readonly first: Instant;
  readonly strategy: string;
}

interface Projection {
  /** Balances at the end. */
  readonly after: ReadonlyMap<string, Quantity>;
  readonly below: readonly Shortfall[];
  readonly above: readonly Shortfall[];
  /** Largest debt of each currency at any time. */
  readonly owed: ReadonlyMap<string, Quantity>;
  /** Pairs without a price. */
  readonly unpriced: ReadonlySet<string>;
}

export function checkFunds(strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] {
  if (!strategies.some(({ slices, ceiling }) => slices.length > 0 || ceiling !== undefined))
    return [
      { check: 'funds', verdict: 'note', says: 'no size is known in advance, so funds cannot be projected' },
    ];
  const { funds } = facts;
  if ('missing' in funds) {
    return [
      { check: 'funds', verdict: 'not_done', says: `not checked: ${funds.missing}` },
      { check: 'settlement', verdict: 'not_done', says: 'not checked: it needs the balances' },
    ];
  }
  const projected = project(strategies, facts, funds.balances);
  const unpriced: readonly Check[] = [...projected.unpriced].map((pair) => ({
    check: 'funds',
    verdict: 'not_done',
    says: `trades of ${pair} are not included: give --price ${pair}=…`,
  }));
  const isOnCredit = facts.pts.use === 'when_enabled';
  const short = projected.below.filter(
    ({ currency }) =>
      !isOnCredit || facts.limits.positionMin.has(currency) || facts.limits.keep.has(currency),
  );
  const refused = short.map((one): Check => shortCheck(one, facts));
  const over = projected.above.map((one): Check => ({
    check: 'funds',
    verdict: 'refused',
    strategy: one.strategy,
    says: `${one.currency} exceeds controls.max_position by up to ${figure(one.missing)}, first at ${isoOf(one.first)}`,
    fix: `buy ${figure(one.missing)} ${one.currency} less`,
  }));
  const changing = strategies.filter(
    ({ slices, ceiling, pairs }) => slices.length === 0 && ceiling === undefined && pairs.length > 0,
  );
  const unknown =
    changing.length === 0 ? '' : `; trades of ${changing.map(({ id }) => id).join(', ')} are not known yet`;
  const ok: Check = {
    check: 'funds',
    verdict: 'ok',
    says: `funds by ${funds.from}: sufficient for every slice; balances from ${balancesText(funds.balances, projected.after)}${unknown}`,
  };
  const bad = [...refused, ...over];
  return [
    ...(bad.length > 0 ? bad : unpriced.length > 0 ? [] : [ok]),
    ...unpriced,
    ...settlement(strategies, facts, projected),
  ];
}

function shortCheck({ currency, missing, first, strategy }: Shortfall, facts: PlanFacts): Check {
  const { words } = floorOf(currency, facts);
  return {
    check: 'funds',
    verdict: 'refused',
    strategy,
    says: `${currency} falls short of ${words} by ${figure(missing)} at worst, first at ${isoOf(first)}`,
    fix: `bring ${figure(missing)} ${currency} before then, or trade that much ${currency} less`,
  };
}

/** The required minimum of a currency, and its source. */
function floorOf(
  currency: string,
  { limits, pts }: PlanFacts,
): { readonly least: Quantity; readonly words: string } {
  const [min, keep] = [limits.positionMin.get(currency), limits.keep.get(currency)];
  // Without credit, no balance falls below zero, regardless of the floor.
  const floors = [min, keep, pts.use === 'never' ? NO_QUANTITY : undefined].filter(
    (one) => one !== undefined,
  );
  const [first = NO_QUANTITY, ...more] = floors;
  const least = greatest(first, ...more);
  if (least.isZero()) return { least, words: 'what is there' };
  return {
    least,
    words: `${min?.eq(least) === true ? 'controls.min_position' : 'sizing.keep'} of ${figure(least)}`,
  };
}

function project(
  strategies: readonly PlannedStrategy[],
  facts: PlanFacts,
  balances: ReadonlyMap<string, Quantity>,
): Projection {
  const held = new Map(balances);
  const below = new Map<string, Shortfall>();
  const above = new Map<string, Shortfall>();
  const owed = new Map<string, Quantity>();
  const unpriced = new Set<string>();
  const note = (found: Map<string, Shortfall>, one: Shortfall): void => {
    const known = found.get(one.currency);
    if (known === undefined) found.set(one.currency, one);
    else if (one.missing.gt(known.missing)) found.set(one.currency, { ...known, missing: one.missing });
  };
  const change = (
    currency: string,
    by: Quantity,
    { at, strategy }: Pick<PlannedSlice, 'at' | 'strategy'>,
  ): void => {
    const now = add(held.get(currency) ?? NO_QUANTITY, by);
    held.set(currency, now);
    const about = { currency, first: at, strategy };
    const floor = floorOf(currency, facts).least;
    const ceiling = facts.limits.positionMax.get(currency);
    // An incoming amount may leave the balance below the floor, but this slice does not cause that.
    if (by.lt(0) && now.lt(floor)) note(below, { ...about, missing: subtract(floor, now) });
    if (by.gt(0) && ceiling !== undefined && now.gt(ceiling))
      note(above, { ...about, missing: subtract(now, ceiling) });
    if (now.lt(0)) owed.set(currency, greatest(owed.get(currency) ?? NO_QUANTITY, negate(now)));
  };
  const trade = (slice: Omit<PlannedSlice, 'slice' | 'until'>, isCertain: boolean): void => {
    const { quantity, amount } = worthOf(slice, facts);
    const names = facts.currencies(slice.pair);
    if (names === undefined || quantity === undefined || amount === undefined) {
      unpriced.add(slice.pair);
      return;
    }
    const [pays, gets] =
      slice.side === 'buy'
        ? [
            { of: names.quote, by: holding(amount) },
            { of: names.base, by: quantity },
          ]
        : [
            { of: names.base, by: quantity },
            { of: names.quote, by: holding(amount) },
          ];
    change(pays.of, negate(pays.by), slice);
    if (isCertain) change(gets.of, gets.by, slice);
  };
  // Amounts that may be needed at any time are deducted first; their proceeds do not count.
  for (const { id, ceiling } of strategies)
    if (ceiling !== undefined) trade({ ...ceiling, strategy: id, at: facts.now }, false);
  for (const slice of openSlices(strategies)) trade(slice, true);
  return { after: held, below: [...below.values()], above: [...above.values()], owed, unpriced };
}

/** The debt after trades on credit, and the strategy that closes it. */
function settlement(
  strategies: readonly PlannedStrategy[],
  facts: PlanFacts,
  { owed, after }: Projection,
): readonly Check[] {
  const { pts } = facts;
  if (pts.use === 'never')
    return [
      {
        check: 'settlement',
        verdict: 'ok',
        says: 'pts.use is never: own funds pay for every trade, so no debt results',
      },
    ];
  if (owed.size === 0)
    return [
      {
        check: 'settlement',
        verdict: 'ok',
        says: 'own funds pay for every slice: no credit is needed',
      },
    ];
  const what = [...owed].map(([currency, amount]) => `${figure(amount)} ${currency}`).join(', ');
  const worth = [...owed].map(([currency, amount]) => inLimits(currency, asMoney(amount), facts));
  const total = worth.some((one) => one === undefined)
    ? undefined
    : sumOf(worth.filter((one) => one !== undefined));
  const { creditMax } = pts;
  if (
    creditMax !== undefined &&
    total !== undefined &&
    creditMax.currency === facts.limits.currency &&
    total.gt(creditMax.amount)
  ) {
    return [
      {
        check: 'settlement',
        verdict: 'refused',
        says: `the debt would be ${what}, ${figure(total)} ${creditMax.currency}, above pts.max_credit of ${figure(creditMax.amount)}`,
        fix: `bring ${figure(subtract(total, creditMax.amount))} ${creditMax.currency}, or trade that much less`,
      },
    ];
  }
  const at = settlementWords(
    holdingsOf(after, (symbol) => usdOf(symbol, facts)) ?? [],
    ratio(DOCUMENTED_LEVEL),
  );
  const closes = strategies.some(({ kind }) => kind === 'settle');
  const says = `the debt could reach ${what} if the risk mode of the pair is Enabled; ${closes ? 'a settle strategy closes it' : 'no settle strategy closes it before interest accrues'}; at its documented level of ${DOCUMENTED_LEVEL}, the venue settles with ${at.join(' or ') || 'no price'}`;
  return [{ check: 'settlement', verdict: 'note', says }];
}

function balancesText(before: ReadonlyMap<string, Quantity>, after: ReadonlyMap<string, Quantity>): string {
  const changed = [...after].filter(([currency, amount]) => !amount.eq(before.get(currency) ?? NO_QUANTITY));
  return changed
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([currency, amount]) =>
        `${figure(before.get(currency) ?? NO_QUANTITY)} to ${figure(amount)} ${currency}`,
    )
    .join(', ');
}
