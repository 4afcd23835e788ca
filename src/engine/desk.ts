import { Subject, distinctUntilChanged, filter, map, share } from 'rxjs';
import type { Observable } from 'rxjs';
import { deskMark } from '../core/ids.ts';
import type { ApprovalRecord, ControlRecord, IntentRecord } from '../core/record.ts';
import type { BootTime } from '../core/time.ts';
import { AccountState } from './account/account-state.ts';
import { halt } from './account/halt.ts';
import { PriceTrials } from './attempt/price-trials.ts';
import { QuoteIds } from './attempt/quote-ids.ts';
import type { QuoteFailures, ShortQuotes } from './attempt/quote-failures.ts';
import { Rates } from './market/conversion-rates.ts';
import { Footprint } from './market/footprint.ts';
import { Instruments } from './market/instruments.ts';
import { LiveBars } from './market/live-bars.ts';
import { PtsWatch } from './market/pts-watch.ts';
import { References } from './market/reference-prices.ts';
import { SizeProbes } from './market/size-probes.ts';
import { VenueHealth } from './market/venue-health.ts';
import type { Observer } from './observer.ts';
import { KillSwitch } from './operator/kill-switch.ts';
import { Proposals } from './operator/proposals.ts';
import { RecordedSettings } from './state/recorded-settings.ts';
import type { Guarded, Wish } from './operator/proposals.ts';
import { SpinGuard } from './operator/spin-guard.ts';
import type { DeskSettings } from './desk-settings.ts';
import type { Ports } from './ports.ts';
import { RateLimiter } from './rate-limit/rate-limiter.ts';
import { EngineState } from './state/engine-state.ts';
import { RunningStrategies } from './state/running-strategies.ts';
import { SnapshotWriter } from './state/snapshot-writer.ts';
import { StateJournal } from './state/state-journal.ts';
import type { StrategySource } from './state/strategy-source.ts';
import { clockWentBack } from './time/clock-back.ts';
import { Continuity } from './time/continuity.ts';
import type { ClockBack } from './time/continuity.ts';
import { DayClock } from './time/limit-day.ts';

export type { StrategySource } from './state/strategy-source.ts';

/**
 * One account, assembled. Only this file knows all parts; the parts do not import it.
 */
export class Desk {
  readonly ports: Ports;
  /** The config in force. A reload replaces it with one whose limits differ, so read it on each use. */
  policy: DeskSettings;
  readonly observer: Observer;
  /** Fires after records were applied: balances, fills, doubts or the control state may have changed. */
  readonly changed$ = new Subject<void>();
  /**
   * Emits, after each change, the strategies with an outcome that no step has consumed. If a thousand strategies wait,
   * only these are checked.
   */
  readonly outcomes$: Observable<ReadonlySet<string>>;
  /** The state folded from the journal. */
  readonly state = new EngineState();
  /** What this process has read from the account. */
  readonly account: AccountState;
  readonly instruments: Instruments;
  readonly strategies: RunningStrategies;
  readonly snapshotWriter: SnapshotWriter;
  readonly journal: StateJournal;
  /** The kill switch, as the gate reads it. */
  readonly killSwitch: KillSwitch;
  readonly rateLimiter: RateLimiter;
  readonly continuity: Continuity;
  /** The clock by which the days of limits are counted. */
  readonly limitDay: DayClock;
  readonly venueHealth: VenueHealth;
  readonly references: References;
  /** Used where the market has no history of its own. */
  readonly bars: LiveBars;
  readonly rates: Rates;
  readonly footprint: Footprint;
  readonly sizeProbes = new SizeProbes();
  readonly pts: PtsWatch;
  readonly spins: SpinGuard;
  readonly mark: string;
  /** Emits the number of time jumps after each one. Shared by all strategies. Omitted: time cannot jump. */
  readonly breaks$: Observable<number> | undefined;
  /** Attempts that passed the gate and have not ended. The record of their order may not be durable yet. */
  readonly leaving = new Map<string, IntentRecord>();
  /** Attempts whose end is being recorded. */
  readonly endsBeingRecorded = new Set<string>();
  /** Ids of the quotes that this process received. The venue must not reuse an id. */
  readonly quoteIds = new QuoteIds();
  /** Consecutive failures to get a quote, by pair. */
  readonly failures = new Map<string, QuoteFailures>();
  /** Consecutive quotes whose life was too short for an order, by pair. */
  readonly shortQuotes = new Map<string, ShortQuotes>();
  /** When parents that are paused because prices disagree may request another quote. */
  readonly priceTrials = new PriceTrials();
  /** Commands that have been approved and can be executed. */
  readonly agreed$ = new Subject<Guarded>();
  /** Requests for approval that the desk itself makes. */
  readonly wished$ = new Subject<Wish>();
  /** Requests for files and parents that have just been approved. */
  readonly approved$ = new Subject<ApprovalRecord>();
  /** Requests for approval made to this process. */
  readonly proposals = new Proposals();
  /** How far the wall clock went back, until it again shows the time that it had shown before. */
  clockBack: ClockBack | undefined;
  /** Since when the requests of earlier processes are known, if they are known. */
  requestsKnownSince: BootTime | undefined;
  readonly settings = new RecordedSettings();
  isStopping = false;

