import type { Bar } from '../core/bar.ts';
import type { Observable, SchedulerLike } from 'rxjs';
import type { ReferencePrice } from '../core/reference-price.ts';
import type { Quantity } from '../core/money.ts';
import type { PasskeyAssertion } from '../core/approvals/passkey-assertion.ts';
import type { OverrideWish } from '../core/risk/override.ts';
import type { Pair } from '../core/pairs.ts';
import type { AlertRecord, PersonRecord, RecordBody, StoredRecord, UsedToken } from '../core/record.ts';
import type { Resolution } from '../core/cycle/resolution.ts';
import type { BootTime, Instant, Monotonic } from '../core/time.ts';
import type { Wait } from '../core/wake.ts';
import type { MaybeAsync } from './maybe-async.ts';
import type { BegunDocument, StrategiesRead, StrategySource } from './state/strategy-source.ts';
import type {
  Balance,
  Currency,
  FundingRate,
  Order,
  OrderAnswer,
  OrderRequest,
  QuoteAnswer,
  QuoteRequest,
  RiskMode,
  Transaction,
  TransactionsQuery,
  ValuationPoint,
} from '../core/venue.ts';

/**
 * Time, in its two kinds, and the scheduler that waits. They agree as long as nobody sets the time and the machine does not
 * sleep; `Continuity` tells when they have not.
 */
export interface Clock {
  /** For every RxJS operator that waits. */
  readonly scheduler: SchedulerLike;
  /** Longest single wait, ms; default: an hour. */
  readonly pieceMs?: number | undefined;
  /** Wall time, whole milliseconds. */
  wall(): Instant;
  /** For durations: quote life, limits, staleness. Never steps. */
  monotonic(): Monotonic;
  /** For durations that span processes. Omitted, or `undefined`: the system has no trustworthy boot clock. */
  boot?(): BootTime | undefined;
}

/** Randomness for jitter of waits. Nothing that must be recomputable after a crash comes from here. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}

/**
 * The trading venue, as far as trading needs it. All Observables are cold: nothing happens before `subscribe`. Unsubscribing
 * closes the exchange; an order whose subscription ended early is a doubt for the caller.
 *
 * - Reads error with `VenueError`, `applied: 'no'`.
 * - No call is repeated here; whoever calls decides.
 * - Source of all routes: the venue's interface specification, "Endpoints".
 */
export interface VenuePort {
  /**
   * Asks for an executable price. Moves no money. Never errors: failures are answers. A venue without a network answers at once.
   * `POST /v1/quote`.
   */
  quote(request: QuoteRequest): MaybeAsync<QuoteAnswer>;

  /**
   * Executes a quote. Moves money. The first byte leaves in the tick of `subscribe`. Never errors: failures are answers,
   * and everything but a well-formed answer may have traded. A venue without a network answers at once.
   * `POST /v1/orders/buy`, or the configured sell path.
   */
  order(request: OrderRequest): MaybeAsync<OrderAnswer>;

  /** Closes the way of orders until the process ends: what has not left never leaves. Reads go on. */
  readonly shut?: (() => void) | undefined;

  /** One page of the account's transactions, any order. `GET /v1/account/transactions`, 1 request a 10 s. */
  transactions(query: TransactionsQuery): Observable<readonly Transaction[]>;

  /** Currencies of the account. `GET /v1/currency`. */
  currencies(): Observable<readonly Currency[]>;

  /** `GET /v1/post-trade-settlement/interest`. */
  fundingRates(): Observable<readonly FundingRate[]>;

  /** Risk mode of each pair; pairs whose mode could not be read are absent. `GET /v1/post-trade-settlement/risk-modes`. */
  riskModes(): Observable<ReadonlyMap<string, RiskMode>>;

  /** Portfolio value in USD since `from`, hourly. `GET /v1/account/balance/history`. */
  valuation(from: Instant): Observable<readonly ValuationPoint[]>;

  /**
   * How far the venue's clock is certainly ahead of our wall clock, milliseconds, by its last answer that named its time;
   * negative: behind. `undefined` before the first. From the `date` of answers; for people and start-up only.
   */
  readonly skewMs?: (() => number | undefined) | undefined;

  /** Capability `balances`. `GET /v1/user/balance`. */
  readonly balances?: (() => Observable<readonly Balance[]>) | undefined;

  /** Capability `pairs`. `GET /v1/markets/currency-pairs`. */
  readonly pairs?: (() => Observable<readonly Pair[]>) | undefined;

