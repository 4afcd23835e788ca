import { AsyncSubject, Subject, defer, map, share, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { IdMap } from '../core/id-map.ts';
import { NO_BOOKS } from '../core/cycle/account-audit.ts';
import type { Books } from '../core/cycle/account-audit.ts';
import type { Doubt } from '../core/cycle/doubts.ts';
import { deskMark } from '../core/ids.ts';
import { precisionsOf } from '../core/instrument.ts';
import type { Instrument } from '../core/instrument.ts';
import { NO_QUANTITY, quantity, subtract } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { splitPair } from '../core/pairs.ts';
import type { Pair, PairProblem } from '../core/pairs.ts';
import { NO_LEDGER } from '../core/cycle/reconcile.ts';
import type { Ledger } from '../core/cycle/reconcile.ts';
import type { ControlRecord, FillRecord, IntentRecord, RecordBody, StoredRecord } from '../core/record.ts';
import { after, instant } from '../core/time.ts';
import type { BootTime, Instant, Monotonic } from '../core/time.ts';
import type { Currency } from '../core/venue.ts';
import { halt } from './account/watch-account.ts';
import { Footprint, NO_FOOTPRINT } from './market/footprint.ts';
import { SizeProbes } from './market/size-probing.ts';
import { clockWentBack } from './time/clock-back.ts';
import type { ClockBack } from './time/clock-back.ts';
import { Continuity } from './time/continuity.ts';
import { DayClock } from './time/limit-day.ts';
import { DeskState, isRealFill, sliceKey } from './state/desk-state.ts';
import type { StrategyRun } from './state/desk-state.ts';
import { SnapshotWriter } from './state/snapshot-writer.ts';
import { KillSwitch } from './operator/kill-switch.ts';
import { isAsync, toObservable } from './maybe-async.ts';
import type { MaybeAsync } from './maybe-async.ts';
import type { Observer } from './observer.ts';
import { RateLimiter } from './rate-limit/rate-limiter.ts';
import { planOf } from './state/strategy-plan.ts';
import type { Plan } from './state/strategy-plan.ts';
import type { Policy } from './policy.ts';
import type { Ports } from './ports.ts';
import { PriceTrials } from './attempt/price-trials.ts';
import { PtsWatch } from './market/pts-watch.ts';
import { QuoteIds } from './attempt/quote-ids.ts';
import { Rates } from './market/conversion-rates.ts';
import { References } from './market/reference-prices.ts';
import type { ShortQuotes } from './attempt/short-quotes.ts';
import type { StrategySource } from './state/strategy-source.ts';
import type { Transfer } from './account/transfers.ts';
import { SpinGuard } from './operator/spin-guard.ts';

export type { StrategySource } from './state/strategy-source.ts';

/** Fills of this process of which the time is known. */
const BOOKED_MAX = 1_000;

const FINEST = { basePrecision: 8, quotePrecision: 8 };

/** One account, assembled: what every stage of the pipeline works on. */
export class Desk {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly observer: Observer;
  readonly state = new DeskState();
  readonly snapshotWriter = new SnapshotWriter(this);
  /** The halt, as the gate reads it. */
  readonly killSwitch: KillSwitch;
  readonly rateLimiter: RateLimiter;
  readonly continuity: Continuity;
  readonly references: References;
  readonly rates: Rates;
  readonly footprint: Footprint;
  readonly sizeProbes = new SizeProbes();
  readonly pts: PtsWatch;
  readonly spins: SpinGuard;
  /** Those that are run now. */
  strategies: ReadonlyMap<string, StrategySource>;
  /** Strategies that changed since the pipeline looked last. */
  #changed: readonly string[] = [];
  /** What a reload that nobody asked for said last. */
  lastReloadReport = '';
  readonly mark: string;
  /** Attempts in doubt, with what it takes to prove each. Rebuilt at start. */
  readonly doubts = new IdMap<Doubt>();
  /** Attempts whose end is being written. */
  readonly closing = new IdMap<true>();
  /** Fires after records were applied: balances, fills, doubts or the control state may have changed. */
  readonly changed$ = new Subject<void>();
  /** Breaks of time so far, after each change. Looked at once, however many strategies wait for an instant. Left out: there are none. */
  readonly breaks$: Observable<number> | undefined;
  /** Quote ids of this process: the venue must not repeat one. */
  readonly quoteIds = new QuoteIds();
  /** Failures in a row to get a quote, by pair. */
  readonly failures = new Map<
    string,
    { readonly count: number; readonly since: Monotonic; readonly last: Monotonic }
  >();
  /** Quotes in a row whose life was too short for an order, by pair. */
  readonly shortQuotes = new Map<string, ShortQuotes>();
  /** How far the wall clock went back, as long as that matters. */
  clockBack: ClockBack | undefined;
  /** When parents that are paused because prices disagreed may ask for another quote. */
  readonly priceTrials = new PriceTrials();
  /** Since when the requests of earlier processes are known, where they are. */
  requestsKnownSince: BootTime | undefined;
  /** When an earlier process wrote last: until then it told of its doubts by itself. */
  inheritedAt: Instant | undefined;
  /** Fills that the account did not show in time, and that the operator was told of. */
  readonly unbooked = new Set<string>();
  /** What earlier reads of the account showed. */
  books: Books = NO_BOOKS;
  /** Balances that added up, against which the next read is held. */
  ledger: Ledger = NO_LEDGER;
  /** Rows that could be an order in doubt and were told of. */
  readonly ambiguousTrades = new Set<string>();
  /** Attempts that the gate let through, until they end: the record of their order may still be under way. */
  readonly leaving = new IdMap<IntentRecord>();
  /** The time by which days of limits are counted. */
  readonly limitDay: DayClock;
  /** Proposals of this process: when each of them is over, and with whose token it came. */
  overridesAsked = 0;
  readonly proposals = new Map<string, { readonly until: Monotonic; readonly token: string | undefined }>();
  isStopping = false;
  /** Records of what the account showed that are on their way to the journal. */
  #takingIn = 0;
  readonly #startedAt: Instant;
  /** The same on the clock that nobody sets. */
  readonly #takenOverAt: Monotonic;
  /** When this process booked the newest fills, by client id. */
  readonly #bookedAt = new Map<string, Monotonic>();
  /** When this process last heard that a limit may let pass what it refused. */
  #freedAt: Instant | undefined;
  /** Fills of which the last read of the account showed a part, with what it showed. */
  booking: ReadonlyMap<string, string> = new Map();
  /** What was told of orders that the venue executed twice. */
  readonly twice = new Set<string>();
  /** By row without an id: the attempts that were open when a read first showed it. */
  openAtFirst: ReadonlyMap<number, ReadonlySet<string>> = new Map();
  /** The feed told that the account may have changed since its last read began. Never more than that. */
  isHinted = false;
  /** The venue's stamp of the newest row that this process has read. */
  newestRowAt: Instant | undefined;
  /** The last read of the account showed everything after this, in the venue's time. */
  readFrom: Instant | undefined;
  /** The last read of the account that could be believed began then, and all that it showed was taken in. */
  readUntil: Instant | undefined;
  /** When the account was last read whole by this process. */
  lastReadAt: Monotonic | undefined;
  valuation: { readonly usd: Money; readonly at: Instant; readonly readAt: Monotonic } | undefined;
  /** Deposits and withdrawals that reads of this process showed, by row, of the last hours. */
  readonly transfers = new Map<number, Transfer>();
  /** When the last read began that came whole and without a hole. */
  wholeReadAt: Monotonic | undefined;
  /** Why the last read of the account confirms nothing; `undefined` when it was whole. */
  readFault: string | undefined;
  /** When the newest fill was booked that no closing read of an earlier process covers. */
  lastFillAt: Monotonic | undefined;
  /** Nothing is under way any more; the desk waits for the closing read. */
  isClosing = false;
  readonly #plans = new Map<string, { readonly life: StrategyRun; readonly plan: Plan | undefined }>();
  #currencies = new Map<string, Currency>();
  #pairs: ReadonlyMap<string, Pair> | undefined;
  /** Pairs that were taken apart: every row of every read of the account asks. */
  readonly #split = new Map<string, Pair>();
  readonly #instruments = new Map<string, Instrument>();

  constructor(ports: Ports, policy: Policy, observer: Observer, strategies: readonly StrategySource[]) {
    this.ports = ports;
    this.#startedAt = ports.clock.wall();
    this.#takenOverAt = ports.clock.monotonic();
    this.policy = policy;
    this.observer = observer;
    this.strategies = new Map(strategies.map((one) => [one.id, one]));
    this.mark = deskMark(policy.desk);
    this.killSwitch = new KillSwitch(ports.halt);
    this.killSwitch.onSet(({ level, by, why }) => {
      if (level === 'kill') ports.venue.shut?.();
      observer.alert(level === 'kill' ? 'killed' : 'halted', { by, why });
      const { fault } = this.killSwitch;
      if (fault !== undefined) observer.alert('halt_not_noted', { error: fault });
    });
    this.limitDay = new DayClock(ports.clock, () => ports.venue.skewMs?.());
    this.rateLimiter = new RateLimiter(ports.clock, policy.pace, ports.requestLog);
    this.continuity = new Continuity(ports.clock, policy.continuity, ({ wallMs, lateMs }) => {
      observer.alert('discontinuity', { wall_ms: wallMs, late_ms: lateMs });
      if (wallMs < -policy.continuity.divergenceMs) clockWentBack(this, -wallMs);
    });
    // Nobody sets a clock that is not looked at.
    this.breaks$ = Number.isFinite(policy.continuity.everyMs)
      ? this.changed$.pipe(
          map(() => this.continuity.count),
          share(),
        )
      : undefined;
    this.spins = new SpinGuard(ports.clock);
    this.footprint = new Footprint(ports.clock, policy.footprint ?? NO_FOOTPRINT, observer);
    this.references = new References({
      ports,
      policy,
      rateLimiter: this.rateLimiter,
      observer,
      footprint: this.footprint,
      instrument: (pair) => this.instrument(pair),
      convert: (currency, amount, into) => this.convert(currency, amount, into),
      isHalted: () => this.control === 'halted',
      halt: (why) => halt(this, why),
    });
    this.pts = new PtsWatch(ports, policy, this.rateLimiter, observer);
    this.rates = new Rates(this);
  }

  /**
   * Makes records durable, then part of the state, then known; answers what was stored. Whoever asked may be gone by then, as when
   * the desk is told to stop: what lies in the journal becomes part of the state all the same.
   */
  write(bodies: readonly RecordBody[]): MaybeAsync<readonly StoredRecord[]> {
    const { clock, journal } = this.ports;
    const began = clock.monotonic();
    for (const body of bodies) {
      this.#setKillSwitch(body);
      if (isShownByAccount(body)) this.#takingIn++;
    }
    const stored = journal.append(bodies, instant(Math.floor(clock.wall())));
    if (!isAsync(stored)) {
      this.#take(stored, began);
      return stored;
    }
    // Subscribed to by the desk itself: nothing calls back what is on its way to the journal.
    const written$ = new AsyncSubject<readonly StoredRecord[]>();
    stored
      .pipe(
        tap((records) => {
          this.#take(records, began);
        }),
      )
      .subscribe(written$);
    return written$;
  }

  /** The same as a cold Observable. */
  append(bodies: readonly RecordBody[]): Observable<readonly StoredRecord[]> {
    return defer(() => toObservable(this.write(bodies)));
  }

  #take(stored: readonly StoredRecord[], began: Monotonic): void {
    this.observer.committed(this.ports.clock.monotonic() - began);
    this.absorb(stored);
  }

  /** A halt holds before it is written: the disk may be what is wrong. */
  #setKillSwitch(body: RecordBody): void {
    if (body.kind !== 'control' || body.state !== 'halted') return;
    const { by, why } = body;
    this.killSwitch.set({ level: body.transport === 'closed' ? 'kill' : 'halt', by, why });
  }

  /** What holds now: a halt that the journal does not know yet counts. */
  get control(): ControlRecord['state'] {
    return this.killSwitch.isSet ? 'halted' : this.state.control;
  }

  /** Why it holds, in words. */
  get controlWhy(): string {
    return this.killSwitch.halt?.why ?? this.state.controlWhy;
  }

  /** Whether limits may be others than at `at`: this process began after it, maybe with another config, or a person has lifted one. */
  isFreerSince(at: Instant): boolean {
    return this.#startedAt > at || (this.#freedAt !== undefined && this.#freedAt >= at);
  }

  /** Applies records that are durable already. */
  absorb(stored: Iterable<StoredRecord>): void {
    for (const record of stored) {
      this.state.apply(record);
      if (isShownByAccount(record.body)) this.#takingIn--;
      if (isFreeing(record.body)) this.#freedAt = this.ports.clock.wall();
      if (record.body.kind === 'fill') this.#booked(record.body);
      // Before anybody else hears of it: a state that holds more than its number says would be folded twice.
      this.snapshotWriter.saw(record);
      this.observer.record(record);
    }
    this.snapshotWriter.mayKeep();
    this.changed$.next();
  }

  #booked(fill: FillRecord): void {
    const now = this.ports.clock.monotonic();
    if (isRealFill(fill)) this.lastFillAt = now;
    this.#bookedAt.set(fill.client_order_id, now);
    // The oldest come first. The margin of so many fills ago is over.
    if (this.#bookedAt.size > BOOKED_MAX) this.#bookedAt.delete(this.#bookedAt.keys().next().value ?? '');
  }

  /**
   * Whether a trade that the account showed, or what it corrected, is not durable yet. No strategy takes a step meanwhile: it would
   * size as if it knew nothing of it.
   */
  get isTakingIn(): boolean {
    return this.#takingIn > 0;
  }

  /**
   * When the venue must have booked all of a fill: what a read shows that begins before may still be a part of it. Of a fill that an
   * earlier process booked this clock knows only that it is older than this process.
   */
  bookingEnds(clientId: string): Monotonic {
    return after(this.#bookedAt.get(clientId) ?? this.#takenOverAt, this.policy.inDoubt.bookingMarginMs);
  }

  /** Runs these strategies from now on, and no others. What they wait for is armed by `rearm`, once it is durable. */
  run(sources: readonly StrategySource[]): void {
    this.strategies = new Map(sources.map((one) => [one.id, one]));
  }

  rearm(strategies: readonly string[]): void {
    this.#changed = [...this.#changed, ...strategies];
    this.changed$.next();
  }

  /** Strategies to arm anew, each told once. */
  takeChanged(): readonly string[] {
    const changed = this.#changed;
    if (changed.length > 0) this.#changed = [];
    return changed;
  }

  /** Whether the strategy of a slice is run as it was when it was decided. */
  isRun({ strategy, hash }: { readonly strategy: string; readonly hash: string }): boolean {
    return this.strategies.get(strategy)?.hash === hash;
  }

  /** What the account can access: told once at start. */
  learn(currencies: readonly Currency[], pairs: readonly Pair[] | undefined): void {
    this.#currencies = new Map(currencies.map((one) => [one.symbol, one]));
    this.#pairs = pairs === undefined ? undefined : new Map(pairs.map((one) => [one.pair, one]));
    this.#split.clear();
    this.#instruments.clear();
    this.rates.forget();
  }

  /** Whether the venue told which pairs there are. */
  get isListed(): boolean {
    return this.#pairs !== undefined;
  }

  pair(pair: string): Pair | PairProblem {
    const listed = this.#pairs?.get(pair);
    if (listed !== undefined) return listed;
    if (this.#pairs !== undefined)
      return { problem: 'unknown_pair', pair, why: `the venue does not list "${pair}"` };
    const known = this.#split.get(pair) ?? splitPair(pair, this.#currencies.keys());
    // Only what the account can access is kept: names that the venue makes up cannot fill the memory.
    if (!('problem' in known)) this.#split.set(pair, known);
    return known;
  }

  /** @throws RangeError for a pair that cannot be taken apart: strategies are checked against the venue at start. */
  instrument(pair: string): Instrument {
    return this.#instruments.get(pair) ?? this.#newInstrument(pair);
  }

  #newInstrument(pair: string): Instrument {
    const known = this.pair(pair);
    if ('problem' in known) throw new RangeError(known.why);
    const precision = (currency: string): number => this.#currencies.get(currency)?.precision ?? 8;
    const minimum = this.policy.minimumOf(pair);
    const instrument: Instrument = { ...known, ...precisionsOf(known, precision, minimum), minimum };
    // As few as pairs that can be taken apart, and as long as what the account can access stays the same.
    this.#instruments.set(pair, instrument);
    return instrument;
  }

  /**
   * Decimals of what trades of a pair are booked in. Of one that the account cannot access (any more, or before the venue could be
   * asked) it takes the finest: what was traded of it must be booked and held against its caps all the same.
   */
  precisions(pair: string): Pick<Instrument, 'basePrecision' | 'quotePrecision'> {
    return 'problem' in this.pair(pair) ? FINEST : this.instrument(pair);
  }

  /** The smallest amount of a currency, a hundredth at the most. */
  unit(currency: string): Quantity {
    return quantity(`1e-${Math.max(2, this.#currencies.get(currency)?.precision ?? 8)}`);
  }

  /** `amount` of `currency` in another currency; `undefined` while no rate is known. */
  convert(currency: string, amount: Quantity, into: string): Money | undefined {
    return this.rates.convert(currency, amount, into);
  }

  /** Balance that a new attempt can count on. */
  available(currency: string, except?: string): Quantity | undefined {
    if (this.state.balances === undefined) return undefined;
    return subtract(this.state.balances.get(currency) ?? NO_QUANTITY, this.state.reserved(currency, except));
  }

  /** Reference price when the slice of an attempt was decided; empty when none was known. */
  decisionPrice({ parent, slice }: Pick<IntentRecord, 'parent' | 'slice'>): string {
    return this.state.slices.get(sliceKey(parent, slice))?.intent.decision_price ?? '';
  }

  /** Whether the outcome of an attempt is unknown. */
  hasDoubts(): boolean {
    for (const open of this.state.attempts.values()) if (open.doubt !== undefined) return true;
    return false;
  }

  /** Whether an order may be under way whose answer is still awaited. */
  hasFlights(): boolean {
    for (const open of this.state.attempts.values()) if (open.doubt === undefined) return true;
    return false;
  }

  /** What the strategy plans, with the precision of its pair; `undefined` when it has no plan. */
  plan(strategy: string): Plan | undefined {
    const life = this.state.lives.get(strategy);
    const source = this.strategies.get(strategy);
    // Until the lives go on, at start, what its file says now may stand there: the plan of an edited text is not that of its life.
    if (life === undefined || source?.hash !== life.hash) return undefined;
    const { bound } = source;
    const known = this.#plans.get(strategy);
    if (known?.life === life) return known.plan;
    // Nor can any be made before the venue could be asked.
    if (bound.pairs.some((pair) => 'problem' in this.pair(pair))) return undefined;
    const plan = planOf(bound, life.begunAt, (pair) => this.instrument(pair));
    this.#plans.set(strategy, { life, plan });
    return plan;
  }
}

const isShownByAccount = (body: RecordBody): boolean =>
  body.kind === 'correction' || (body.kind === 'fill' && body.source === 'transactions');

/** What may let pass what a limit refused: a pause or a halt that is over, or is only a reducing now, and an override that is approved. */
const isFreeing = (body: RecordBody): boolean =>
  (body.kind === 'control' && (body.state === 'active' || body.state === 'reducing')) ||
  (body.kind === 'override' && body.step === 'approved');
