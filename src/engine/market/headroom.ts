import { add, cost, greatest, negate, NO_MONEY, NO_QUANTITY, price, quantity, quantityUp, subtract, text } from '../../core/money.ts'; // prettier-ignore
import type { Money, Quantity, Ratio } from '../../core/money.ts';
import { headroomAt, holdingsOf, leverageOf, settlementWords } from '../../core/risk/headroom.ts';
import type { Holding, Leverage } from '../../core/risk/headroom.ts';
import { borrowed } from '../../core/risk/pts.ts';
import type { Desk } from '../desk.ts';

const USD = 'usd';
const ONE_UNIT = quantity('1');
const NOTHING_HELD: ReadonlyMap<string, Quantity> = new Map();

/** What balances owe, in `currency`; `undefined` if a debt cannot be valued. Default: the account's balances now. */
export const owedIn = (
  { state, rates }: Pick<Desk, 'state' | 'rates'>,
  currency: string,
  balances = state.balances ?? NOTHING_HELD,
): Money | undefined => borrowed(balances, (symbol, amount) => rates.convert(symbol, amount, currency));

/** The balances if all open attempts except `except` pay the most that they may. */
function expectedBalances({ state }: Desk, except?: string): ReadonlyMap<string, Quantity> {
  // Attempts in progress may borrow a currency that the account has never held.
  const open = [...state.attempts.values()].flatMap(({ intent }) => [intent.base, intent.quote]);
  return new Map(
    [...new Set([...(state.balances?.keys() ?? []), ...open])].map((symbol) => [
      symbol,
      subtract(state.balances?.get(symbol) ?? NO_QUANTITY, state.reserved(symbol, except)),
    ]),
  );
}

/** Balances at the newest prices; `undefined` while one is unknown. What no pair prices counts for nothing, unless it is a debt. */
export const valuedNow = ({ state, rates }: Desk): readonly Holding[] | undefined =>
  holdingsOf(
    [...(state.balances ?? [])].filter(
      ([currency, amount]) => amount.lt(0) || rates.pairs(currency, USD) !== undefined,
    ),
    (currency) => {
      const each = rates.convert(currency, ONE_UNIT, USD);
      return each && price(text(each));
    },
  );

/** The pairs whose prices value the account. */
export const valuingPairs = ({ state, rates }: Desk): readonly string[] =>
  [...(state.balances ?? [])].flatMap(([currency, amount]) =>
    amount.isZero() ? [] : (rates.pairs(currency, USD) ?? []),
  );

/**
 * Equity and exposure of the account: as the desk values its balances now, or as the venue stated them for the same balances,
 * whichever is nearer to the liquidation level. `undefined` if neither is known.
 */
export function leverageNow(desk: Desk): Leverage | undefined {
  const holdings = valuedNow(desk);
  const own = holdings && leverageOf(holdings);
  const { metrics: { equity, exposure } = {}, balances: then = NOTHING_HELD } = desk.pts.stated() ?? {};
  const now = [...(desk.state.balances ?? [])];
  const isSame =
    then.size === now.length && now.every(([each, amount]) => then.get(each)?.eq(amount) === true);
  if (!isSame || equity === undefined || exposure === undefined) return own;
  // The lower of the two levels, without dividing by an exposure of zero.
  const isOwn = own !== undefined && own.equity.times(exposure).lte(equity.times(own.exposure));
  return isOwn ? own : { equity, exposure };
}

/** See `View.excessDebts`. */
export function excessDebts(desk: Desk, headroom: Ratio): ReadonlyMap<string, Quantity> | undefined {
  const { level } = desk.pts;
  const [now, holdings] = [leverageNow(desk), valuedNow(desk)];
  if (level === undefined || now === undefined || holdings === undefined) return undefined;
  let left = negate(headroomAt(now, add(level, headroom)));
  const excess = new Map<string, Quantity>();
  const worthOf = ({ price: each, amount }: Holding): Money => negate(cost(each, amount));
  for (const debt of holdings.toSorted((a, b) => worthOf(b).comparedTo(worthOf(a)))) {
    if (!left.gt(0) || !debt.amount.lt(0)) break;
    const isWhole = left.gte(worthOf(debt));
    excess.set(debt.currency, isWhole ? negate(debt.amount) : quantityUp(left, debt.price, DECIMALS));
    left = subtract(left, worthOf(debt));
  }
  return excess;
}
/** Decimals of a part of a debt. */
const DECIMALS = 18;

/**
 * What may still be borrowed of `currency`: the least that the exposure that the venue states as available, `pts.max_credit` and
 * `pts.min_headroom` leave. Zero if a debt cannot be valued; `unknown` if the venue has not stated what it compares with;
 * `undefined` if nothing limits it.
 */
export function creditLeft(desk: Desk, currency: string, except?: string): Quantity | 'unknown' | undefined {
  const { metrics, highest = new Map<string, Quantity>() } = desk.pts.stated() ?? {};
  const { creditMax: cap, headroomMin } = desk.policy.pts;
  const available = metrics?.availableExposure;
  if (available === undefined && !desk.pts.hasNoMetrics) return 'unknown';
  for (const [each, amount] of desk.state.balances ?? [])
    if (amount.gt(highest.get(each) ?? NO_QUANTITY)) highest.set(each, amount);
  // The venue counts what it has booked, and the desk what it has borrowed since then.
  const owed = owedIn(desk, USD, highest);
  const bounds = available === undefined ? [] : [{ of: USD, most: owed && add(available, owed) }];
  if (cap !== undefined) bounds.push({ of: cap.currency, most: cap.amount });
  if (headroomMin !== undefined) {
    const [now, own] = [leverageNow(desk), owedIn(desk, USD)];
    if (now === undefined || desk.pts.level === undefined) return 'unknown';
    bounds.push({ of: USD, most: own && add(own, headroomAt(now, add(desk.pts.level, headroomMin))) });
  }
  const expected = expectedBalances(desk, except);
  let left: Quantity | undefined;
  for (const { of, most } of bounds) {
    const used = owedIn(desk, of, expected);
    const rate = desk.rates.convert(currency, ONE_UNIT, of);
    if (most === undefined || used === undefined || rate === undefined || rate.isZero()) return NO_QUANTITY;
    const each = quantity(greatest(subtract(most, used), NO_MONEY).div(rate).toFixed(DECIMALS));
    if (left === undefined || each.lt(left)) left = each;
  }
  return left;
}

/** The credit of the account in words: what the venue stated, and at which prices it settles. Empty without credit. */
export function creditWords(desk: Desk): readonly string[] {
  if (desk.policy.pts.use === 'never') return [];
  const { exposure, availableExposure, exposureLimit, equity } = desk.pts.stated()?.metrics ?? {};
  const { level } = desk.pts;
  const told = (amount: Money | Ratio | undefined): string =>
    amount === undefined ? 'unknown' : text(amount);
  const at = level === undefined ? [] : settlementWords(valuedNow(desk) ?? [], level);
  return [
    `owes ${told(exposure)} of ${told(exposureLimit)} usd, ${told(availableExposure)} available; equity ${told(equity)} usd; liquidation level ${told(level)}`,
    ...at.map((each) => `the venue settles positions with ${each}`),
  ];
}