  /** Capability `order_lookup`: the order with this client id, `undefined` when the venue knows none. `GET /v1/orders/:id`. */
  readonly lookup?: ((clientId: string) => Observable<Order | undefined>) | undefined;
}

/** Prices that arrive by themselves (capability `ticker`). Never errors: the adapter reconnects. */
export interface MarketPort {
  readonly prices$: Observable<ReferencePrice>;

  /**
   * The current price of a pair, from a market that can be queried at any time: a tape. Such prices do not age on the way
   * and need no probes. `undefined`: there is none now. Omitted: prices come from `prices$`.
   */
  readonly look?: ((pair: string) => ReferencePrice | undefined) | undefined;

  /**
   * What the market has traded of a pair since its day began, base currency; it falls when a day begins. `undefined`: not known, or told
   * too long ago. Omitted: the market tells no volume.
   */
  readonly volume?: ((pair: string) => Quantity | undefined) | undefined;

  /**
   * The newest `count` bars of a pair that have ended by now, oldest first, from a market that knows its history: a tape. Omitted: the desk
   * makes bars of the prices that it sees. @throws RangeError when its history is too coarse.
   */
  readonly bars?: ((pair: string, intervalMs: number, count: number) => readonly Bar[]) | undefined;

  /** Whether the pair was delisted: its last price stays, and nothing of it can be bought. Omitted: no pair ever is. */
  readonly isDelisted?: ((pair: string) => boolean) | undefined;

  /** Pairs that a market which can be asked has prices of at all. */
  readonly pairs?: ReadonlySet<string> | undefined;

  /**
   * Says for as long as it is subscribed that somebody waits for prices. A market that has it may leave out of `prices$` every
   * instant at which nothing that is waited for can come true. Never emits.
   */
  readonly expect?: ((lookout: Lookout) => Observable<never>) | undefined;
}

/** Bars of one pair and length, oldest first. */
export interface KeptBars {
  readonly pair: string;
  readonly intervalMs: number;
  readonly bars: readonly Bar[];
}

/** Keeps bars for the next process. Nothing is proven by them, and what cannot be kept or read is made anew: never throws. */
export interface BarsPort {
  read(): readonly KeptBars[];
  /** In the place of the ones before. */
  keep(series: readonly KeptBars[]): void;
}

/** What is waited for: the next price of a pair, or prices that satisfy a wait. */
export interface Lookout {
  readonly pairs: readonly string[];
  readonly wait?: Extract<Wait, { readonly on: 'price' | 'drift' }> | undefined;
  /** Balances that a drift is worked out from: another lookout is made when they change. */
  readonly holdings?: ReadonlyMap<string, Quantity> | undefined;
}

/** Why to read the account: an event of its feed, or a message that may have been missed. */
export interface AccountHint {
  readonly why: 'balances' | 'orders' | 'fills' | 'connected' | 'gap';
}

/**
 * Says that the account may have changed (capability `account_feed`). A hint only shortens the wait for the next read of
 * the account: nothing it says is believed, and without any hint everything is found all the same. Never errors.
 */
export interface AccountFeedPort {
  readonly hints$: Observable<AccountHint>;
}

/** Result of a command, in words for the operator. */
export interface CommandAnswer {
  readonly isDone: boolean;
  readonly says: string;
  /** The same for programs, where words are not enough. Plain JSON. */
  readonly facts?: object | undefined;
}

/** What a pause is of: one parent, one pair, one strategy, or with none of them the desk. */
export interface Scope {
  readonly parent?: string | undefined;
  readonly pair?: string | undefined;
  readonly strategy?: string | undefined;
}

