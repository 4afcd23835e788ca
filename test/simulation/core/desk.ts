import { classifyOrder, classifyQuote } from '../../../src/core/answer.ts';
import { deskRefusal, refusal } from '../../../src/core/controls.ts';
import type { Refusal, World as Limited } from '../../../src/core/controls.ts';
import { follow } from '../../../src/core/cycle.ts';
import type { CycleEvent, Next, Phase } from '../../../src/core/cycle.ts';
import { inherited, judge, lastOrderStart } from '../../../src/core/doubts.ts';
import type { Doubt } from '../../../src/core/doubts.ts';
import { adoptable } from '../../../src/core/doubts.ts';
import { tradesOf } from '../../../src/core/evidence.ts';
import type { TradeEvidence } from '../../../src/core/evidence.ts';
import { clientId, deskMark, parseClientId } from '../../../src/core/ids.ts';
import { add, cost, money, price, quantity, text } from '../../../src/core/money.ts';
import type { Price } from '../../../src/core/money.ts';
import type { Pair } from '../../../src/core/pairs.ts';
import type { Reason } from '../../../src/core/reasons.ts';
import type { FillRecord, IntentRecord, RecordBody, StoredRecord } from '../../../src/core/record.ts';
import { isNothing, leftOf } from '../../../src/core/sizing.ts';
import { instant } from '../../../src/core/time.ts';
import type { Monotonic } from '../../../src/core/time.ts';
import type {
  OrderAnswer,
  OrderRequest,
  Quote,
  QuoteAnswer,
  QuoteRequest,
  Size,
  Transaction,
} from '../../../src/core/venue.ts';
import { fillFromEvidence, fillFromOrder } from '../../../src/engine/booking.ts';
import { Continuity } from '../../../src/engine/continuity.ts';
import { DeskState, sliceKey } from '../../../src/engine/desk-state.ts';
import type { OpenSlice } from '../../../src/engine/desk-state.ts';
import type { Life } from './life.ts';
import { LIFE_MAX_MS, ORDER_MARGIN_MS, ORDER_TIMEOUT_MS, QUOTE_TIMEOUT_MS, READ_GAP_MS } from './plan.ts';
import type { Parent } from './plan.ts';

const PAIRS: Readonly<Record<string, Pair>> = {
  btcusd: { pair: 'btcusd', base: 'btc', quote: 'usd' },
  ethusd: { pair: 'ethusd', base: 'eth', quote: 'usd' },
};
const instrumentOf = (
  pair: string,
): Pair & { basePrecision: number; quotePrecision: number; minimum: object } => ({
  ...(PAIRS[pair] ?? { pair, base: '', quote: '' }),
  basePrecision: 2,
  quotePrecision: 2,
  minimum: {},
});
const INSTRUMENTS = { btcusd: instrumentOf('btcusd'), ethusd: instrumentOf('ethusd') } as const;
export const DESK = 'sim';
const MARK = deskMark(DESK);
/** Whole hundredths of each currency at the beginning. */
export const BALANCES: Readonly<Record<string, number>> = { btc: 100_000, eth: 100_000, usd: 10_000_000_000 };
const BALANCE_TEXTS = { btc: '1000', eth: '1000', usd: '100000000' };
const PATIENCE = { orderTimeoutMs: ORDER_TIMEOUT_MS, orderMarginMs: ORDER_MARGIN_MS };
const IDLE_POLL_MS = 60_000;
const OVERLAP_MS = 600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Starts that end badly within ten minutes, after which the desk starts halted. */
const DEATHS_MAX = 5;

type End =
  | {
      readonly end: 'filled';
      readonly intent: IntentRecord;
      readonly fill: FillRecord;
      readonly differs?: string | undefined;
    }
  | { readonly end: 'doubt'; readonly intent: IntentRecord; readonly phase: Doubt }
  | { readonly end: 'closed'; readonly intent: IntentRecord; readonly phase: Phase & { state: 'ended' } };

interface Attempt {
  readonly intent: IntentRecord;
  readonly request: QuoteRequest;
  readonly slice: OpenSlice;
  readonly breaks: number;
  readonly key: string;
}

/**
 * One process of the desk. Every decision is the product's own function; what is written here is only what carries them
 * out: timers, the order of effects, a queue of ends.
 */
