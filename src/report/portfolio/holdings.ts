import { changesBy } from '../../core/cycle/balance-changes.ts';
import { add, negate, NO_QUANTITY, quantity, subtract } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { FillFacts, HoldingFacts } from '../figures/facts.ts';

/** A change of the account's holdings at an instant. */
export interface Held {
  readonly at: Instant;
  /** New balance of each currency that changed. */
  readonly changed: readonly Holding[];
  /** Changes without a fill that are no interest: deposits, withdrawals. Only from reads of the account. */
  readonly flows: ReadonlyMap<string, Quantity>;
  /** Interest on credit, by currency; positive is paid. */
  readonly interest?: ReadonlyMap<string, Quantity> | undefined;
  /** The fill that changed it. */
  readonly fill?: FillFacts | undefined;
}

interface Holding {
  readonly currency: string;
  readonly now: Quantity;
}

/** One charge of interest on credit. */
export interface Charge {
  readonly at: Instant;
  readonly currency: string;
  /** In that currency; positive is paid. */
  readonly amount: Quantity;
}

/**
 * The holdings since the first read of the account, oldest first. Reads set them; fills and the known charges of
 * interest, oldest first, change them in between.
 */
export function holdingsOf(facts: readonly HoldingFacts[], charges: readonly Charge[] = []): readonly Held[] {
  const story: Held[] = [];
  const balances = new Map<string, Quantity>();
  const hold = (currency: string, now: Quantity): Holding => {
    balances.set(currency, now);
    return { currency, now };
  };
  let next = 0;
  const chargeUntil = (until: number): void => {
    for (let one = charges[next]; one !== undefined && one.at <= until; one = charges[++next]) {
      const { at, currency, amount } = one;
      const now = subtract(balances.get(currency) ?? NO_QUANTITY, amount);
      if (story.length > 0)
        story.push({
          at,
          changed: [hold(currency, now)],
          flows: NONE,
          interest: new Map([[currency, amount]]),
        });
    }
  };
  for (const fact of facts) {
    const { at } = fact;
    chargeUntil(at);
    if ('read' in fact) {
      const read = new Map(
        Object.entries(fact.read).map(([currency, amount]) => [currency, quantity(amount)]),
      );
      const changes = story.length === 0 ? NONE : differences(balances, read);
      // Most reads of the account show no change.
      if (story.length > 0 && changes.size === 0) continue;
      const { interest, flows } = apart(changes, balances);
      const currencies = story.length === 0 ? read.keys() : changes.keys();
      const changed = Array.from(currencies, (currency) => hold(currency, read.get(currency) ?? NO_QUANTITY));
      story.push({ at, changed, flows, interest });
    } else if (story.length > 0) {
      const { record, figures } = fact.fill;
      const changed = changesBy(record, figures).map(([currency, change]) =>
        hold(currency, add(balances.get(currency) ?? NO_QUANTITY, change)),
      );
      story.push({ at, changed, flows: NONE, fill: fact.fill });
    }
  }
  chargeUntil(Number.POSITIVE_INFINITY);
  return story;
}

/**
 * Separates interest from flows: nobody can withdraw what an account owes, so a debt that grows without a fill, and
 * while no balance rises, grows by interest.
 */
function apart(
  changes: ReadonlyMap<string, Quantity>,
  balances: ReadonlyMap<string, Quantity>,
): Pick<Held, 'flows' | 'interest'> {
  const all = [...changes];
  const isInterest = ([currency]: readonly [string, Quantity]): boolean =>
    balances.get(currency)?.isNegative() === true;
  if (!all.some(isInterest) || all.some(([, change]) => change.gt(0))) return { flows: changes };
  return {
    flows: new Map(all.filter((one) => !isInterest(one))),
    interest: new Map(all.filter(isInterest).map(([currency, change]) => [currency, negate(change)])),
  };
}

/** The holdings at an instant; `undefined` before the first read of the account. */
export const heldAt = (story: readonly Held[], moment: Instant): ReadonlyMap<string, Quantity> | undefined =>
  heldUntil(
    story,
    story.findLastIndex(({ at }) => at <= moment),
  );

/** The holdings at an instant without the fills of that instant. */
export const heldBefore = (
  story: readonly Held[],
  moment: Instant,
): ReadonlyMap<string, Quantity> | undefined =>
  heldUntil(
    story,
    story.findLastIndex(({ at, fill }) => at < moment || (at === moment && fill === undefined)),
  );

function heldUntil(story: readonly Held[], last: number): ReadonlyMap<string, Quantity> | undefined {
  if (last < 0) return undefined;
  const balances = new Map<string, Quantity>();
  for (let i = 0; i <= last; i++)
    for (const { currency, now } of story[i]?.changed ?? []) balances.set(currency, now);
  return balances;
}

const NONE: ReadonlyMap<string, Quantity> = new Map();

function differences(
  before: ReadonlyMap<string, Quantity>,
  after: ReadonlyMap<string, Quantity>,
): ReadonlyMap<string, Quantity> {
  const changed = new Map<string, Quantity>();
  for (const currency of new Set([...before.keys(), ...after.keys()])) {
    const change = subtract(after.get(currency) ?? NO_QUANTITY, before.get(currency) ?? NO_QUANTITY);
    if (!change.isZero()) changed.set(currency, change);
  }
  return changed;
}