/** Commands of the operator: CLI, signals. Never errors. */
export type Command =
  | (Scope & {
      readonly do: 'pause' | 'resume';
      /** A pause of the desk that lets orders through which reduce a borrowed balance. */
      readonly isReducing?: boolean | undefined;
      /** With a pause of the desk: resumes automatically after this time, milliseconds. */
      readonly forMs?: number | undefined;
      readonly by: string;
      readonly why: string;
      readonly token?: UsedToken | undefined;
      /** Called in the tick of the command. */
      answer?(answer: CommandAnswer): void;
    })
  /** Latched. `isKill` also closes the way of orders until the process ends. */
  | {
      readonly do: 'halt';
      readonly by: string;
      readonly why: string;
      readonly isKill?: boolean;
      readonly token?: UsedToken | undefined;
    }
  /** Lifts a halt. Refused with open doubts unless it says so. */
  | {
      readonly do: 'rearm';
      readonly by: string;
      readonly why: string;
      readonly withOpenDoubts?: boolean;
      readonly token?: UsedToken | undefined;
      answer?(answer: CommandAnswer): void;
    }
  | { readonly do: 'drain'; readonly why: string }
  /** Reads the strategies again. A dry run only says what would change. */
  | {
      readonly do: 'reload';
      readonly by: string;
      readonly why: string;
      readonly isDryRun?: boolean | undefined;
      readonly token?: UsedToken | undefined;
      /** Executed once the desk trades if it comes earlier: for callers that cannot retry. */
      readonly isPatient?: boolean | undefined;
      answer?(answer: CommandAnswer): void;
    }
  /** Asks for one limit to be looser for one order. Answered once it is durable. */
  | (OverrideWish & {
      readonly do: 'propose';
      readonly token?: UsedToken | undefined;
      answer(answer: CommandAnswer): void;
    })
  /** Another person agrees. Answered once it is durable. */
  | {
      readonly do: 'approve';
      readonly override: string;
      /** Of the request that the person has seen; another one is refused. */
      readonly hash?: string | undefined;
      /** What the person's passkey signed: the hash of the request. */
      readonly assertion?: PasskeyAssertion | undefined;
      readonly token?: UsedToken | undefined;
      readonly by: string;
      readonly why: string;
      answer(answer: CommandAnswer): void;
    }
  /** Takes an override back before it is used: who proposed it withdraws it, anybody else rejects it. Answered once it is durable. */
  | {
      readonly do: 'withdraw' | 'reject';
      readonly override: string;
      readonly hash?: string | undefined;
      readonly token?: UsedToken | undefined;
      readonly by: string;
      readonly why: string;
      answer(answer: CommandAnswer): void;
    }
  /** Ends a running strategy for good: what is open ends without a further order. Answered once it is durable. */
  | {
      readonly do: 'stop';
      readonly strategy: string;
      readonly token?: UsedToken | undefined;
      readonly by: string;
      readonly why: string;
      answer(answer: CommandAnswer): void;
    }
  /** Begins an occurrence of a strategy now. Answered once, when its step is durable: a fresh price may take some seconds. */
  | {
      readonly do: 'run';
      readonly strategy: string;
      readonly token?: UsedToken | undefined;
      readonly by: string;
      readonly why: string;
      answer(answer: CommandAnswer): void;
    }
  /** Ends a doubt by an operator's resolution. Answered once, after it is durable; never by a desk that has stopped. */
  | (Resolution & {
      readonly do: 'resolve';
      readonly token?: UsedToken | undefined;
      answer(answer: CommandAnswer): void;
    })
  /** Who may sign in changes. Answered once it is durable. */
  | {
      readonly do: 'person';
      readonly record: PersonRecord;
      answer(answer: CommandAnswer): void;
    };

/** What is odd about a journal although its chain holds: it may be an older copy of itself. */
export interface Oddity {
  readonly what: 'rolled_back' | 'no_anchor';
  readonly why: string;
}

/** Why nothing may be sent. `kill` is a halt that also closes the way of orders for the life of the process. */
export interface Halt {
  readonly level: 'halt' | 'kill';
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/**
 * A note of a halt outside the memory: it survives the process, and others may leave it. Every method is synchronous; those
 * that change something throw when they could not.
 */
export interface HaltPort {
  /** The gate asks before every order: microseconds. Throws: counts as set. */
  isSet(): boolean;
  /** What the note says; `undefined` when it says nothing that can be read. */
  read(): Halt | undefined;
  /** Leaves the note. Must need no room on the disk. */
  set(halt: Halt): void;
  /** Takes it away. */
  clear(): void;
  /** Makes ready what the next note needs, unless it is. Throws when it cannot: on a full disk that note may be lost. */
  prepare?(): void;
}

/** A state that was folded from the records up to number `seq`. */
export interface KeptState {
  readonly seq: number;
  /** Of record `seq`. */
  readonly hash: string;
  /** What it is, in words that only the program itself reads. */
  readonly text: string;
}

/** Keeps one state for the next start. It is a shortcut: what is lost or does not fit the journal costs time, never truth. */
export interface StatePort {
  /** Number of records between snapshots. */
  readonly every: number;
  /** The state that was kept last, if it fits the journal and this version of the program; else why not, if there is one. */
  read(): KeptState | { readonly unfit: string } | undefined;
  /** Keeps a state in the place of the last one, later. Never throws: what cannot be kept is dropped. */
  keep(state: KeptState): void;
  /** The same, at once, at the end of a process. */
  keepNow(state: KeptState): void;
}

/**
 * Says that another owner may take a journal over while this one runs. Each append then proves that nobody has: its records are
 * written only if the desk is still this owner's as they become durable. Else it errors with `FencedOut`.
 */
export interface FencePort {
  /** Keeps beside the chain what this owner learnt after another had taken over. For people: nothing reads it. Never throws. */
  evidence(bodies: readonly RecordBody[], at: Instant): void;
}

/** The append-only, durable record. One writer at a time. */
export interface JournalPort {
  /**
   * Appends all or none, in order, stamped `at`. The records are durable when they are returned, or when the Observable emits them
   * and completes.
   *
   * - Throws or errors: any. A journal that failed once is poisoned: the process must end.
   */
  append(bodies: readonly RecordBody[], at: Instant): MaybeAsync<readonly StoredRecord[]>;

