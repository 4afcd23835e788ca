import { changesOf } from '../core/changes.ts';
import { add, NO_QUANTITY, quantity, subtract } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import type { HoldingFacts } from './facts.ts';

/** What the account held from a moment on. */
export interface Held {
  readonly at: Instant;
  readonly balances: ReadonlyMap<string, Quantity>;
  /** Changes that no fill explains: deposits, withdrawals, interest. Only with a read of the account. */
  readonly flows: ReadonlyMap<string, Quantity>;
}

/** The holdings since the first read of the account: reads tell them, fills change them in between. Oldest first. */
export function holdingsOf(facts: readonly HoldingFacts[]): readonly Held[] {
  const story: Held[] = [];
  let balances: ReadonlyMap<string, Quantity> | undefined;
  for (const fact of facts) {
    if ('read' in fact) {
      const read = new Map(
        Object.entries(fact.read).map(([currency, amount]) => [currency, quantity(amount)]),
      );
      const flows = balances === undefined ? NONE : differences(balances, read);
      // Most reads of the account tell what is known.
      if (balances !== undefined && flows.size === 0) continue;
      balances = read;
      story.push({ at: fact.at, balances, flows });
    } else if (balances !== undefined) {
      const now = new Map(balances);
      for (const [currency, change] of changesOf(fact.fill))
        now.set(currency, add(now.get(currency) ?? NO_QUANTITY, change));
      balances = now;
      story.push({ at: fact.at, balances, flows: NONE });
    }
  }
  return story;
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