export class DeskProcess {
  readonly state = new DeskState();
  readonly #life: Life;
  readonly #doubts = new Map<string, Doubt>();
  readonly #continuity: Continuity;
  readonly #quoteIds = new Set<string>();
  readonly #trying = new Set<string>();
  readonly #ends: End[] = [];
  #isEnding = false;
  #isReady = false;
  #latch: 'paused' | 'halted' | undefined;
  #reader = 0;
  #isReading = false;
  #readFrom: Monotonic;
  #readStartedAt: Monotonic | undefined;

  constructor(life: Life) {
    this.#life = life;
    const { clock } = life;
    this.#continuity = new Continuity(clock, { everyMs: 5_000, divergenceMs: 2_000, lateMs: 2_000 }, () => {
      life.world.probe('time was not continuous');
    });
    // Another process may have read a moment ago, and what it sent may still be on its way.
    this.#readFrom = (clock.monotonic() + READ_GAP_MS + 1_000) as Monotonic;
  }

  /** Whether a process of this desk may trade. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Start-up is recovery. */
  boot(): void {
    const { clock, disk, world } = this.#life;
    for (const stored of disk.durable) this.state.apply(stored);
    const deaths = this.state.diedSince(instant(clock.wall() - 600_000));
    const bodies: RecordBody[] = [
      { kind: 'started', version: '0', mode: 'simulation', desk: DESK, config_hash: 'c', account: 'a' },
    ];
    for (const { intent, doubt, quote } of this.state.attempts.values()) {
      const phase = inherited({
        startedAt: clock.monotonic(),
        lifeMs: quote?.life_ms ?? LIFE_MAX_MS,
        bookingMarginMs: this.#life.work.trust.bookingMarginMs,
      });
      world.probe(doubt === undefined ? 'doubt left by a dead process' : 'doubt taken over');
      if (doubt === undefined) bodies.push(attemptRecord(intent, 'doubt', phase.reason, phase.detail));
      this.#doubts.set(intent.client_order_id, phase);
    }
    if (this.state.control !== 'halted' && (disk.isHalting || deaths >= DEATHS_MAX)) {
      if (deaths >= DEATHS_MAX) world.probe('crash loop halted');
      bodies.push(halted('found at start'));
    }
    this.#append(bodies, () => {
      this.#watchClock();
      this.#scheduleRead();
    });
  }

  /** A command of the operator: in memory first, then the file, then the journal. */
  command(what: 'pause' | 'halt'): void {
    const { disk } = this.#life;
    if (this.#latch !== 'halted') this.#latch = what === 'halt' ? 'halted' : 'paused';
    if (what === 'halt') disk.isHalting = true;
    if (this.state.control === 'halted') return;
    this.#append(
      [{ kind: 'control', state: what === 'halt' ? 'halted' : 'paused', by: 'operator', why: what }],
      () => undefined,
    );
  }

  /** The operator lets the desk trade again. */
  release(done: () => void): void {
    const { disk } = this.#life;
    this.#append([{ kind: 'control', state: 'active', by: 'operator', why: 'looked at it' }], () => {
      disk.isHalting = false;
      this.#latch = undefined;
      done();
    });
  }

  /** Every slice has ended, no attempt is open, and the account was read since. */
  isDone(since: number): boolean {
    const { work, clock } = this.#life;
    if (!this.#isReady || this.state.attempts.size > 0 || this.state.slices.size > 0 || this.#isEnding)
      return false;
    for (const { strategy } of work.parents)
      if (this.state.lives.get(strategy)?.finished === undefined) return false;
    return this.#readStartedAt !== undefined && this.#readStartedAt > clock.monotonicAt(since);
  }

  // —— the journal

  #append(bodies: readonly RecordBody[], done: () => void): void {
    const { disk, clock } = this.#life;
    this.#life.step('append');
    disk.append({
      bodies,
      wall: clock.wall(),
      done: this.#life.bound((stored: readonly StoredRecord[]) => {
        for (const each of stored) this.state.apply(each);
        this.#life.world.note('durable', stored[0]?.body.kind ?? '');
        this.#life.step('durable');
        done();
      }),
      failed: () => {
        this.#life.enter(() => this.#life.die('the journal failed'));
      },
    });
    this.#life.step('appended');
  }

  // —— slots

  #watchClock(): void {
    const before = this.#continuity.count;
    this.#continuity.look();
    this.#later(5_000, () => {
      if (this.#continuity.look() !== before) this.#plan();
      this.#watchClock();
    });
  }

  /** Decides every slot that is due, and waits for the next. */
  #plan(): void {
    if (!this.#isReady) return;
    const { work } = this.#life;
    for (const parent of work.parents) this.#planOf(parent);
  }

  #planOf(parent: Parent): void {
    const { work, clock, world } = this.#life;
    const life = this.state.lives.get(parent.strategy);
    if (life === undefined || life.finished !== undefined || this.#trying.has(parent.strategy)) return;
    const slot = typeof life.state === 'number' ? life.state : 0;
    const due = life.begunAt + slot * work.gapMs;
    const now = clock.wall();
    if (now < due) {
      this.#later(Math.min(due - now, 20_000), () => {
        this.#planOf(parent);
      });
      return;
    }
    const isMissed = now >= due + work.gapMs;
    if (isMissed) world.probe('slot missed');
    const isLast = slot + 1 >= work.slots;
    const intent = {
      leg: '',
      parent: parent.id,
      slice: slot,
      pair: parent.pair,
      side: parent.side,
      by: 'quantity',
      size: text(quantity(String(work.hundredths(parent, slot) / 100))),
      deadline: instant(now + work.windowMs),
      decision_price: String(this.#life.venue.mid(parent.pair)),
    } as const;
    this.#trying.add(parent.strategy);
    const wake: RecordBody = {
      kind: 'wake',
      strategy: parent.strategy,
      hash: 'h',
      on: 'at',
      detail: { due },
      state: slot + 1,
      waits: [],
      intents: isMissed ? [] : [intent],
      missed: isMissed ? [{ leg: '', slice: slot }] : [],
      ...(isLast ? { finished: 'finished' } : {}),
    };
    this.#append([wake], () => {
      this.#trying.delete(parent.strategy);
      if (!isMissed) this.#try(sliceKey(parent.id, slot));
      this.#planOf(parent);
    });
  }

  // —— attempts

  #retry(key: string, ms: number): void {
    this.#later(ms, () => {
      this.#try(key);
    });
  }

  #try(key: string): void {
    const slice = this.state.slices.get(key);
    if (slice === undefined || slice.openAttempt !== undefined || this.#trying.has(key) || !this.#isReady)
      return;
    const { clock, venue } = this.#life;
    const left = leftOf(
      { by: 'quantity', quantity: quantity(slice.intent.size) },
      slice.filled,
      slice.filledAmount,
    );
    if (isNothing(left)) {
      this.#endSlice(slice, 'filled');
      return;
    }
    if (clock.wall() >= slice.intent.deadline) {
      this.#endSlice(slice, slice.filled.gt(0) ? 'filled' : 'expired');
      return;
    }
    if (left.by !== 'quantity') throw new Error('simulation: sizes are quantities');
    const mid = price(String(venue.mid(slice.intent.pair)));
    const refused = this.#refuses(slice, { price: mid, size: left, notional: cost(mid, left.quantity) });
    if (refused !== undefined) {
      this.#stopped(slice, refused.reason);
      return;
    }
    this.#attempt(slice, left, mid);
  }

  #attempt(slice: OpenSlice, size: Size & { by: 'quantity' }, mid: Price): void {
    const { world, clock, oracle } = this.#life;
    const { parent, slice: number, pair, side } = slice.intent;
    const key = sliceKey(parent, number);
    const instrument = INSTRUMENTS[pair as keyof typeof INSTRUMENTS];
    const intent: IntentRecord = {
      kind: 'intent',
      client_order_id: clientId({ desk: DESK, parent, slice: number, attempt: slice.attempts }),
      strategy: slice.strategy,
      parent,
      slice: number,
      attempt: slice.attempts,
      pair,
      base: instrument.base,
      quote: instrument.quote,
      side,
      by: 'quantity',
      size: text(size.quantity),
      worst_price: text(mid.times(side === 'buy' ? '1.01' : '0.99') as Price),
      reference_price: text(mid),
      notional_usd: text(cost(mid.times('1.01') as Price, size.quantity)),
      cuts: [],
    };
    const request: QuoteRequest = { pair, side, size, clientId: intent.client_order_id };
    const attempt: Attempt = { intent, request, slice, breaks: this.#continuity.count, key };
    this.#trying.add(key);
    const askedAt = clock.monotonic();
    let isDurable = false;
    let event: CycleEvent | undefined;
    const joined = (): void => {
      if (!isDurable || event === undefined) return;
      this.#trying.delete(key);
      this.#quoted(attempt, follow({ state: 'quoting' }, event, this.#life.work.trust));
    };
    const answered = (answer: QuoteAnswer): void => {
      if (event !== undefined) return;
      const at = clock.monotonic();
      event = { on: 'quote_answer', meaning: classifyQuote(request, answer, instrument), askedAt, at };
      world.note('quote answered', event.meaning.means);
      joined();
    };
    this.#append([intent], () => {
      isDurable = true;
      joined();
    });
    oracle.quoting(request);
    world.note('quote', intent.client_order_id);
    this.#life.network.quote(
      request,
      keyOf(intent),
      this.#life.arriving((answer: QuoteAnswer, quote) => {
        if (quote !== undefined && answer.kind === 'quote') oracle.told(quote, answer.quote.lifeMs);
        answered(answer);
      }),
    );
    this.#later(QUOTE_TIMEOUT_MS, () => {
      answered({ kind: 'lost', sent: true, why: 'no answer in time' });
    });
  }

  #quoted(attempt: Attempt, phase: Phase): void {
    if (phase.state !== 'quoted') {
      this.#conclude(attempt, phase);
      return;
    }
    this.#life.step('gate');
    const event = this.#gate(attempt, phase) ?? ({ on: 'approved' } as const);
    const next = follow(phase, event, this.#life.work.trust);
    if (next.state === 'ordering') this.#order(attempt, next);
    else this.#conclude(attempt, next);
  }

  /** What is looked at in the tick in which the order leaves. */
  #gate(
    { slice, intent, breaks }: Attempt,
    { quote, life }: Phase & { state: 'quoted' },
  ): CycleEvent | undefined {
    const { clock, world } = this.#life;
    const stop = (reason: Reason): CycleEvent => ({
      on: 'stopped',
      reason,
      detail: '',
      next: { do: 'again' },
    });
    if (clock.monotonic() > lastOrderStart(life, PATIENCE)) {
      world.probe('quote too old at the gate');
      return stop('quote_too_short');
    }
    if (quote.lifeMs > LIFE_MAX_MS) return stop('quote_mismatch');
    if (this.#quoteIds.has(quote.quoteId)) return stop('quote_reused');
    this.#quoteIds.add(quote.quoteId);
    if (this.#continuity.count !== breaks) return stop('discontinuity');
    if (clock.wall() >= slice.intent.deadline) return stop('deadline');
    const left = leftOf(
      { by: 'quantity', quantity: quantity(slice.intent.size) },
      slice.filled,
      slice.filledAmount,
    );
    if (left.by === 'quantity' && left.quantity.lt(intent.size)) return stop('quote_mismatch');
    const size = { by: 'quantity', quantity: quote.quantity } as const;
    const refused = this.#refuses(
      slice,
      { price: quote.price, size, notional: quote.amount },
      intent.client_order_id,
    );
    if (refused === undefined) return undefined;
    world.probe(`gate: ${refused.reason}`);
    return stop(refused.reason);
  }

  #order(attempt: Attempt, phase: Phase & { state: 'ordering' }): void {
    const { world, clock, oracle, network } = this.#life;
    const { intent, request } = attempt;
    const { quote, life } = phase;
    const order: OrderRequest = {
      pair: request.pair,
      side: request.side,
      quoteId: quote.quoteId,
      size: request.size,
      clientId: intent.client_order_id,
    };
    let isNoted = false;
    let next: Phase | undefined;
    const joined = (): void => {
      if (isNoted && next !== undefined) this.#conclude(attempt, next);
    };
    const answered = (answer: OrderAnswer): void => {
      if (next !== undefined) return;
      const meaning = classifyOrder(order, quote, answer);
      world.note('order answered', meaning.means);
      next = follow(phase, { on: 'order_answer', meaning, at: clock.monotonic() }, this.#life.work.trust);
      this.#life.step('answered');
      joined();
    };
    oracle.ordering(order, this.#life.number);
    world.note('order', order.clientId);
    const hasLeft = network.order(order, keyOf(intent), this.#life.arriving(answered));
    if (hasLeft) oracle.left(order.clientId);
    this.#life.step('sent');
    this.#append([quoteRecord(intent, quote, clock.monotonic() - life.receivedAt)], () => {
      isNoted = true;
      joined();
    });
    this.#later(ORDER_TIMEOUT_MS, () => {
      answered({ kind: 'lost', sent: true, why: 'no answer in time' });
    });
  }

  #conclude({ intent, slice }: Attempt, phase: Phase): void {
    switch (phase.state) {
      case 'filled': {
        const fill = fillFromOrder(intent, {
          order: phase.order,
          quote: phase.quote,
          executedAt: this.#life.clock.wall(),
          notional: phase.order.filledAmount,
          source: 'order',
          decisionPrice: slice.intent.decision_price ?? '',
        });
        this.#end({ end: 'filled', intent, fill, differs: phase.differs });
        return;
      }
      case 'doubt':
        this.#end({ end: 'doubt', intent, phase });
        return;
      case 'ended':
        this.#end({ end: 'closed', intent, phase });
        return;
      default:
        throw new Error(`simulation: an attempt stopped while ${phase.state}`);
    }
  }

  // —— ends, one after the other

  #end(end: End): void {
    this.#ends.push(end);
    if (!this.#isEnding) this.#nextEnd();
  }

  #nextEnd(): void {
    const end = this.#ends.shift();
    this.#isEnding = end !== undefined;
    if (end === undefined) return;
    const id = end.intent.client_order_id;
    // Two sources may prove the same end: the first is written.
    if (!this.state.attempts.has(id)) {
      this.#nextEnd();
      return;
    }
    const key = sliceKey(end.intent.parent, end.intent.slice);
    const [bodies, then] = this.#written(end, this.state.slices.get(key), key);
    this.#append(bodies, () => {
      then();
      this.#nextEnd();
    });
  }

  #written(end: End, slice: OpenSlice | undefined, key: string): [readonly RecordBody[], () => void] {
    const { world } = this.#life;
    const { intent } = end;
    const id = intent.client_order_id;
    switch (end.end) {
      case 'doubt': {
        this.#doubts.set(id, end.phase);
        const halt = end.phase.halt ? [halted('the venue refused the token')] : [];
        if (halt.length > 0) world.probe('halted by 401');
        const bodies = [attemptRecord(intent, 'doubt', end.phase.reason, end.phase.detail), ...halt];
        return [bodies, () => { this.#scheduleRead(); }]; // prettier-ignore
      }
      case 'filled': {
        if (this.#doubts.delete(id)) world.probe('doubt ended by a trade');
        const left = slice === undefined ? undefined : leftOf({ by: 'quantity', quantity: quantity(slice.intent.size) }, add(slice.filled, quantity(end.fill.quantity)), add(slice.filledAmount, money(end.fill.amount))); // prettier-ignore
        const isWhole = left !== undefined && isNothing(left);
        const bodies: RecordBody[] = [end.fill, attemptRecord(intent, 'filled')];
        if (end.differs !== undefined)
          bodies.push({ kind: 'control', state: 'paused', by: 'tranche', why: end.differs });
        if (slice !== undefined && isWhole) bodies.push(sliceEnd(slice, 'filled', end.fill));
        return [bodies, () => { this.#retry(key, 1_000); }]; // prettier-ignore
      }
      case 'closed': {
        this.#doubts.delete(id);
        const { result, reason, detail, next } = end.phase;
        if (result !== 'discarded') world.probe(`doubt ended ${result}`);
        const bodies: RecordBody[] = [attemptRecord(intent, result, reason, detail)];
        if (next.do === 'halt') bodies.push(halted(detail));
        return [bodies, () => { this.#after(key, reason, next); }]; // prettier-ignore
      }
    }
  }

  #after(key: string, reason: Reason, next: Next): void {
    const slice = this.state.slices.get(key);
    if (slice === undefined) return;
    if (next.do === 'stop') this.#endSlice(slice, slice.filled.gt(0) ? 'filled' : 'skipped', reason);
    else this.#retry(key, next.do === 'again' ? (next.waitMs ?? 2_000) : 2_000);
  }

  #stopped(slice: OpenSlice, reason: Reason): void {
    const isFinal =
      reason === 'order_notional' || (reason === 'day_notional' && this.state.attempts.size === 0);
    this.#life.world.probe(`refused: ${reason}`);
    this.#after(
      sliceKey(slice.intent.parent, slice.intent.slice),
      reason,
      isFinal ? { do: 'stop' } : { do: 'again', waitMs: 5_000 },
    );
  }

  #endSlice(slice: OpenSlice, result: 'filled' | 'skipped' | 'expired', reason?: Reason): void {
    const key = sliceKey(slice.intent.parent, slice.intent.slice);
    this.#trying.add(key);
    this.#append([sliceEnd(slice, result, undefined, reason)], () => {
      this.#trying.delete(key);
    });
  }

  #refuses(
    slice: OpenSlice,
    figures: { price: Price; size: Size & { by: 'quantity' }; notional: Quote['amount'] },
    except?: string,
  ): Refusal | undefined {
    const { pair, side } = slice.intent;
    const world = this.#world(pair, except);
    const latched = deskRefusal(world);
    if (latched !== undefined) return latched;
    return refusal(
      {
        pair,
        side,
        quantity: figures.size.quantity,
        price: figures.price,
        notional: figures.notional,
        limit: undefined,
        reference: price(String(this.#life.venue.mid(pair))),
        decisionPrice: undefined,
      },
      world,
      this.#life.work.limits,
    );
  }

  #world(pair: string, except?: string): Limited {
    const { disk, clock } = this.#life;
    const { doubts } = this.state;
    const control = disk.isHalting ? 'halted' : (this.#latch ?? this.state.control);
    return {
      control,
      isStopping: false,
      openDoubts: doubts.length,
      pairDoubts: doubts.filter(({ intent }) => intent.pair === pair).length,
      dayNotional: add(this.state.dayNotional(clock.wall()), this.state.openNotional(undefined, except)),
    };
  }

  // —— the account

  #scheduleRead(): void {
    if (this.#isReading) return;
    const { clock } = this.#life;
    const isSoon = !this.#isReady || this.#doubts.size > 0;
    const started = this.#readStartedAt ?? clock.monotonic() - IDLE_POLL_MS;
    const due = Math.max(this.#readFrom, started + (isSoon ? READ_GAP_MS : IDLE_POLL_MS));
    const turn = ++this.#reader;
    this.#later(due - clock.monotonic(), () => {
      if (turn === this.#reader && !this.#isReading) this.#read();
    });
  }

  #read(): void {
    const { clock, oracle, work, network } = this.#life;
    this.#isReading = true;
    const at = clock.wall();
    const startedAt = clock.monotonic();
    const { state } = this;
    let from = Math.min(state.balancesReadAt ?? at - 30 * DAY_MS, at) - OVERLAP_MS;
    for (const { since, quote } of state.attempts.values())
      from = Math.min(
        from,
        (quote?.quoted_at === undefined ? since - DAY_MS : Math.min(since, quote.quoted_at)) - HOUR_MS,
      );
    const rows = new Map<number, Transaction>();
    const page = (offset: number): void => {
      oracle.reading();
      network.page(
        from,
        { offset, limit: work.pageRows },
        this.#life.arriving((told: readonly Transaction[] | undefined) => {
          this.#readFrom = (clock.monotonic() + READ_GAP_MS + 5) as Monotonic;
          if (told === undefined) {
            this.#life.world.probe('read failed');
            this.#isReading = false;
            this.#scheduleRead();
            return;
          }
          for (const row of told) rows.set(row.id, row);
          if (told.length < work.pageRows) this.#digest(startedAt, [...rows.values()], at);
          else {
            this.#life.world.probe('second page');
            this.#later(READ_GAP_MS + 5, () => {
              page(offset + told.length);
            });
          }
        }),
      );
    };
    page(0);
  }

  /** One whole read: fills first, then what it proves absent. */
  #digest(startedAt: Monotonic, rows: readonly Transaction[], at: number): void {
    const { world, work } = this.#life;
    this.#isReading = false;
    this.#readStartedAt = startedAt;
    world.note('account read', rows.length);
    const trades = tradesOf(rows, MARK, (pair) => PAIRS[pair]);
    const { unknown, isBreach } = adoptable(trades, this.state);
    for (const open of this.state.doubts) {
      const { intent } = open;
      const phase = this.#doubts.get(intent.client_order_id);
      if (phase === undefined) continue;
      const judged = judge(intent, phase, { startedAt, rows, trades }, work.trust);
      if (judged.is === 'filled') {
        const fill = fillFromEvidence(open, judged.trade, { now: instant(at), decisionPrice: '' });
        this.#end({ end: 'filled', intent, fill });
      } else if (judged.is === 'closed') this.#end({ end: 'closed', intent, phase: judged.phase });
      else {
        world.probe(`doubt stays open: ${judged.why}`);
        this.#doubts.set(intent.client_order_id, judged.phase);
      }
    }
    if (unknown.length > 0) {
      world.probe(isBreach ? 'adopted against the word of the venue' : 'trade adopted');
      this.#append(
        [...unknown.map((trade) => this.#adopted(trade, at)), halted('trades that nobody knows')],
        () => {
          this.#readOn(at);
        },
      );
    } else this.#readOn(at);
  }

  #readOn(at: number): void {
    this.#scheduleRead();
    if (this.#isReady) return;
    if (this.#isEnding) {
      this.#later(50, () => {
        this.#readOn(at);
      });
      return;
    }
    const { work, clock } = this.#life;
    const told = this.state.balances;
    const bodies: RecordBody[] = [
      {
        kind: 'balances',
        balances:
          told === undefined
            ? BALANCE_TEXTS
            : Object.fromEntries([...told].map(([name, amount]) => [name, text(amount)])),
        newest_id: 0,
        read_at: instant(at),
      },
    ];
    for (const { strategy } of work.parents) {
      if (this.state.lives.has(strategy)) continue;
      bodies.push({
        kind: 'strategy',
        strategy,
        hash: 'h',
        type: 'twap',
        begun_at: clock.wall(),
        document: {},
      });
    }
    this.#append(bodies, () => {
      this.#isReady = true;
      this.#scheduleRead();
      for (const key of this.state.slices.keys()) this.#try(key);
      this.#plan();
    });
  }

  #adopted(trade: TradeEvidence, at: number): FillRecord {
    const id = parseClientId(trade.clientId);
    const known = PAIRS[trade.pair];
    const slice = this.state.slices.get(sliceKey(id?.parent ?? '', id?.slice ?? 0));
    return {
      kind: 'fill',
      client_order_id: trade.clientId,
      order_id: trade.orderId,
      quote_id: '',
      pair: trade.pair,
      base: known?.base ?? '',
      quote: known?.quote ?? '',
      side: trade.side,
      quantity: text(trade.quantity),
      price: text(trade.price ?? price('0')),
      amount: text(trade.amount),
      fees: text(trade.fees),
      executed_at: instant(Math.min(trade.at, at)),
      strategy: slice?.strategy ?? '',
      parent: id?.parent ?? '',
      slice: id?.slice ?? 0,
      attempt: id?.attempt ?? 0,
      notional_usd: text(trade.amount),
      decision_price: '',
      source: 'transactions',
    };
  }

  #later(ms: number, run: () => void): void {
    this.#life.later(ms, run);
  }
}