  constructor(ports: Ports, policy: DeskSettings, observer: Observer, strategies: readonly StrategySource[]) {
    this.ports = ports;
    this.policy = policy;
    this.observer = observer;
    const { changed$, state } = this;
    this.account = new AccountState(ports.clock, policy.inDoubt);
    this.instruments = new Instruments((pair) => policy.minimumOf(pair));
    this.strategies = new RunningStrategies(strategies, { state, instruments: this.instruments, changed$ });
    this.outcomes$ = changed$.pipe(
      map(() => this.strategies.withOutcomes()),
      filter(({ size }) => size > 0),
      share(),
    );
    this.mark = deskMark(policy.desk);
    this.killSwitch = new KillSwitch(ports.halt);
    this.killSwitch.onSet(({ level, by, why }) => {
      if (level === 'kill') ports.venue.shut?.();
      observer.alert('halted', { by, why, ...(level === 'kill' ? { transport: 'closed' } : {}) });
      const { fault } = this.killSwitch;
      if (fault !== undefined) observer.alert('halt_not_noted', { error: fault });
    });
    this.snapshotWriter = new SnapshotWriter(this);
    this.journal = new StateJournal(this);
    this.limitDay = new DayClock(ports.clock, () => ports.venue.skewMs?.());
    this.rateLimiter = new RateLimiter(ports.clock, policy.pace, ports.requestLog);
    this.continuity = new Continuity(ports.clock, policy.continuity, ({ wallMs, lateMs }) => {
      if (wallMs < -policy.continuity.divergenceMs) clockWentBack(this, -wallMs);
      else observer.alert('discontinuity', { wall_ms: wallMs, late_ms: lateMs });
    });
    // A clock that is not watched cannot jump.
    this.breaks$ = Number.isFinite(policy.continuity.everyMs)
      ? changed$.pipe(
          map(() => this.continuity.count),
          distinctUntilChanged(),
          share(),
        )
      : undefined;
    this.spins = new SpinGuard(ports.clock);
    this.footprint = new Footprint(
      ports.clock,
      policy.quotesPerFillMax ?? Number.POSITIVE_INFINITY,
      observer,
    );
    this.venueHealth = new VenueHealth(ports.clock, observer);
    this.references = new References({
      ports,
      policy,
      rateLimiter: this.rateLimiter,
      observer,
      footprint: this.footprint,
      venueHealth: this.venueHealth,
      instrument: (pair) => this.instruments.of(pair),
      convert: (currency, amount, into) => this.rates.convert(currency, amount, into),
      isHalted: () => this.control === 'halted',
      halt: (why) => halt(this, why),
    });
    this.pts = new PtsWatch(this);
    this.rates = new Rates(this);
    this.bars = new LiveBars(this);
  }

  /** The control state in force, including a halt that is not in the journal yet. */
  get control(): ControlRecord['state'] {
    return this.killSwitch.isSet ? 'halted' : this.state.control;
  }

  /** The reason for that state. */
  get controlWhy(): string {
    return this.killSwitch.halt?.why ?? this.state.controlWhy;
  }
}
