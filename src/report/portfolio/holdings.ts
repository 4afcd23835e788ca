import { changesBy } from '../../core/cycle/balance-changes.ts';
import { add, NO_QUANTITY, quantity, subtract } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { FillFacts, HoldingFacts } from '../figures/facts.ts';

/** A change of the account's holdings at an instant. */
export interface Held {
  readonly at: Instant;
  /** New balance of each currency that changed. */
  readonly changed: readonly Holding[];
  /** Changes without a fill: deposits, withdrawals, interest. Only from reads of the account. */
  readonly flows: ReadonlyMap<string, Quantity>;
  /** The fill that changed it. */
  readonly fill?: FillFacts | undefined;
}

interface Holding {
  readonly currency: string;
  readonly now: Quantity;
}

/** The holdings since the first read of the account, oldest first. Reads set them, and fills change them in between. */
export function holdingsOf(facts: readonly HoldingFacts[]): readonly Held[] {
  const story: Held[] = [];
  const balances = new Map<string, Quantity>();
  const hold = (currency: string, now: Quantity): Holding => {
    balances.set(currency, now);
    return { currency, now };
  };
  for (const fact of facts) {
    const { at } = fact;
    if ('read' in fact) {
      const read = new Map(
        Object.entries(fact.read).map(([currency, amount]) => [currency, quantity(amount)]),
      );
      const flows = story.length === 0 ? NONE : differences(balances, read);
      // Most reads of the account show no change.
      if (story.length > 0 && flows.size === 0) continue;
      const currencies = story.length === 0 ? read.keys() : flows.keys();
      const changed = Array.from(currencies, (currency) => hold(currency, read.get(currency) ?? NO_QUANTITY));
      story.push({ at, changed, flows });
    } else if (story.length > 0) {
      const { record, figures } = fact.fill;
      const changed = changesBy(record, figures).map(([currency, change]) =>
        hold(currency, add(balances.get(currency) ?? NO_QUANTITY, change)),
      );
      story.push({ at, changed, flows: NONE, fill: fact.fill });
    }
  }
  return story;
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
