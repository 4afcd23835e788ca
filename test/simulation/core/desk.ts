import { classifyOrder, classifyQuote } from '../../../src/core/cycle/answer.ts';
import type { RiskContext as Limited } from '../../../src/core/risk/limits.ts';
import type { Refusal } from '../../../src/core/risk/refusal.ts';
import { compareFill } from '../../../src/core/account/booked-fill.ts';
import { judge } from '../../../src/core/account/judge.ts';
import { attribute, hasBothLegs, tradeOf } from '../../../src/core/account/rows.ts';
import type { Attributed } from '../../../src/core/account/rows.ts';
import { reaches } from '../../../src/core/account/whole-read.ts';
import { answerWaitMs, lastOrderStart, nextPhase } from '../../../src/core/cycle/cycle.ts';
import type { CycleEvent, Doubt, Next, Phase } from '../../../src/core/cycle/cycle.ts';
import { inherited } from '../../../src/core/cycle/proof.ts';
import { clientId, deskMark, parseClientId } from '../../../src/core/ids.ts';
import { add, cost, money, price, quantity, ratio, scale, text } from '../../../src/core/money.ts';
import type { Price } from '../../../src/core/money.ts';
import { quotedIn } from '../../../src/core/cycle/order-extent.ts';
import type { Reason } from '../../../src/core/reasons.ts';
import type { IntentRecord, RecordBody, RowText, StoredRecord } from '../../../src/core/record.ts';
import type { Strange } from '../../../src/engine/account/read-account.ts';
import { isNothing, leftOf } from '../../../src/core/risk/sizing.ts';
import { instant } from '../../../src/core/time.ts';
import type { OrderAnswer, OrderRequest, QuoteAnswer, QuoteRequest, Size } from '../../../src/core/venue.ts';
import { unknownLifeMs } from '../../../src/core/venue.ts';
import { AccountState } from '../../../src/engine/account/account-state.ts';
import { fillFromEvidence, fillFromOrder } from '../../../src/engine/attempt/booking.ts';
import { Continuity } from '../../../src/engine/time/continuity.ts';
import { EngineState, sliceKey } from '../../../src/engine/state/engine-state.ts';
import type { OpenSlice } from '../../../src/engine/state/engine-state.ts';
import { leftOfSlice } from '../../../src/engine/stages/size.ts';
import { beginnings, wakeOf } from './beginnings.ts';
import type { Life } from './life.ts';
import { refuses, worldOf } from './limits.ts';
import type { Figures } from './limits.ts';
import {
  BOOKING_MARGIN_MS,
  LIFE_MAX_MS,
  ORDER_MARGIN_MS,
  ORDER_TIMEOUT_MS,
  QUOTE_TIMEOUT_MS,
} from './plan.ts';
import type { Parent } from './plan.ts';
import { AccountReader } from './reader.ts';
import type { Read } from './reader.ts';
import {
  INSTRUMENTS,
  PAIRS,
  adopted,
  attemptRecord,
  halted,
  keyOf,
  quoteRecord,
  sliceEnd,
} from './records.ts';
import type { Attempt, End } from './records.ts';

export const DESK = 'sim';
const MARK = deskMark(DESK);
const DEARER = ratio('1.01');
const CHEAPER = ratio('0.99');
/** Starts that end badly within ten minutes, after which the desk starts halted. */
const DEATHS_MAX = 5;

/**
 * One process of the desk. Every decision is the product's own function; what is written here is only what carries them
 * out: timers, the order of effects, a queue of ends.
 */
export class DeskProcess {
  readonly state = new EngineState();
  readonly #life: Life;
  readonly #doubts = new Map<string, Doubt>();
  readonly #continuity: Continuity;
  readonly #quoteIds = new Set<string>();
  readonly #trying = new Set<string>();
  readonly #ends: End[] = [];
  #isEnding = false;
  /** Appends that are not durable yet. */
  #appending = 0;
  #isReady = false;
  /** The account shows a part of a fill. */
  #isBooking = false;
  /** The ends of quotes. */
  readonly #account: AccountState;
  #latch: 'paused' | 'halted' | undefined;
  readonly #reader: AccountReader;

