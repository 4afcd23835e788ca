import { OperatorError } from '../../core/errors.ts';
import { price } from '../../core/money.ts';
import type { StoredRecord } from '../../core/record.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { BegunDocument } from '../../engine/state/strategy-source.ts';
import { foldJournal } from '../../report/figures/fold-journal.ts';
import type { Facts } from '../../report/figures/facts.ts';
import { OrderLimits } from '../../report/oversight/order-limits.ts';
import { PriceBook } from '../../report/figures/prices.ts';
import { heldAt, holdingsOf } from '../../report/portfolio/holdings.ts';
import type { Recorded, Reference } from '../../research/run/play.ts';

/** Reads the records once, oldest first. @throws OperatorError `data` without a strategy or balances. */
export function recordedOf(records: Iterable<StoredRecord>): {
  readonly recorded: Recorded;
  readonly facts: Facts;
} {
  const limits = new OrderLimits(() => undefined);
  const texts = new Texts();
  const facts = foldJournal(
    Iterator.from(records).map((record) => {
      limits.take(record);
      texts.take(record);
      return record;
    }),
    new PriceBook(),
  );
  const { starts, last } = facts;
  const [first] = texts.changes;
  if (first === undefined || last === undefined)
    throw new OperatorError('data', 'no strategy has started in this journal: there is nothing to compare');
  const story = holdingsOf(facts.holdings);
  const opening = heldAt(story, first.at) ?? heldAt(story, story[0]?.at ?? first.at);
  if (opening === undefined) throw new OperatorError('data', 'the journal has no balances of the account');
  const recorded = {
    desk: starts.at(-1)?.body.desk ?? '',
    from: first.at,
    until: last,
    opening,
    texts: texts.changes,
    limits: limits.periods.map(({ since, limits: of }) => ({ at: since, limits: of })),
    flows: story.flatMap(({ at, flows }) =>
      at > first.at ? [...flows].map(([currency, amount]) => ({ at, currency, amount })) : [],
    ),
    references: referencesOf(facts),
  };
  return { recorded, facts };
}

/** The documents in force, as strategies begin and reloads stop and resume them. */
class Texts {
  readonly changes: { readonly at: Instant; readonly documents: readonly BegunDocument[] }[] = [];
  readonly #known = new Map<string, BegunDocument>();
  readonly #running = new Set<string>();

  take({ at, body }: StoredRecord): void {
    if (body.kind === 'strategy') {
      this.#known.set(body.strategy, body);
      this.#run(body.strategy, body.begun_at);
    }
    if (body.kind !== 'reload' || body.result !== 'applied') return;
    for (const { strategy, what } of body.changes)
      if (what === 'stops' || what === 'goes_on') this.#run(strategy, at, what === 'goes_on');
  }

  #run(strategy: string, at: Instant, isRunning = true): void {
    if (isRunning) this.#running.add(strategy);
    else this.#running.delete(strategy);
    if (this.changes.at(-1)?.at === at) this.changes.pop();
    this.changes.push({ at, documents: [...this.#running].flatMap((id) => this.#known.get(id) ?? []) });
  }
}

/** A decision later than this after its slot saw another price than the slot. */
const LATE_MS = 5 * SECOND_MS;

/** Reference prices of decisions, at the time when they were due, and of attempts. */
function referencesOf({ parents, attempts }: Facts): ReadonlyMap<string, readonly Reference[]> {
  const seen = [
    ...parents.values().flatMap(({ pair, slices }) =>
      // A desk wakes some milliseconds late, and a backtest decides when a slice is due.
      slices.values().map(({ slot, at, intent }) => ({
        pair,
        at: at - slot < LATE_MS ? slot : at,
        text: intent.decision_price,
      })),
    ),
    ...attempts.values().map(({ intent, at }) => ({ pair: intent.pair, at, text: intent.reference_price })),
  ].flatMap(({ pair, at, text }) =>
    text === undefined || text === '' ? [] : [{ pair, at, price: price(text) }],
  );
  return Map.groupBy(seen.toSorted((a, b) => a.at - b.at), ({ pair }) => pair); // prettier-ignore
}
