import { OperatorError } from '../../core/errors.ts';
import { NO_QUANTITY, add, quantity, subtract } from '../../core/money.ts';
import type { Quantity, Ratio } from '../../core/money.ts';
import type { BalancesRecord, FillRecord, StoredRecord, StrategyRecord } from '../../core/record.ts';
import { limitDifference } from '../../core/risk/limit-changes.ts';
import type { LimitTexts } from '../../core/risk/limit-changes.ts';
import type { Instant } from '../../core/time.ts';
import type { BegunDocument } from '../../engine/state/strategy-source.ts';
import type { Command } from '../../engine/ports.ts';
import { askedOf } from '../calibrate/asks.ts';
import type { Ask } from '../calibrate/asks.ts';
import { Outcomes } from './outcomes.ts';
import type { SliceOutcome } from './outcomes.ts';
import { PeopleCommands } from './people-commands.ts';
import { References } from './references.ts';
import type { Reference } from './references.ts';

/** The documents that a desk ran, starting at an instant. */
export interface Texts {
  readonly at: Instant;
  readonly documents: readonly BegunDocument[];
}

/** A deposit, or a withdrawal as a negative amount. */
export interface Flow {
  readonly at: Instant;
  readonly currency: string;
  readonly amount: Quantity;
}

/** A desk's execution as its journal records it, which is the input of a twin. */
export interface Recorded {
  /** Name of the desk, on which ids of parents and orders depend. */
  readonly desk: string;
  /** When the first strategies began. */
  readonly from: Instant;
  /** Time of the last record. */
  readonly until: Instant;
  /** Hash of the last record, which proves all others. */
  readonly head: string;
  readonly modes: readonly string[];
  /** Balances when the first strategies began. */
  readonly opening: ReadonlyMap<string, Quantity>;
  /** Oldest first; the first contains the documents in force at `from`. */
  readonly texts: readonly Texts[];
  readonly flows: readonly Flow[];
  /** Commands of people: halts, pauses, runs. Oldest first. */
  readonly commands: readonly { readonly at: Instant; readonly command: Command }[];
  /** Quotes and orders, by client id. */
  readonly asks: ReadonlyMap<string, Ask>;
  /** By pair, oldest first. */
  readonly references: ReadonlyMap<string, readonly Reference[]>;
  /** By `sliceKey`, in the order of their decisions. */
  readonly slices: ReadonlyMap<string, SliceOutcome>;
  /** USD per unit of a quote currency, as of its last fill. */
  readonly rates: ReadonlyMap<string, Ratio>;
  /** Limits of the first start, and every change; oldest first. Empty if not recorded. */
  readonly limits: readonly { readonly at: Instant; readonly limits: LimitTexts }[];
}

/** Reads the records once, oldest first. @throws OperatorError `data` if no strategy has started, or if no balances are known. */
export function recordedOf(records: Iterable<StoredRecord>): Recorded {
  const kept = [...records];
  const asked = askedOf(kept);
  const outcomes = new Outcomes();
  const references = new References();
  const people = new PeopleCommands();
  const texts = new TextChanges();
  const balances: BalancesRecord[] = [];
  const limits: { readonly at: Instant; readonly limits: LimitTexts }[] = [];
  let desk = '';
  let first: StrategyRecord | undefined;
  for (const record of kept) {
    const { at, body } = record;
    outcomes.add(record);
    references.add(record);
    people.add(record);
    texts.add(record);
    if (body.kind === 'started') desk = body.desk;
    if (body.kind === 'strategy') first ??= body;
    if (body.kind === 'balances') balances.push(body);
    if ((body.kind === 'reload' || body.kind === 'started') && body.limits !== undefined) {
      const known = limits.at(-1);
      if (known === undefined || limitDifference(known.limits, body.limits).length > 0)
        limits.push({ at, limits: body.limits });
    }
  }
  if (first === undefined)
    throw new OperatorError('data', 'no strategy has started in this journal: there is nothing to compare');
  const { begun_at: from } = first;
  const opening = openingOf(balances, from);
  if (opening === undefined)
    throw new OperatorError('data', 'the journal has no balances from before its first order');
  return {
    desk,
    from,
    until: asked.last ?? from,
    head: asked.head ?? '',
    modes: asked.modes,
    opening: heldIn(opening),
    texts: texts.since(from),
    flows: flowsOf(opening, balances, [...outcomes.fills.values()]),
    commands: people.commands,
    asks: new Map(asked.asks.map((ask) => [ask.intent.client_order_id, ask])),
    references: references.byPair(),
    slices: outcomes.slices(),
    rates: asked.rates,
    limits,
  };
}