  constructor(life: Life) {
    this.#life = life;
    const { clock } = life;
    this.#account = new AccountState(clock, { bookingMarginMs: BOOKING_MARGIN_MS, lifeMaxMs: LIFE_MAX_MS });
    this.#continuity = new Continuity(clock, { everyMs: 5_000, divergenceMs: 2_000, lateMs: 2_000 }, () => {
      life.world.probe('time was not continuous');
    });
    const isUrgent = (): boolean => !this.#isReady || this.#doubts.size > 0 || this.#isBooking;
    this.#reader = new AccountReader(life, this.state, isUrgent, (read) => {
      this.#digest(read);
    });
  }

  /** Whether a process of this desk may trade. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Start-up is recovery. */
  boot(): void {
    const { clock, disk, world } = this.#life;
    for (const stored of disk.durable) this.state.apply(stored);
    const deaths = this.state.diedSince(instant(clock.wall() - 600_000)).length;
    const bodies: RecordBody[] = [
      { kind: 'started', version: '0', mode: 'simulation', desk: DESK, config_hash: 'c', account: 'a' },
    ];
    for (const { intent, doubt, quote } of this.state.attempts.values()) {
      const phase = inherited({
        startedAt: clock.monotonic(),
        lifeMs: quote?.life_ms ?? unknownLifeMs(LIFE_MAX_MS),
        bookingMarginMs: BOOKING_MARGIN_MS,
        isTraded: doubt?.reason === 'certainly_traded',
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
      this.#reader.schedule();
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
    const { work } = this.#life;
    const isBusy = this.#isEnding || this.#appending > 0;
    if (!this.#isReady || this.state.attempts.size > 0 || this.state.slices.size > 0 || isBusy) return false;
    for (const { strategy } of work.parents)
      if (this.state.lives.get(strategy)?.finished === undefined) return false;
    return this.#reader.begunAt > since;
  }

  // —— the journal

  #append(bodies: readonly RecordBody[], done: () => void): void {
    const { disk, clock } = this.#life;
    this.#life.step('append');
    this.#appending++;
    disk.append({
      bodies,
      wall: clock.wall(),
      done: this.#life.bound((stored: readonly StoredRecord[]) => {
        this.#appending--;
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
    this.#trying.add(parent.strategy);
    this.#append([wakeOf(this.#life, parent, { slot, due, isMissed })], () => {
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
    const left = leftOfSlice(slice);
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
      worst_price: text(scale(mid, side === 'buy' ? DEARER : CHEAPER)),
      reference_price: text(mid),
      notional_usd: text(cost(scale(mid, DEARER), size.quantity)),
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
      this.#quoted(attempt, nextPhase({ state: 'quoting' }, event, BOOKING_MARGIN_MS));
    };
    const answered = (answer: QuoteAnswer): void => {
      if (event !== undefined) return;
      const at = clock.monotonic();
      // Only a mutant that judges expiry by the wall clock looks at it.
      Object.assign(globalThis, { simulatedWall: clock.wall() });
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
    const next = nextPhase(phase, event, BOOKING_MARGIN_MS);
    if (next.state === 'ordering') this.#order(attempt, next);
    else this.#conclude(attempt, next);
  }

  /** What is looked at in the tick in which the order leaves. */
  #gate(
    { slice, intent, breaks }: Attempt,
    { quote, quoteLife }: Phase & { state: 'quoted' },
  ): CycleEvent | undefined {
    const { clock, world } = this.#life;
    const stop = (reason: Reason): CycleEvent => ({
      on: 'stopped',
      reason,
      detail: '',
      next: { do: 'again' },
    });
    if (clock.monotonic() > lastOrderStart(quoteLife, ORDER_MARGIN_MS)) {
      world.probe('quote too old at the gate');
      return stop('quote_too_short');
    }
    if (quote.lifeMs > LIFE_MAX_MS) return stop('quote_invalid');
    if (this.#quoteIds.has(quote.quoteId)) return stop('quote_reused');
    this.#quoteIds.add(quote.quoteId);
    if (this.#continuity.count !== breaks) return stop('discontinuity');
    if (clock.wall() >= slice.intent.deadline) return stop('deadline');
    const left = leftOfSlice(slice);
    if (left.by === 'quantity' && left.quantity.lt(intent.size)) return stop('quote_invalid');
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

  /** The order, and what follows from its answer. */
  #order(attempt: Attempt, phase: Phase & { state: 'ordering' }): void {
    const { world, clock, oracle, network } = this.#life;
    const { intent, request } = attempt;
    const { quote, quoteLife } = phase;
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
      if (answer.kind === 'error' && answer.status === 401) oracle.unauthorised(this.#life.number);
      next = nextPhase(phase, { on: 'order_answer', meaning, at: clock.monotonic() }, BOOKING_MARGIN_MS);
      this.#life.step('answered');
      joined();
    };
    oracle.ordering(order, this.#life.number);
    world.note('order', order.clientId);
    this.#account.leaves(order.clientId, quoteLife.upper);
    if (network.order(order, keyOf(intent), this.#life.arriving(answered))) oracle.left(order.clientId);
    this.#life.step('sent');
    this.#append([quoteRecord(intent, quote, clock.monotonic() - quoteLife.receivedAt)], () => {
      isNoted = true;
      joined();
    });
    const sentAt = clock.monotonic();
    this.#later(
      answerWaitMs(quoteLife, {
        sentAt,
        orderTimeoutMs: ORDER_TIMEOUT_MS,
        bookingMarginMs: BOOKING_MARGIN_MS,
      }),
      () => {
        answered({ kind: 'lost', sent: true, why: 'no answer in time' });
      },
    );
  }

  #conclude({ intent, slice }: Attempt, phase: Phase): void {
    switch (phase.state) {
      case 'filled': {
        const fill = fillFromOrder(intent, {
          order: phase.order,
          quote: phase.quote,
          executedAt: this.#life.days.now(),
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
        return [bodies, () => { this.#reader.schedule(); }]; // prettier-ignore
      }
      case 'filled': {
        if (this.#doubts.delete(id)) world.probe('doubt ended by a trade');
        const left = slice === undefined ? undefined : leftOf({ by: 'quantity', quantity: quantity(slice.intent.size) }, add(slice.filled, quantity(end.fill.quantity)), add(slice.filledAmount, money(end.fill.amount))); // prettier-ignore
        const isWhole = left !== undefined && isNothing(left);
        const bodies: RecordBody[] = [end.fill, attemptRecord(intent, 'filled')];
        if (end.isMore === true) bodies.unshift(halted('more than the order was executed'));
        else if (end.differs !== undefined)
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
    const isFinal = reason === 'order_size' || (reason === 'day_limit' && this.state.attempts.size === 0);
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

  #refuses(slice: OpenSlice, figures: Figures, except?: string): Refusal | undefined {
    return refuses(this.#life, this.#world(slice.intent.pair, except), slice, figures);
  }

  #world(pair: string, except?: string): Limited {
    return worldOf(this.#life, this.state, this.#latch, { pair, except });
  }

  // —— the account

  /** One whole read: fills first, then what it proves absent. */
  #digest(read: Read): void {
    const { state } = this;
    this.#life.world.note('account read', read.rows.length);
    const attributed = attribute(read.rows, { mark: MARK, known: state.rows, open: state.attempts.keys() });
    const strange = this.#strangeOf(attributed);
    const corrections = this.#compared(read, attributed);
    const fresh = [...attributed.unattributed, ...attributed.others].filter(
      (row) => state.rows.seenAt(row) === undefined,
    );
    const others = fresh.map(({ id, currency, amount }) => ({ id, currency, amount: text(amount) }));
    if (fresh.length > 0) corrections.push({ kind: 'shown', fills: {}, others });
    // What the account shows of what is booked counts before anything else is made of the read.
    if (corrections.length > 0) {
      this.#append(corrections, () => {
        this.#resolve(read, attributed, strange);
      });
    } else this.#resolve(read, attributed, strange);
  }

  /** What a read says of fills that are booked. */
  #compared({ startedAt, from }: Read, { ours }: Attributed): RecordBody[] {
    const { world } = this.#life;
    const bodies: RecordBody[] = [];
    const shown: Record<string, readonly RowText[]> = {};
    this.#isBooking = false;
    for (const [id, rows] of ours) {
      const fill = this.state.filledIds.get(id)?.fill;
      if (fill === undefined) continue;
      const found = compareFill({
        fill,
        trade: tradeOf(fill, rows),
        covers: ({ id: row }) => reaches({ from }, { id: row, at: fill.executed_at }),
        isDue: startedAt >= this.#account.bookingEnds(id, undefined),
        precisions: { basePrecision: 2, quotePrecision: 2 },
      });
      if (found.is === 'shown') shown[id] = found.rows;
      if (found.is === 'unclear') this.#reader.rereadFrom = fill.executed_at - 3_600_000;
      if (found.is === 'booking') {
        world.probe('fill still being booked');
        this.#isBooking = true;
        if (found.isMore) bodies.unshift(halted('executed twice'));
      }
      if (found.is !== 'differs') continue;
      world.probe('fill corrected');
      bodies.push(found.correction);
      if (found.isMore || (found.by === 'grave' && fill.rows === undefined))
        bodies.unshift(halted('another trade'));
    }
    if (Object.keys(shown).length > 0) bodies.push({ kind: 'shown', fills: shown });
    return bodies;
  }

  /** Trades with ids of this desk that its journal does not know. */
  #strangeOf({ ours }: Attributed): readonly Strange[] {
    return [...ours].flatMap(([id, rows]): readonly Strange[] => {
      if (this.state.attempts.has(id) || this.state.filledIds.has(id)) return [];
      const pair = Object.values(PAIRS).find(({ base }) => rows.some(({ currency }) => currency === base));
      const { base = '', quote = 'usd' } = pair ?? {};
      return [{ trade: tradeOf({ client_order_id: id, base, quote }, rows), pair }];
    });
  }

  #resolve({ startedAt, wall: at }: Read, attributed: Attributed, strange: readonly Strange[]): void {
    const { world, days } = this.#life;
    const unknown = strange.filter(({ trade }) => hasBothLegs(trade));
    const waiting = strange.filter(({ trade }) => !hasBothLegs(trade));
    const isBreach = strange.some(({ trade }) => this.state.closedIds.has(trade.clientId));
    for (const open of this.state.doubts) {
      const { intent } = open;
      const phase = this.#doubts.get(intent.client_order_id);
      if (phase === undefined) continue;
      const asked = {
        intent,
        intentSeq: open.seq,
        quoted: quotedIn(open.quote),
        precisions: { basePrecision: 2, quotePrecision: 2 },
      };
      const judged = judge(asked, phase, { startedAt, ...attributed }, this.state.rows);
      if (judged.is === 'filled') {
        const { trade, missing, differs, isMore } = judged;
        const fill = fillFromEvidence(open, trade, { now: days.now(), decisionPrice: '', missing });
        this.#end({ end: 'filled', intent, fill, differs, isMore });
      } else if (judged.is === 'closed') this.#end({ end: 'closed', intent, phase: judged.phase });
      else {
        world.probe(`doubt stays open: ${judged.why}`);
        this.#doubts.set(intent.client_order_id, judged.phase);
      }
    }
    if (unknown.length + waiting.length > 0) {
      world.probe(isBreach ? 'adopted against the word of the venue' : 'trade adopted');
      if (waiting.length > 0) world.probe('one leg of a trade that nobody knows');
      const fills = unknown.map((one) => adopted(one, this.#sliceOf(one), days.now()));
      this.#append([halted('trades that nobody knows'), ...fills], () => {
        this.#readOn(at);
      });
    } else this.#readOn(at);
  }

  #readOn(at: number): void {
    this.#reader.readOn();
    this.#begin(at);
  }

  /** After the first read the desk may trade. */
  #begin(at: number): void {
    if (this.#isReady) return;
    if (this.#isEnding) {
      this.#later(50, () => {
        this.#begin(at);
      });
      return;
    }
    this.#append(beginnings(this.#life, this.state, at), () => {
      this.#isReady = true;
      this.#reader.schedule();
      for (const key of this.state.slices.keys()) this.#try(key);
      this.#plan();
    });
  }

  #sliceOf({ trade: { clientId: id } }: Strange): OpenSlice | undefined {
    const name = parseClientId(id);
    return this.state.slices.get(sliceKey(name?.parent ?? '', name?.slice ?? 0));
  }

  #later(ms: number, run: () => void): void {
    this.#life.later(ms, run);
  }
}