const keyOf = ({ strategy, slice, attempt }: IntentRecord): string => `${strategy}${slice}.${attempt}`;

const halted = (why: string): RecordBody => ({ kind: 'control', state: 'halted', by: 'tranche', why });

const attemptRecord = (
  intent: IntentRecord,
  result: 'discarded' | 'doubt' | 'rejected' | 'absent' | 'filled',
  reason?: Reason,
  detail = '',
): RecordBody => ({
  kind: 'attempt',
  client_order_id: intent.client_order_id,
  result,
  ...(reason === undefined ? {} : { reason }),
  detail,
});

const quoteRecord = (intent: IntentRecord, quote: Quote, ageMs: number): RecordBody => ({
  kind: 'quote',
  client_order_id: intent.client_order_id,
  quote_id: quote.quoteId,
  quantity: text(quote.quantity),
  price: text(quote.price),
  amount: text(quote.amount),
  life_ms: quote.lifeMs,
  quoted_at: quote.quotedAt,
  age_ms: ageMs,
});

const sliceEnd = (
  slice: OpenSlice,
  result: 'filled' | 'skipped' | 'expired',
  fill?: FillRecord,
  reason?: Reason,
): RecordBody => ({
  kind: 'slice',
  strategy: slice.strategy,
  parent: slice.intent.parent,
  leg: slice.intent.leg,
  slice: slice.intent.slice,
  result,
  ...(reason === undefined ? {} : { reason }),
  filled: text(fill === undefined ? slice.filled : add(slice.filled, quantity(fill.quantity))),
  filled_amount: text(fill === undefined ? slice.filledAmount : add(slice.filledAmount, money(fill.amount))),
});