const heldIn = ({ balances }: BalancesRecord): ReadonlyMap<string, Quantity> =>
  new Map(Object.entries(balances).map(([currency, held]) => [currency, quantity(held)]));

/** Returns the last balances that were read before the strategies began, otherwise the first balances. */
const openingOf = (balances: readonly BalancesRecord[], from: Instant): BalancesRecord | undefined =>
  balances.findLast(({ read_at }) => read_at <= from) ?? balances[0];

/**
 * Returns the balance changes other than fills. Such a change exists if a read differs from the opening balances plus
 * all fills until then, and the next read, if there is one, differs by the same amount. A difference in only one read
 * is a fill that was not booked yet, or not known yet.
 */
function flowsOf(
  opening: BalancesRecord,
  balances: readonly BalancesRecord[],
  fills: readonly FillRecord[],
): readonly Flow[] {
  const ordered = fills
    .filter(({ executed_at }) => executed_at > opening.read_at)
    .toSorted((a, b) => a.executed_at - b.executed_at);
  const sums = new Map(heldIn(opening));
  let next = 0;
  const differences = balances
    .filter(({ read_at }) => read_at > opening.read_at)
    .map((read) => {
      for (
        let fill = ordered[next];
        fill !== undefined && fill.executed_at <= read.read_at;
        fill = ordered[++next]
      )
        for (const [currency, change] of changesOf(fill))
          sums.set(currency, add(sums.get(currency) ?? NO_QUANTITY, change));
      const held = heldIn(read);
      const currencies = new Set([...sums.keys(), ...held.keys()]);
      return {
        at: read.read_at,
        by: new Map(
          [...currencies].map((each) => [
            each,
            subtract(held.get(each) ?? NO_QUANTITY, sums.get(each) ?? NO_QUANTITY),
          ]),
        ),
      };
    });
  const known = new Map<string, Quantity>();
  return differences.flatMap(({ at, by }, i) =>
    [...by].flatMap(([currency, difference]) => {
      const before = known.get(currency) ?? NO_QUANTITY;
      const later = differences[i + 1]?.by.get(currency) ?? difference;
      if (difference.eq(before) || !later.eq(difference)) return [];
      known.set(currency, difference);
      return [{ at, currency, amount: subtract(difference, before) }];
    }),
  );
}

/** Returns the balance changes that a fill causes, by currency. */
function changesOf({
  base,
  quote,
  side,
  quantity: traded,
  amount,
  fees,
}: FillRecord): readonly (readonly [string, Quantity])[] {
  const none = NO_QUANTITY;
  return side === 'buy'
    ? [
        [base, quantity(traded)],
        [quote, subtract(none, add(quantity(amount), quantity(fees)))],
      ]
    : [
        [base, subtract(none, quantity(traded))],
        [quote, subtract(quantity(amount), quantity(fees))],
      ];
}

/**
 * Collects the documents in force, as starts and reloads change them. A strategy that a person stopped stays among
 * them, because the stop is a command.
 */
class TextChanges {
  readonly #running = new Map<string, BegunDocument>();
  readonly #stopped = new Map<string, BegunDocument>();
  readonly #changes: Texts[] = [];

  add({ at, body }: StoredRecord): void {
    if (body.kind === 'strategy') {
      const { strategy, hash, type, document, begun_at } = body;
      this.#running.set(strategy, { strategy, hash, type, document });
      this.#note(begun_at);
    }
    if (body.kind === 'reload' && body.result === 'applied') {
      const stops = body.changes.filter(({ what }) => what === 'stops');
      for (const { strategy } of stops) {
        const document = this.#running.get(strategy);
        if (document === undefined) continue;
        this.#running.delete(strategy);
        this.#stopped.set(strategy, document);
      }
      if (stops.length > 0) this.#note(at);
    }
    if (body.kind === 'wake' && body.finished === 'stopped_by_operator') {
      const document = this.#stopped.get(body.strategy);
      if (document === undefined) return;
      this.#running.set(body.strategy, document);
      this.#note(at);
    }
  }

  #note(at: Instant): void {
    if (this.#changes.at(-1)?.at === at) this.#changes.pop();
    this.#changes.push({ at, documents: [...this.#running.values()] });
  }

  since(from: Instant): readonly Texts[] {
    return this.#changes.map(({ at, documents }) => ({ at: at < from ? from : at, documents }));
  }
}
