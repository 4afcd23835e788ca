import { amountsOf } from '../../core/cycle/balance-changes.ts';
import type { FillAmounts } from '../../core/cycle/balance-changes.ts';
import { corrected } from '../../core/cycle/corrected-fill.ts';
import { money, NO_MONEY, quantity } from '../../core/money.ts';
import type {
  AttemptRecord,
  CorrectionRecord,
  FillRecord,
  IntentText,
  RecordBody,
  SliceRecord,
  StoredRecord,
  StrategyRecord,
  WakeRecord,
} from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { untradedBy } from '../../core/cycle/untraded.ts';
import type {
  AttemptFacts,
  Facts,
  FillFacts,
  HoldingFacts,
  LifeFacts,
  ParentFacts,
  UntradedFacts,
} from './facts.ts';
import { decide, dueOf, legsOfLife, pass, textKey, totalOf, unbegunOf } from './legs.ts';
import type { Legs } from './legs.ts';
import type { PriceBook } from './prices.ts';

/** Folds the records of a journal, oldest first, into facts. The records' reference prices go into `prices`. */
export function foldJournal(records: Iterable<StoredRecord>, prices: PriceBook): Facts {
  const gatherer = new Gatherer(prices);
  for (const record of records) gatherer.take(record);
  gatherer.close();
  return gatherer;
}

class Gatherer implements Facts {
  readonly starts: { at: Instant; body: RecordBody & { kind: 'started' } }[] = [];
  readonly lives: LifeFacts[] = [];
  readonly parents = new Map<string, ParentFacts>();
  readonly attempts = new Map<string, AttemptFacts>();
  readonly untraded: UntradedFacts[] = [];
  readonly holdings: HoldingFacts[] = [];
  corrections = 0;
  records = 0;
  first: Instant | undefined;
  last: Instant | undefined;
  #newest: StoredRecord | undefined;
  /** Fills by client id. A repeated record counts only once. */
  readonly #filled = new Set<string>();
  /** The newest run of each strategy. */
  readonly #lifeOf = new Map<string, LifeFacts>();
  /**
   * The legs of all lives, and of each document's newest life: when a document starts a new life, it reuses leg names
   * for other legs.
   */
  readonly #allLegs: Legs[] = [];
  readonly #legsOf = new Map<string, Legs>();
  #legs: Legs | undefined;
  /** Cached, because consecutive records mostly concern the same order and parent. */
  #attempt: AttemptFacts | undefined;
  #parent: ParentFacts | undefined;
  readonly #prices: PriceBook;

  constructor(prices: PriceBook) {
    this.#prices = prices;
  }

  get head(): string | undefined {
    return this.#newest?.hash;
  }

  take(record: StoredRecord): void {
    const { at, body } = record;
    this.records++;
    this.first ??= at;
    this.last = at;
    this.#newest = record;
    switch (body.kind) {
      case 'started':
        this.starts.push({ at, body });
        break;
      case 'strategy':
        this.#beginLife(at, body);
        break;
      case 'wake':
        this.#untraded(at, body, body.note);
        this.#wake(at, body);
        break;
      case 'intent': {
        this.#prices.note(body.pair, at, body.reference_price);
        this.#attempt = { intent: body, at, quote: undefined, result: undefined, reason: undefined, wasDoubt: false }; // prettier-ignore
        this.attempts.set(body.client_order_id, this.#attempt);
        const slice = this.#parentOf(body.parent)?.slices.get(body.slice);
        if (slice !== undefined) slice.attempts++;
        break;
      }
      case 'quote': {
        const attempt = this.#attemptOf(body.client_order_id);
        if (attempt !== undefined) attempt.quote = body;
        break;
      }
      case 'attempt':
        this.#end(body);
        break;
      case 'fill':
        this.#book(at, body);
        break;
      case 'slice': {
        const slice = this.#parentOf(body.parent)?.slices.get(body.slice);
        if (slice !== undefined) slice.end = { at, body };
        this.#untraded(at, body, body.detail);
        break;
      }
      case 'balances':
        this.holdings.push({ at, read: body.balances });
        break;
      case 'correction':
        this.#correct(body);
        break;
      case 'shown':
      case 'process':
      case 'stopped':
      case 'maximum':
      case 'resolved':
      case 'approval':
      case 'reload':
      case 'alert':
      case 'person':
      case 'settings':
      case 'control':
    }
  }

  #beginLife(at: Instant, record: StrategyRecord): void {
    const before = this.#lifeOf.get(record.strategy);
    if (before !== undefined) before.overAt ??= at;
    const life: LifeFacts = { record };
    this.lives.push(life);
    this.#lifeOf.set(record.strategy, life);
    this.#legs = this.#addLegs(legsOfLife(record, life));
  }