  /** Omitted: this process has the journal until it ends. With a fence `append` returns an Observable. */
  readonly fence?: FencePort | undefined;

  /** Found when the journal was opened. */
  readonly oddity?: Oddity | undefined;

  /** The disk is full and what was set aside for the last results is in use: end soon, and begin nothing. */
  readonly isSpent?: boolean | undefined;

  /** Throws when the chain does not hold. A journal without it is checked by `read` alone. */
  readonly prove?: (() => void) | undefined;

  /**
   * All records from the first, or those behind record number `after`. Throws when the chain does not hold, at the end of
   * what was read at the latest.
   */
  read(after?: number): Iterable<StoredRecord>;

  /** Storage of snapshots of the folded state. Omitted: none, every start reads all records. */
  readonly states?: StatePort | undefined;

  close(): void;
}

/** Documents of strategies, for a desk that reads them again while it runs. Every method is synchronous. */
export interface StrategiesPort {
  /** Reads and checks all of them, as they are now. Nothing of it is in force yet. */
  read(): StrategiesRead;
  /** A strategy as it was when its life began, with the hash of then; `undefined` when this version cannot read it any more. */
  revive(begun: BegunDocument): StrategySource | undefined;
  /** A file may have changed; often several times for one edit. Omitted: files are not watched. Never errors. */
  readonly changed$?: Observable<unknown> | undefined;
}

/** A request to the venue, or that the venue wants none until `boot`. */
export interface LoggedRequest {
  readonly route: 'quote' | 'order' | 'transactions' | 'read' | 'all';
  readonly boot: BootTime;
  readonly isBlock: boolean;
}

/** Keeps the newest requests for the next process, so that it knows which limits of the venue are used. Never throws. */
export interface RequestLogPort {
  /**
   * What processes sent before the one that now starts, if the note is of the process that record number `start` began and of this
   * boot: nothing that was sent after `since` is missing.
   */
  earlier(
    start: number,
    boot: BootTime,
  ): { readonly since: BootTime; readonly requests: readonly LoggedRequest[] } | undefined;
  /** This process began with record number `start`: it sends from now on. */
  begin(start: number, since: BootTime): void;
  /** Before the request leaves. */
  note(request: LoggedRequest): void;
}

/** Alerts that are to be written down. */
export interface AlertsPort {
  /** Fires when one waits. */
  readonly raised$: Observable<void>;
  /** Those that wait, the oldest first; they wait no longer. */
  take(): readonly AlertRecord[];
}

/** All that the engine needs of the world. A mode is a choice of these. */
export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly venue: VenuePort;
  readonly market?: MarketPort | undefined;
  readonly accountFeed?: AccountFeedPort | undefined;
  readonly journal: JournalPort;
  readonly halt?: HaltPort | undefined;
  /** Omitted: every start waits for the rate limits of the venue. */
  readonly requestLog?: RequestLogPort | undefined;
  /** Bars of earlier processes. Omitted: each process makes its own. */
  readonly bars?: BarsPort | undefined;
  readonly operator$: Observable<Command>;
  /** Omitted: the strategies of the start stay. */
  readonly strategies?: StrategiesPort | undefined;
  /** Omitted: alerts are not written down. */
  readonly alerts?: AlertsPort | undefined;
}
