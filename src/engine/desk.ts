import { Subject, map, share } from 'rxjs';
import type { Observable } from 'rxjs';
import { deskMark } from '../core/ids.ts';
import type { ControlRecord, IntentRecord, OverrideRecord } from '../core/record.ts';
import type { BootTime } from '../core/time.ts';
import { AccountState } from './account/account-state.ts';
import { halt } from './account/halt.ts';
import { PriceTrials } from './attempt/price-trials.ts';
import { QuoteIds } from './attempt/quote-ids.ts';
import type { QuoteFailures, ShortQuotes } from './attempt/quote-failures.ts';
import { Rates } from './market/conversion-rates.ts';
import { Footprint, NO_FOOTPRINT } from './market/footprint.ts';
import { Instruments } from './market/instruments.ts';
import { LiveBars } from './market/live-bars.ts';
import { PtsWatch } from './market/pts-watch.ts';
import { References } from './market/reference-prices.ts';
import { SizeProbes } from './market/size-probes.ts';
import { VenueHealth } from './market/venue-health.ts';
import type { Observer } from './observer.ts';
import { KillSwitch } from './operator/kill-switch.ts';
import { Proposals } from './operator/proposals.ts';
import type { Guarded, Wish } from './operator/proposals.ts';
import { SpinGuard } from './operator/spin-guard.ts';
import type { Policy } from './policy.ts';
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
 * One account, assembled. The only place that knows all parts: each stage names the few that it uses in an interface of its own,
 * which a desk fulfils.
 */
export class Desk {
  readonly ports: Ports;
  /** The config. A reload puts another one in its place, whose limits alone differ: read it when it is needed. */
  policy: Policy;
  readonly observer: Observer;
  /** Fires after records were applied: balances, fills, doubts or the control state may have changed. */
  readonly changed$ = new Subject<void>();
  /** What the journal says. */
  readonly state = new EngineState();
  /** What this process has seen of the account. */
  readonly account: AccountState;
  readonly instruments: Instruments;
  readonly strategies: RunningStrategies;
  readonly snapshotWriter: SnapshotWriter;
  readonly journal: StateJournal;
  /** The halt, as the gate reads it. */
  readonly killSwitch: KillSwitch;
  readonly rateLimiter: RateLimiter;
  readonly continuity: Continuity;
  /** The time by which days of limits are counted. */
  readonly limitDay: DayClock;
  readonly venueHealth: VenueHealth;
  readonly references: References;
  /** Where the market does not know its history. */
  readonly bars: LiveBars;
  readonly rates: Rates;
  readonly footprint: Footprint;
  readonly sizeProbes = new SizeProbes();
  readonly pts: PtsWatch;
  readonly spins: SpinGuard;
  readonly mark: string;
  /** Number of time jumps so far, after each change. Computed once for all strategies. Omitted: time cannot jump. */
  readonly breaks$: Observable<number> | undefined;
  /** Attempts that the gate let through, until they end: the record of their order may still be under way. */
  readonly leaving = new Map<string, IntentRecord>();
  /** Attempts whose end is being written. */
  readonly closing = new Map<string, true>();
  /** Quote ids of this process: the venue must not repeat one. */
  readonly quoteIds = new QuoteIds();
  /** Failures in a row to get a quote, by pair. */
  readonly failures = new Map<string, QuoteFailures>();
  /** Quotes in a row whose life was too short for an order, by pair. */
  readonly shortQuotes = new Map<string, ShortQuotes>();
  /** When parents that are paused because prices disagreed may ask for another quote. */
  readonly priceTrials = new PriceTrials();
  /** Commands that the others have agreed to. */
  readonly agreed$ = new Subject<Guarded>();
  /** What the desk itself must ask people for. */
  readonly wished$ = new Subject<Wish>();
  /** Requests of files and parents that are approved from now on. */
  readonly approved$ = new Subject<OverrideRecord>();
  /** What was proposed to this process: overrides, and commands that need others. */
  readonly proposals = new Proposals();
  /** How far the wall clock went back, as long as that matters. */
  clockBack: ClockBack | undefined;
  /** Since when the requests of earlier processes are known, where they are. */
  requestsKnownSince: BootTime | undefined;
  /** The report of the last automatic reload. */
  lastReloadReport = '';
  isStopping = false;

  constructor(ports: Ports, policy: Policy, observer: Observer, strategies: readonly StrategySource[]) {
    this.ports = ports;
    this.policy = policy;
    this.observer = observer;
    const { changed$, state } = this;
    this.account = new AccountState(ports.clock, policy.inDoubt.bookingMarginMs);
    this.instruments = new Instruments((pair) => policy.minimumOf(pair));
    this.strategies = new RunningStrategies(strategies, { state, instruments: this.instruments, changed$ });
    this.mark = deskMark(policy.desk);
    this.killSwitch = new KillSwitch(ports.halt);
    this.killSwitch.onSet(({ level, by, why }) => {
      if (level === 'kill') ports.venue.shut?.();
      observer.alert(level === 'kill' ? 'killed' : 'halted', { by, why });
      const { fault } = this.killSwitch;
      if (fault !== undefined) observer.alert('halt_not_noted', { error: fault });
    });
    this.snapshotWriter = new SnapshotWriter(this);
    this.journal = new StateJournal(this);
    this.limitDay = new DayClock(ports.clock, () => ports.venue.skewMs?.());
    this.rateLimiter = new RateLimiter(ports.clock, policy.pace, ports.requestLog);
    this.continuity = new Continuity(ports.clock, policy.continuity, ({ wallMs, lateMs }) => {
      observer.alert('discontinuity', { wall_ms: wallMs, late_ms: lateMs });
      if (wallMs < -policy.continuity.divergenceMs) clockWentBack(this, -wallMs);
    });
    // A clock that is not watched cannot jump.
    this.breaks$ = Number.isFinite(policy.continuity.everyMs)
      ? changed$.pipe(
          map(() => this.continuity.count),
          share(),
        )
      : undefined;
    this.spins = new SpinGuard(ports.clock);
    this.footprint = new Footprint(ports.clock, policy.footprint ?? NO_FOOTPRINT, observer);
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
    this.pts = new PtsWatch(ports, policy, this.rateLimiter, observer);
    this.rates = new Rates(this);
    this.bars = new LiveBars(this);
  }

  /** What holds now: a halt that the journal does not know yet counts. */
  get control(): ControlRecord['state'] {
    return this.killSwitch.isSet ? 'halted' : this.state.control;
  }

  /** Why it holds, in words. */
  get controlWhy(): string {
    return this.killSwitch.halt?.why ?? this.state.controlWhy;
  }
}