  #addLegs(legs: Legs): Legs {
    this.#allLegs.push(legs);
    this.#legsOf.set(textKey(legs), legs);
    return legs;
  }

  #attemptOf(id: string): AttemptFacts | undefined {
    if (this.#attempt?.intent.client_order_id !== id) this.#attempt = this.attempts.get(id);
    return this.#attempt;
  }

  #parentOf(id: string): ParentFacts | undefined {
    if (this.#parent?.parent !== id) this.#parent = this.parents.get(id);
    return this.#parent;
  }

  #untraded(at: Instant, body: SliceRecord | WakeRecord, note: string | undefined): void {
    const told = untradedBy(body);
    if (told !== undefined) this.untraded.push({ at, note, ...told });
  }

  #wake(at: Instant, wake: WakeRecord): void {
    const legs = this.#legsAt(wake);
    const { life } = legs;
    const due = wake.on === 'at' ? wake.detail['due'] : undefined;
    const since = typeof due === 'number' && due < at ? instant(due) : at;
    if (life !== undefined) {
      life.state = wake.state;
      if (wake.finished !== undefined) {
        life.finished = { at, reason: wake.finished };
        life.overAt = at;
      }
    }
    decide(legs, wake.state, { at, since });
    if (wake.missed.length > 0) pass(legs, wake, { at, since });
    for (const intent of wake.intents) {
      if (intent.decision_price !== undefined) this.#prices.note(intent.pair, at, intent.decision_price);
      const parent = this.#parentOf(intent.parent) ?? this.#begin(intent, wake, { at, since, legs });
      const { slice } = intent;
      parent.slices.set(slice, { slice, slot: since, at, intent, attempts: 0, end: undefined });
    }
  }

  /** The legs of a wake's life. Consecutive wakes mostly belong to the same life. */
  #legsAt(wake: WakeRecord): Legs {
    if (this.#legs?.strategy === wake.strategy && this.#legs.hash === wake.hash) return this.#legs;
    this.#legs = this.#legsOf.get(textKey(wake)) ?? this.#addLegs(legsOfLife(wake, undefined));
    return this.#legs;
  }

  #begin(
    { parent, leg, pair, side, by, decision_price: arrival }: IntentText,
    { strategy }: WakeRecord,
    { at, since, legs }: { readonly at: Instant; readonly since: Instant; readonly legs: Legs },
  ): ParentFacts {
    const { life } = legs;
    const before = legs.before.get(leg);
    const facts: ParentFacts = {
      parent,
      strategy,
      life,
      leg,
      pair,
      side,
      by,
      decidedAt: dueOf(leg, before?.at ?? since),
      begunAt: at,
      arrival,
      told: before?.decided?.told ?? totalOf(life?.record.document, leg),
      slices: new Map(),
      missed: before?.missed ?? [],
      fills: [],
    };
    this.parents.set(parent, facts);
    legs.parentOf.set(leg, facts);
    return facts;
  }

  /** Places the parents without any attempt, once all records have been read. */
  close(): void {
    const desk = this.starts.at(-1)?.body.desk ?? '';
    const unbegun = this.#allLegs
      .flatMap((legs) => unbegunOf(legs, desk))
      .filter(({ parent }) => !this.parents.has(parent));
    if (unbegun.length === 0) return;
    const all = [...this.parents.values(), ...unbegun].toSorted((a, b) => a.begunAt - b.begunAt);
    this.parents.clear();
    for (const parent of all) this.parents.set(parent.parent, parent);
  }

  #end({ client_order_id: id, result, reason }: AttemptRecord): void {
    const attempt = this.#attemptOf(id);
    if (attempt === undefined) return;
    attempt.result = result;
    attempt.reason = reason;
    if (result === 'doubt') attempt.wasDoubt = true;
  }

  #book(at: Instant, fill: FillRecord): void {
    if (this.#filled.has(fill.client_order_id)) return;
    this.#filled.add(fill.client_order_id);
    const booked = new Booked(fill, at, this.#attemptOf(fill.client_order_id));
    this.holdings.push({ at, fill: booked });
    const parent = this.#parentOf(fill.parent) ?? this.#stray(fill);
    // Allocated for one fill, because a growing list reserves room for many, and most parents have one slice.
    if (parent.fills.length === 0) parent.fills = [booked];
    else parent.fills.push(booked);
  }

  /**
   * A trade of a parent for which this journal contains no decision. It was found in the account after an older copy
   * was restored.
   */
  #stray(fill: FillRecord): ParentFacts {
    const facts: ParentFacts = {
      parent: fill.parent,
      strategy: fill.strategy,
      life: undefined,
      leg: '',
      pair: fill.pair,
      side: fill.side,
      by: 'quantity',
      decidedAt: fill.executed_at,
      begunAt: fill.executed_at,
      arrival: fill.decision_price === '' ? undefined : fill.decision_price,
      told: undefined,
      slices: new Map(),
      missed: [],
      fills: [],
    };
    this.parents.set(fill.parent, facts);
    return facts;
  }

  /** The account is authoritative about what was traded. */
  #correct(correction: CorrectionRecord): void {
    this.corrections++;
    const { client_order_id: id } = correction;
    const intent = this.attempts.get(id)?.intent;
    const parents = intent === undefined ? this.parents.values() : [this.parents.get(intent.parent)];
    for (const parent of parents)
      for (const fill of parent?.fills ?? [])
        if (fill.record.client_order_id === id) fill.record = corrected(fill.record, correction);
  }
}

/** A fill whose amounts are parsed on first use, because many readers need none of them. */
class Booked implements FillFacts {
  readonly at: Instant;
  readonly attempt: AttemptFacts | undefined;
  #record: FillRecord;
  #figures: FillAmounts | undefined;

  constructor(record: FillRecord, at: Instant, attempt: AttemptFacts | undefined) {
    this.#record = record;
    this.at = at;
    this.attempt = attempt;
  }

  get record(): FillRecord {
    return this.#record;
  }

  set record(record: FillRecord) {
    this.#record = record;
    this.#figures = undefined;
  }

  get figures(): FillAmounts {
    if (this.#record.other_fees !== undefined) return (this.#figures ??= amountsOf(this.#record));
    const { quantity: traded, amount, fees } = this.#record;
    return (this.#figures ??= { quantity: quantity(traded), amount: money(amount), fees: fees === '0' ? NO_MONEY : money(fees) }); // prettier-ignore
  }
}
