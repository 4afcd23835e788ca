import { Approvals, personOf, strategySubject } from '../../core/approvals/requests.ts';
import { corrected } from '../../core/cycle/corrected-fill.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  greatest,
  money,
  negate,
  price,
  quantity,
  subtract,
} from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import type {
  BalancesRecord,
  CorrectionRecord,
  FillRecord,
  IntentRecord,
  RowText,
  SliceRecord,
  StoredRecord,
  StrategyRecord,
  UsedToken,
  WakeRecord,
} from '../../core/record.ts';
import { DAY_MS, instant, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { amountsOf, changesBy, changesOf, outgoing } from '../../core/cycle/balance-changes.ts';
import { noteDebts } from '../account/debts.ts';
import type { FormerDebt } from '../account/debts.ts';
import {
  addTo,
  changeOf,
  counted,
  decided,
  isRealFill,
  missingIn,
  missingOut,
  wholeOf,
  NOTHING_TRADED,
  removed,
  sliceKey,
  tradedBy,
} from './strategy-run.ts';
import type {
  Booked,
  Closed,
  StrategyRun,
  Maximum,
  OpenAttempt,
  OpenSlice,
  SliceProgress,
  Unshown,
} from './strategy-run.ts';
import { deathOf } from './death.ts';
import type { Death } from './death.ts';
import { AccountRows } from './account-rows.ts';
import { People } from '../../core/people.ts';
import { agreedTo, limitsAtReload, limitsAtStart } from '../../core/approvals/limits-in-force.ts';
import type { LimitsInForce } from '../../core/approvals/limits-in-force.ts';
import { withChanges } from '../../core/risk/setting-changes.ts';
import { scopeOf, Totals } from './totals.ts';

export { sliceKey } from './strategy-run.ts';
export type { StrategyRun, OpenAttempt, OpenSlice } from './strategy-run.ts';

const RECENT_MS = 10 * MINUTE_MS;
const DEATHS_KEPT = 100;
const IDS_KEPT = 10_000;
/** Maximum number of fills that the account has not shown, or has not shown completely. */
const UNSHOWN_MAX = 1_000;

/**
 * Everything the engine knows, as a fold of the journal. The same `apply` rebuilds it at start and updates it later, so
 * that memory and journal cannot differ. No field is private (`#`), because a snapshot stores all of them.
 */
export class EngineState {
  readonly lives = new Map<string, StrategyRun>();
  readonly slices = new Map<string, OpenSlice>();
  readonly attempts = new Map<string, OpenAttempt>();
  readonly maximums = new Map<string, Maximum>(); // Largest quotes, by pair.
  /** Fills by client id. Each is booked once, regardless of its source, and corrected when the account shows more. */
  readonly filledIds = new Map<string, Booked>();
  /** The newest fills that no read of the account has shown completely. */
  readonly unshown = new Map<string, Unshown>();
  /** Fills that lack a part of their order. */
  readonly lacking = new Map<string, FillRecord>();
  /** Attempts whose order was sent and did not trade, with the time. A fill that appears later is an incident. */
  readonly closedIds = new Map<string, Closed>();
  /** Client ids older than this have been dropped. Unix ms. */
  rememberedSince = 0;
  control: 'active' | 'paused' | 'reducing' | 'halted' = 'active';
  controlWhy = '';
  controlBy = '';
  controlSince: Instant | undefined;
  controlUntil: Instant | undefined; // When the current pause ends automatically.
  isTransportClosed = false; // The current halt is a kill.
  balances: Map<string, Quantity> | undefined;
  balancesReadAt: Instant | undefined;
  readonly owedSince = new Map<string, Instant>(); // Balances below zero, each with the earliest time at which it may have begun.
  /** The newest debt of each currency, repaid or not. */
  readonly formerDebts = new Map<string, FormerDebt>();
  /** The last recorded balances, and the number of newest `filledIds` booked since. */
  lastBalances: BalancesRecord | undefined;
  bookedSince = 0;
  /** What the journal knows about the rows of the account. */
  readonly rows = new AccountRows();
  fills = 0;
  isUnconfirmed = false; // Whether something was filled since the last closing read.
  /** How far the venue's clock was ahead of ours at the last quote, milliseconds. */
  venueAheadMs = 0;
  lastRecordAt: Instant | undefined;
  /** The latest time of any record. It is later than the time of the last record if the clock went back. */
  newestRecordAt: Instant | undefined;
  /** The last record belongs to a process that stopped cleanly, so nothing was sent after it. */
  isStopped = false;
  startedAt: Instant | undefined;
  /** Number of the record with which the last process began, if this process has read it. */
  startSeq: number | undefined;
  /** The newest processes that died since a person last confirmed that the desk may trade. */
  deaths: readonly Death[] = [];
  runningSince: Instant | undefined;
  failure: string | undefined; // The internal error that ends the current process.
  account: string | undefined;
  limits: LimitsInForce = {};
  settings: ReturnType<typeof withChanges> | undefined; // All settings in force; `undefined`: never recorded.
  readonly approvals = new Approvals();
  reloadedBy: UsedToken | undefined; // The person who requested the reload whose new runs follow its record.
  readonly people = new People(); // Who may sign in.
  readonly totals = new Totals(); // Limits are compared with them.
  recent: FillRecord[] = [];
  /** Trades of slices for which this journal contains no decision, or none yet, because it may be older than the account. */
  readonly strays = new Map<string, SliceProgress>();

  apply({ seq, at, body }: StoredRecord): void {
    const lastAt = this.lastRecordAt;
    this.lastRecordAt = at;
    if (this.newestRecordAt === undefined || at > this.newestRecordAt) this.newestRecordAt = at;
    this.isStopped = body.kind === 'stopped';
    if (body.kind !== 'strategy') this.reloadedBy = undefined;
    switch (body.kind) {
      case 'started':
        this.startedAt ??= at;
        this.startSeq = seq;
        this.approvals.restart();
        this.deaths = [...this.deaths, ...this.#death(lastAt)].slice(-DEATHS_KEPT);
        this.runningSince = at;
        this.failure = undefined;
        this.account = body.account;
        this.limits = limitsAtStart(this.limits, body);
        this.#doubtAll();
        break;
      case 'stopped':
        this.runningSince = undefined;
        if (body.closing_read === true) this.isUnconfirmed = false;
        break;
      case 'process':
        this.failure = body.state === 'failed' ? (body.why ?? 'unknown error') : undefined;
        if (body.state === 'refused') this.runningSince = undefined;
        break;
      case 'strategy':
        this.#begin(body);
        break;
      case 'wake':
        this.#step(body, at);
        this.totals.decide(body);
        break;
      case 'intent':
        this.#intend(body, { seq, at });
        break;
      case 'quote': {
        const open = this.attempts.get(body.client_order_id);
        if (open === undefined) break;
        open.quote = body;
        if (body.quoted_at !== undefined) this.venueAheadMs = body.quoted_at - at;
        this.totals.leave(open.intent, at);
        break;
      }
      case 'attempt': {
        const about = this.attempts.get(body.client_order_id);
        // A fill has already closed it.
        if (about === undefined) break;
        // A doubt is recorded again when its proof progresses.
        if (body.result !== 'doubt' || about.doubt?.proof === undefined)
          this.totals.end(body, about.intent, at);
        this.rows.tie(body.client_order_id, body.order_ids ?? []);
        if (body.result === 'doubt') {
          const { reason, proof } = body;
          const since = about.doubt?.since ?? at;
          about.doubt = { since, reason, ...(proof === undefined ? {} : { proof }) };
        } else {
          const hasLeft = body.result === 'rejected' || body.result === 'absent';
          this.#close(body.client_order_id, hasLeft ? at : undefined);
        }
        break;
      }
      case 'fill':
        if (isRealFill(body)) this.isUnconfirmed = true;
        this.#book(body, at);
        break;
      case 'slice':
        this.#endSlice(body);
        break;
      case 'balances':
        this.#setBalances(body);
        break;
      case 'maximum':
        this.maximums.set(body.pair, {
          usd: money(body.usd),
          quoteUsd: body.quote_usd === undefined ? undefined : price(body.quote_usd),
          at,
          why: body.why ?? 'told',
          isRepeated: body.why === 'raised' || this.maximums.get(body.pair)?.usd.eq(body.usd) === true,
        });
        break;
      case 'correction':
        this.#correct(body);
        break;
      case 'shown':
        // In the order in which the journal stores them, so that reading it back gives the same state.
        for (const id of Object.keys(body.fills).toSorted()) this.#show(id, body.fills[id] ?? []);
        this.rows.see(body.others ?? [], seq);
        break;
      case 'resolved':
        // Other consequences have their own records.
        if (body.verdict === 'not_executed') this.#lackNothing(body.client_order_id);
        this.rows.hear(body);
        break;
      case 'alert':
        break;
      case 'reload':
        this.limits = limitsAtReload(this.limits, body);
        this.approvals.reloaded(body.approvals ?? []);
        this.reloadedBy = personOf(body.token);
        break;
      case 'settings':
        this.settings = withChanges(this.settings, body.changes);
        this.approvals.settingsChanged(body.changes);
        break;
      case 'approval':
        this.approvals.apply(body, at);
        this.people.signed(body);
        break;
      case 'person':
        this.people.apply(body, at);
        if (body.step === 'removed') this.approvals.forgetAgreements(body.person);
        break;
      case 'control':
        this.totals.control(body);
        if (scopeOf(body) !== undefined) break;
        // A halt is latched. A pause that was being recorded when the halt came does not lift it.
        if (this.control === 'halted' && body.state !== 'halted' && body.state !== 'active') break;
        if (this.control === 'halted' && body.state === 'active') this.limits = agreedTo(this.limits);
        this.control = body.state;
        this.controlWhy = body.why;
        this.controlBy = body.by;
        this.controlSince = at;
        this.controlUntil = body.until;
        this.isTransportClosed = body.state === 'halted' && body.transport === 'closed';
        // An automatic resume does not count, because no person has checked.
        if (body.state === 'active' && body.by !== 'tranche') this.deaths = [];
        break;
    }
  }

  /** Index in `filledIds` of the first fill booked after the last balances record. */
  get bookedFrom(): number {
    return Math.max(0, this.filledIds.size - this.bookedSince);
  }

  /** Processes that started since `from` and died. Called before this process has recorded its start. */
  diedSince(from: Instant): readonly Death[] {
    return [...this.deaths, ...this.#death(this.lastRecordAt)].filter(
      ({ startedAt, isSoon, error }) => startedAt >= from && (isSoon || error !== undefined),
    );
  }

  get doubts(): readonly OpenAttempt[] {
    return [...this.attempts.values()].filter((open) => open.doubt !== undefined);
  }

  /** Trades of a slice for which this journal contains no decision, because it was restored from an older copy. */
  stray(parent: string, slice: number): Readonly<SliceProgress> | undefined {
    return this.strays.get(sliceKey(parent, slice));
  }

  /** Fills of the last ten minutes, which a read of the account may not show yet. */
  recentFills(now: Instant): readonly FillRecord[] {
    return this.recent.filter((fill) => fill.executed_at > now - RECENT_MS);
  }

  /** The most that attempts in progress, and fills with a missing part, may take from `currency`. `except`: an attempt not to count. */
  reserved(currency: string, except?: string): Quantity {
    let sum = NO_QUANTITY;
    for (const { intent } of this.attempts.values()) {
      if (intent.client_order_id !== except) sum = add(sum, outgoing(intent, currency));
    }
    for (const fill of this.lacking.values()) {
      if ((fill.side === 'buy' ? fill.quote : fill.base) === currency) sum = add(sum, missingOut(fill));
    }
    return sum;
  }

  /** Balance of `currency` that a new attempt can count on; `undefined` before the first read of the account. */
  available(currency: string, except?: string): Quantity | undefined {
    if (this.balances === undefined) return undefined;
    return subtract(this.balances.get(currency) ?? NO_QUANTITY, this.reserved(currency, except));
  }

  /** Reference price when the slice of an attempt was decided; empty if none was known. */
  decisionPrice({ parent, slice }: Pick<IntentRecord, 'parent' | 'slice'>): string {
    return this.slices.get(sliceKey(parent, slice))?.intent.decision_price ?? '';
  }

  /** Whether the outcome of an attempt is unknown. */
  hasDoubts(): boolean {
    return this.attempts.values().some(({ doubt }) => doubt !== undefined);
  }

  /** Whether an order may be in flight whose response is still awaited. */
  hasFlights(): boolean {
    return this.attempts.values().some(({ doubt }) => doubt === undefined);
  }

  /** Worst case of attempts in progress and of the missing parts of fills, in the currency of the limits. */
  openNotional(pair?: string, except?: string): Money {
    let sum = NO_MONEY;
    for (const { intent } of this.attempts.values()) {
      if (intent.client_order_id === except || (pair !== undefined && intent.pair !== pair)) continue;
      sum = add(sum, money(intent.notional_usd));
    }
    for (const { pair: of, missing } of this.lacking.values())
      if (missing !== undefined && (pair === undefined || pair === of))
        sum = add(sum, money(missing.notional_usd));
    return sum;
  }

  /** The death of the process that wrote the last record, at `lastAt`; none if it stopped cleanly. */
  #death(lastAt: Instant | undefined): readonly Death[] {
    return deathOf(this.runningSince, lastAt, this.failure);
  }

  /** Turns each attempt that a dead process left in progress into a doubt, because the attempt may have traded. */
  #doubtAll(): void {
    for (const open of this.attempts.values()) {
      open.doubt ??= { since: open.since, reason: 'outcome_unknown' };
    }
  }

  #begin(body: StrategyRecord): void {
    const asked = this.approvals.use(strategySubject(body.strategy, body.hash));
    this.lives.set(body.strategy, {
      strategy: body.strategy,
      hash: body.hash,
      type: body.type,
      begunAt: body.begun_at,
      begunBy: personOf(asked?.token) ?? this.reloadedBy,
      document: body.document,
      state: undefined,
      waits: [],
      finished: undefined,
      outcomes: [],
      late: [],
      slicesDone: 0,
      slicesFilled: 0,
      lastReason: undefined,
    });
  }

  #step(body: WakeRecord, at: Instant): void {
    const life = this.lives.get(body.strategy);
    if (life === undefined || life.hash !== body.hash) return;
    life.begunBy = personOf(body.token) ?? life.begunBy;
    life.state = body.state;
    life.waits = body.waits;
    life.finished = body.finished;
    life.lastReason = body.reason;
    life.slicesDone += body.missed.length;
    if (body.on === 'outcome') {
      // Present only if the strategy received a trade that it had not decided.
      const { parent, leg, slice } = body.detail;
      if (typeof parent === 'string' && typeof slice === 'number')
        this.strays.delete(sliceKey(parent, slice));
      const isTold = (one: StrategyRun['late'][number]): boolean => one.leg === leg && one.slice === slice;
      if (!removed(life.outcomes, isTold)) removed(life.late, isTold);
    }
    if (body.intents.length === 0) return;
    for (const intent of body.intents) {
      const key = sliceKey(intent.parent, intent.slice);
      const traded = this.strays.size === 0 ? undefined : this.strays.get(key);
      this.slices.set(key, decided(body, intent, { at, traded: traded ?? NOTHING_TRADED }));
      if (traded !== undefined) this.strays.delete(key);
    }
  }

  #intend(body: IntentRecord, { seq, at }: { readonly seq: number; readonly at: Instant }): void {
    this.attempts.set(body.client_order_id, {
      intent: body,
      seq,
      since: at,
      rowBefore: this.rows.known,
      quote: undefined,
      doubt: undefined,
    });
    const slice = this.slices.get(sliceKey(body.parent, body.slice));
    if (slice === undefined) return;
    slice.attempts = Math.max(slice.attempts, body.attempt + 1);
    slice.openAttempt = body.client_order_id;
  }

  #close(clientId: string, at: Instant | undefined): void {
    const open = this.attempts.get(clientId);
    if (open === undefined) return;
    this.attempts.delete(clientId);
    const slice = this.slices.get(sliceKey(open.intent.parent, open.intent.slice));
    if (at !== undefined) {
      const { strategy, slice: number } = open.intent;
      const life = this.lives.get(strategy);
      this.#remember(this.closedIds, clientId, {
        at,
        strategy,
        slice: number,
        begunAt: life !== undefined && life.hash === slice?.hash ? life.begunAt : undefined,
        leg: slice?.intent.leg,
      });
    }
    if (slice?.openAttempt === clientId) slice.openAttempt = undefined;
  }

  #book(fill: FillRecord, at: Instant): void {
    const open = this.attempts.get(fill.client_order_id);
    const since = open?.since ?? fill.executed_at;
    this.#close(fill.client_order_id, undefined);
    if (this.filledIds.has(fill.client_order_id)) return;
    const key = sliceKey(fill.parent, fill.slice);
    const wanted = this.slices.get(key);
    const life = this.lives.get(fill.strategy);
    this.#remember(this.filledIds, fill.client_order_id, {
      at,
      fill,
      rowBefore: open?.rowBefore ?? '',
      leg: wanted?.intent.leg,
      begunAt: life !== undefined && life.hash === wanted?.hash ? life.begunAt : undefined,
    });
    this.rows.keep(fill);
    if (fill.missing !== undefined) this.#lack(fill);
    // A dry run has no account that could show the fill.
    if (fill.rows === undefined && fill.source !== 'transactions' && fill.source !== 'dry_run') {
      this.unshown.set(fill.client_order_id, { fill, since, lifeMs: open?.quote?.life_ms });
      keepNewest(this.unshown, UNSHOWN_MAX);
    }
    this.bookedSince++;
    this.fills++;
    // By the fill's time, not the caller's, because folding again must give the same state.
    this.recent = [...this.recentFills(fill.executed_at), fill];
    const amounts = amountsOf(fill);
    for (const [currency, change] of changesBy(fill, amounts)) this.#move(currency, change);
    // Balances that were read after the trade have told already what it owes or repays.
    if (fill.executed_at > (this.balancesReadAt ?? 0))
      noteDebts(this, { since: instant(Math.min(at, fill.executed_at)), at, isOwnTrade: true });
    this.totals.book(fill, amounts);
    const slice = this.slices.get(key) ?? this.strays.get(key);
    if (slice === undefined && this.#tellLate(fill)) return;
    if (slice === undefined) {
      this.strays.set(key, tradedBy(fill));
      return;
    }
    slice.attempts = Math.max(slice.attempts, fill.attempt + 1);
    slice.filledOrders++;
    addTo(slice, { filled: amounts.quantity, filledAmount: amounts.amount, ...missingIn(fill) });
  }

  /** The account shows a fill exactly as booked. */
  #show(clientId: string, rows: readonly RowText[]): void {
    this.unshown.delete(clientId);
    const booked = this.filledIds.get(clientId);
    if (booked === undefined) return;
    const fill = { ...booked.fill, rows };
    this.filledIds.set(clientId, { ...booked, fill });
    this.rows.keep(fill);
  }

  #lack(fill: FillRecord): void {
    this.lacking.set(fill.client_order_id, fill);
    keepNewest(this.lacking, UNSHOWN_MAX);
  }

  /** Applies the consequences of corrected figures of a fill. */
  #correct(body: CorrectionRecord): void {
    const booked = this.filledIds.get(body.client_order_id);
    if (booked === undefined) return;
    this.unshown.delete(body.client_order_id);
    const { fill: before } = booked;
    const now = corrected(before, body);
    this.totals.correct(before, now);
    for (const [currency, change] of changesOf(before)) this.#move(currency, negate(change));
    for (const [currency, change] of changesOf(now)) this.#move(currency, change);
    noteDebts(this, { since: now.executed_at, at: now.executed_at, isOwnTrade: true });
    this.rows.keep(now);
    this.#replace(booked, now);
  }

  /** An operator confirms that the missing part of a fill never traded. */
  #lackNothing(clientId: string): void {
    const booked = this.filledIds.get(clientId);
    if (booked?.fill.missing === undefined) return;
    this.#replace(booked, { ...booked.fill, missing: undefined });
  }

  /** Replaces the figures of a fill and of its slice. If the slice has ended, its strategy gets the additional part. */
  #replace(booked: Booked, now: FillRecord): void {
    const { fill: before } = booked;
    const id = now.client_order_id;
    this.filledIds.set(id, { ...booked, fill: now });
    const at = this.recent.findIndex((fill) => fill.client_order_id === id);
    if (at >= 0) this.recent[at] = now;
    if (now.missing === undefined) this.lacking.delete(id);
    else this.#lack(now);
    const more = changeOf(before, now);
    const key = sliceKey(now.parent, now.slice);
    const slice = this.slices.get(key) ?? this.strays.get(key);
    if (slice !== undefined) {
      addTo(slice, more);
      return;
    }
    const life = this.lives.get(now.strategy);
    if (booked.leg === undefined || life === undefined || life.begunAt !== booked.begunAt) return;
    const filled = greatest(add(more.filled, more.missing), NO_QUANTITY);
    const filledAmount = greatest(add(more.filledAmount, more.missingAmount), NO_MONEY);
    // There is nothing to report, because the part was already counted. A reduction needs a person.
    if (filled.isZero() && filledAmount.isZero()) return;
    life.late.push({ leg: booked.leg, slice: now.slice, result: 'filled', filled, filledAmount });
  }

  /** Handles a trade of a slice that ended without it. The strategy that decided the slice must still receive the trade. */
  #tellLate(fill: FillRecord): boolean {
    const closed = this.closedIds.get(fill.client_order_id);
    const life = closed === undefined ? undefined : this.lives.get(closed.strategy);
    // Compared by start time, because the same document may have been restored since, in another run.
    if (closed?.leg === undefined || life === undefined || life.begunAt !== closed.begunAt) return false;
    life.late.push({
      leg: closed.leg,
      slice: closed.slice,
      result: 'filled',
      ...wholeOf(fill),
    });
    return true;
  }

  #move(currency: string, change: Quantity): void {
    this.balances?.set(currency, add(this.balances.get(currency) ?? NO_QUANTITY, change));
  }

  #endSlice(body: SliceRecord): void {
    const key = sliceKey(body.parent, body.slice);
    const slice = this.slices.get(key);
    this.slices.delete(key);
    const life = this.lives.get(body.strategy);
    if (life === undefined || slice === undefined || slice.hash !== life.hash) return;
    life.slicesDone++;
    if (body.result === 'filled') life.slicesFilled++;
    life.outcomes.push({
      leg: body.leg,
      slice: body.slice,
      result: body.result,
      reason: body.reason,
      filled: counted(body.filled, body.missing, quantity),
      filledAmount: counted(body.filled_amount, body.missing_amount, money),
    });
  }

  #setBalances(body: BalancesRecord): void {
    this.balances = new Map(
      Object.entries(body.balances).map(([currency, amount]) => [currency, quantity(amount)]),
    );
    noteDebts(this, {
      since: this.balancesReadAt ?? instant(0),
      at: body.read_at,
      isOwnTrade: false,
    });
    this.balancesReadAt = body.read_at;
    this.lastBalances = body;
    this.bookedSince = 0;
    this.rows.reach(body.newest_id);
  }

  /**
   * Keeps ids for two days, because the venue refuses a repeated client id for one day. Always keeps the newest, so
   * that a clock correction of days does not make the desk forget a recent trade and book it again.
   */
  #remember<T extends { readonly at: Instant }>(where: Map<string, T>, clientId: string, what: T): void {
    where.set(clientId, what);
    const since = what.at - 2 * DAY_MS;
    if (keepNewest(where, IDS_KEPT, ({ at }) => at <= since) > 0) this.rememberedSince = since;
  }
}
