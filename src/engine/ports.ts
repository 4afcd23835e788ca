import type { Bar } from '../core/bar.ts';
import type { Observable, SchedulerLike } from 'rxjs';
import type { ReferencePrice } from '../core/reference-price.ts';
import type { Quantity } from '../core/money.ts';
import type { PasskeyAssertion } from '../core/approvals/passkey-assertion.ts';
import type { Pair } from '../core/pairs.ts';
import type { AlertRecord, PersonRecord, RecordBody, StoredRecord, UsedToken } from '../core/record.ts';
import type { Resolution } from '../core/cycle/resolution.ts';
import type { BootTime, Instant, Monotonic } from '../core/time.ts';
import type { Wait } from '../core/wake.ts';
import type { MaybeAsync } from './maybe-async.ts';
import type {
  BegunDocument,
  StrategiesRead,
  StrategyFault,
  StrategySource,
} from './state/strategy-source.ts';
import type { StrategyRun } from './state/strategy-run.ts';
import type {
  Balance,
  CreditMetrics,
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
 * Two clocks, and the scheduler for waits. The clocks agree while nobody sets the time and the machine does not
 * sleep; `Continuity` detects when they no longer agree.
 */
export interface Clock {
  /** For every RxJS operator that waits. */
  readonly scheduler: SchedulerLike;
  /** Longest single wait, ms; default: an hour. */
  readonly pieceMs?: number | undefined;
  /** Wall time, whole milliseconds. */
  wall(): Instant;
  /** For durations such as quote life, rate limits and staleness. Never jumps. */
  monotonic(): Monotonic;
  /** For durations that span processes. Omitted, or `undefined`: the system has no trustworthy boot clock. */
  boot?(): BootTime | undefined;
}

/** Randomness for the jitter of waits. Never use it for anything that must be recomputed after a crash. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}

/**
 * The part of the venue that trading needs. All Observables are cold: nothing happens before `subscribe`. Unsubscribing
 * closes the exchange; if an order's subscription ends early, its outcome is in doubt.
 * - Reads error with `VenueError`, `applied: 'no'`.
 * - No call is repeated here; the caller decides.
 * - Source of all routes: the venue's interface specification, "Endpoints".
 */
export interface VenuePort {
  /**
   * Requests an executable price. Moves no money. Never errors: failures are emitted as responses. A venue without a
   * network responds immediately. `POST /v1/quote`.
   */
  quote(request: QuoteRequest): MaybeAsync<QuoteAnswer>;

  /**
   * Executes a quote. Moves money. The first byte leaves in the tick of `subscribe`. Never errors: failures are emitted
   * as responses, and after anything except a well-formed response the order may have traded. A venue without a network
   * responds immediately. `POST /v1/orders/buy`, or the configured sell path.
   */
  order(request: OrderRequest): MaybeAsync<OrderAnswer>;

  /** Disables orders until the process ends. An order that has not left never leaves. Reads continue. */
  readonly shut?: (() => void) | undefined;

  /** One page of the account's transactions, in any order. `GET /v1/account/transactions`, 1 request per 10 s. */
  transactions(query: TransactionsQuery): Observable<readonly Transaction[]>;

  /** Currencies of the account. `GET /v1/currency`. */
  currencies(): Observable<readonly Currency[]>;

  /** `GET /v1/post-trade-settlement/interest`. */
  fundingRates(): Observable<readonly FundingRate[]>;

  /** Risk mode of each pair; pairs without a readable mode are absent. `GET /v1/post-trade-settlement/risk-modes`. */
  riskModes(): Observable<ReadonlyMap<string, RiskMode>>;

  /** Credit of the account. `GET /v1/post-trade-settlement`, which states no liquidation level. */
  creditMetrics(): Observable<CreditMetrics>;

  /** Portfolio value in USD since `from`, hourly. `GET /v1/account/balance/history`. */
  valuation(from: Instant): Observable<readonly ValuationPoint[]>;

  /**
   * Lower bound of how far the venue's clock is ahead of our wall clock, in milliseconds, from its last response with a
   * `date` header; a negative value means behind. `undefined` before the first response. Only for people and for
   * start-up.
   */
  readonly skewMs?: (() => number | undefined) | undefined;

  /** Capability `balances`. `GET /v1/user/balance`. */
  readonly balances?: (() => Observable<readonly Balance[]>) | undefined;

  /** Capability `pairs`. `GET /v1/markets/currency-pairs`. */
  readonly pairs?: (() => Observable<readonly Pair[]>) | undefined;

  /** Capability `order_lookup`: the order with this client id; `undefined` if the venue knows none. `GET /v1/orders/:id`. */
  readonly lookup?: ((clientId: string) => Observable<Order | undefined>) | undefined;
}

/** Prices that the venue sends (capability `ticker`): mids of its order book, and last trades. Never errors: the adapter reconnects. */
export interface MarketPort {
  readonly prices$: Observable<ReferencePrice>;

  /**
   * The current price of a pair, from a market that can be queried at any time, such as a tape. Such prices do not
   * age in transit and need no probes. `undefined`: no price now. Omitted: prices come from `prices$`.
   */
  readonly look?: ((pair: string) => ReferencePrice | undefined) | undefined;

  /**
   * Volume that the market has traded in the pair since the market's day began, in base currency; it falls when a new
   * day begins. `undefined`: unknown or too old. Omitted: the market reports no volume.
   */
  readonly volume?: ((pair: string) => Quantity | undefined) | undefined;

  /**
   * The newest `count` finished bars of a pair, oldest first, from a market that knows its history, such as a tape. Omitted: the desk
   * builds bars from the prices it sees. @throws RangeError when the history is too coarse.
   */
  readonly bars?: ((pair: string, intervalMs: number, count: number) => readonly Bar[]) | undefined;

  /** Whether the pair was delisted, so that its last price remains and it cannot be bought. Omitted: no pair is ever delisted. */
  readonly isDelisted?: ((pair: string) => boolean) | undefined;

  /** The pairs for which a queryable market has prices. */
  readonly pairs?: ReadonlySet<string> | undefined;

  /**
   * Announces, while subscribed, that a price is awaited. The market may then skip instants at which no wait can be met.
   * Never emits.
   */
  readonly expect?: ((lookout: Lookout) => Observable<never>) | undefined;
}

/** Bars of one pair and length, oldest first. */
export interface KeptBars {
  readonly pair: string;
  readonly intervalMs: number;
  readonly bars: readonly Bar[];
}

/** Stores bars for the next process. Never throws, because bars prove nothing, and bars that cannot be stored or read are rebuilt. */
export interface BarsPort {
  read(): readonly KeptBars[];
  /** Replaces the stored bars. */
  keep(series: readonly KeptBars[]): void;
}

/** The data that a wait needs: the next price of a pair, or prices that satisfy a wait. */
export interface Lookout {
  readonly pairs: readonly string[];
  readonly wait?: Extract<Wait, { readonly on: 'price' | 'drift' }> | undefined;
  /** Balances from which a drift is computed. A change of balances creates a new lookout. */
  readonly holdings?: ReadonlyMap<string, Quantity> | undefined;
}

/** Why the account should be read: an event of its feed, or a message that may have been missed. */
export interface AccountHint {
  readonly why: 'balances' | 'orders' | 'fills' | 'connected' | 'gap';
}

/**
 * Signals that the account may have changed (capability `account_feed`). A hint only shortens the wait for the next
 * read of the account. The desk never uses the content of a hint, and also finds every change without hints. Never
 * errors.
 */
export interface AccountFeedPort {
  readonly hints$: Observable<AccountHint>;
  /**
   * Credit of the account, after each transaction. The desk uses the liquidation level, which only the feed states, and then
   * reads the other figures, because prices move them without a message.
   */
  readonly credit$?: Observable<CreditMetrics> | undefined;
}

/** Result of a command, in words for the operator. */
export interface CommandAnswer {
  readonly isDone: boolean;
  readonly says: string;
  /** The result for programs, if words are not enough. Plain JSON. */
  readonly facts?: object | undefined;
}

/** Scope of a pause: one parent, one pair or one strategy. Without any of these, it is the whole desk. */
export interface Scope {
  readonly parent?: string | undefined;
  readonly pair?: string | undefined;
  readonly strategy?: string | undefined;
}

/** Commands of the operator: CLI, signals. Never errors. */
export type Command =
  | (Scope & {
      readonly do: 'pause' | 'resume';
      /** For a pause of the whole desk: still allows orders that reduce a borrowed balance. */
      readonly isReducing?: boolean | undefined;
      /** For a pause of the whole desk: time after which it resumes automatically, milliseconds. */
      readonly forMs?: number | undefined;
      readonly by: string;
      readonly why: string;
      readonly token?: UsedToken | undefined;
      /** Called in the tick of the command. */
      answer?(answer: CommandAnswer): void;
    })
  /** Latched. `isKill` also disables orders until the process ends. */
  | {
      readonly do: 'halt';
      readonly by: string;
      readonly why: string;
      readonly isKill?: boolean;
      readonly token?: UsedToken | undefined;
    }
  /** Lifts a halt. Refused while doubts are open, unless the command allows that. */
  | {
      readonly do: 'rearm';
      readonly by: string;
      readonly why: string;
      readonly withOpenDoubts?: boolean;
      readonly token?: UsedToken | undefined;
      answer?(answer: CommandAnswer): void;
    }
  | { readonly do: 'drain'; readonly why: string }
  /** Reloads the strategies. A dry run only reports the changes that a reload would make. */
  | {
      readonly do: 'reload';
      readonly by: string;
      readonly why: string;
      readonly isDryRun?: boolean | undefined;
      readonly token?: UsedToken | undefined;
      /** If it arrives before the desk trades, it is executed once the desk trades; for callers that cannot retry. */
      readonly isPatient?: boolean | undefined;
      answer?(answer: CommandAnswer): void;
    }
  /** Another person approves. Responds once the approval is durable. */
  | {
      readonly do: 'approve';
      /** Id of the request. */
      readonly request: string;
      /** Hash of the request that the person reviewed; any other request is refused. */
      readonly hash?: string | undefined;
      /** The passkey's signature over the hash of the request. */
      readonly assertion?: PasskeyAssertion | undefined;
      readonly token?: UsedToken | undefined;
      readonly by: string;
      readonly why: string;
      answer(answer: CommandAnswer): void;
    }
  /** Ends a request before it is used. Responds once this is durable. */
  | {
      readonly do: 'reject';
      readonly request: string;
      readonly hash?: string | undefined;
      readonly token?: UsedToken | undefined;
      readonly by: string;
      readonly why: string;
      answer(answer: CommandAnswer): void;
    }
  /** Stops a running strategy permanently. Open slices end without another order. Responds once the stop is durable. */
  | {
      readonly do: 'stop';
      readonly strategy: string;
      readonly token?: UsedToken | undefined;
      readonly by: string;
      readonly why: string;
      answer(answer: CommandAnswer): void;
    }
  /** Starts an occurrence of a strategy now. Responds once its step is durable; a fresh price may take some seconds. */
  | {
      readonly do: 'run';
      readonly strategy: string;
      readonly token?: UsedToken | undefined;
      readonly by: string;
      readonly why: string;
      answer(answer: CommandAnswer): void;
    }
  /** Ends a doubt with an operator's resolution. Responds once, when the resolution is durable; a stopped desk never responds. */
  | (Resolution & {
      readonly do: 'resolve';
      readonly token?: UsedToken | undefined;
      answer(answer: CommandAnswer): void;
    })
  /** Changes who may sign in. Responds once the change is durable. */
  | {
      readonly do: 'person';
      readonly record: PersonRecord;
      answer(answer: CommandAnswer): void;
    };

/** A suspicious fact about a journal whose hash chain is correct, which means that the journal may be an older copy. */
export interface Oddity {
  readonly what: 'rolled_back' | 'no_anchor';
  readonly why: string;
}

/** Why nothing may be sent. `kill` is a halt that also disables orders for the life of the process. */
export interface Halt {
  readonly level: 'halt' | 'kill';
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/**
 * A halt that is kept in a file. It survives the process, and others may create it. Every method is synchronous; those
 * that change something throw on failure.
 */
export interface HaltPort {
  /** The gate calls this before every order, so it takes microseconds. If it throws, the halt counts as set. */
  isSet(): boolean;
  /** Content of the halt file; `undefined` if it is empty or unreadable. */
  read(): Halt | undefined;
  /** Writes the halt file. Must not need disk space. */
  set(halt: Halt): void;
  /** Removes the halt file. */
  clear(): void;
  /**
   * Prepares the space for the next halt file, unless it is already prepared. Throws on failure, because that halt may
   * be lost on a full disk.
   */
  prepare?(): void;
}

/** A state folded from the records up to number `seq`. */
export interface KeptState {
  readonly seq: number;
  /** Hash of record `seq`. */
  readonly hash: string;
  /** The folded state, encoded for this program only. */
  readonly text: string;
}

/**
 * Stores one state for the next start. The state is only a shortcut; if it is lost or does not match the journal, the
 * start is slower but correct.
 */
export interface StatePort {
  /** Number of records between snapshots. */
  readonly every: number;
  /** The stored state, if it matches the journal and this version; otherwise the reason, if there is a state. */
  read(): KeptState | { readonly unfit: string } | undefined;
  /** Stores a state later, replacing the previous one. Never throws: on failure the state is dropped. */
  keep(state: KeptState): void;
  /** Stores a state immediately, at the end of a process. */
  keepNow(state: KeptState): void;
}

/**
 * Indicates that another owner may take over a journal while this process runs. Each append succeeds only if this
 * process still owns the desk when its records become durable. Otherwise it errors with `FencedOut`.
 */
export interface FencePort {
  /**
   * Stores, outside the chain, results that arrived after another owner had taken over. This is only for people; no
   * code reads it. Never throws.
   */
  evidence(bodies: readonly RecordBody[], at: Instant): void;
}

/** The append-only, durable list of records. One writer at a time. */
export interface JournalPort {
  /**
   * Appends all records or none, in order, with the time `at`. They are durable when returned, or when the Observable
   * emits them and completes.
   * - Throws or errors: any. A journal that has failed once is poisoned, and the process must end.
   */
  append(bodies: readonly RecordBody[], at: Instant): MaybeAsync<readonly StoredRecord[]>;

  /** Omitted: this process owns the journal until it ends. With a fence, `append` returns an Observable. */
  readonly fence?: FencePort | undefined;

  /** Facts found when the journal was opened. */
  readonly oddity?: Oddity | undefined;

  /** `true` if the disk is full and the disk reserve is in use. The desk must then start nothing new, and stop soon. */
  readonly isSpent?: boolean | undefined;

  /** Throws when the hash chain is broken. Only `read` checks a journal without this method. */
  readonly prove?: (() => void) | undefined;

  /**
   * All records, or those after record number `after`. Throws when the hash chain is broken, at the latest after the
   * last record.
   */
  read(after?: number): Iterable<StoredRecord>;

  /** Storage for snapshots of the folded state. Omitted: there are no snapshots, and every start reads all records. */
  readonly states?: StatePort | undefined;

  close(): void;
}

/** Strategy documents, for a desk that reloads them while it runs. Every method is synchronous. */
export interface StrategiesPort {
  /** Reads and checks all documents. Nothing takes effect yet. */
  read(): StrategiesRead;
  /**
   * A strategy as it was when its run started, with the hash of its document; `undefined` if this version cannot read it.
   */
  revive(begun: BegunDocument): StrategySource | undefined;
  /**
   * Why these strategies could not trade under the limits of the config that was read last, by the rules of `tranche
   * validate`. `lives`: what the journal knows about each strategy. Omitted: not checked.
   */
  infeasible?(
    run: readonly StrategySource[],
    known: { readonly lives: ReadonlyMap<string, StrategyRun>; readonly now: Instant },
  ): MaybeAsync<readonly StrategyFault[]>;
}

/** A request to the venue, or a cool-down that the venue demanded until `boot`. */
export interface LoggedRequest {
  readonly route: 'quote' | 'order' | 'transactions' | 'read' | 'all';
  readonly boot: BootTime;
  readonly isBlock: boolean;
}

/** Logs the newest requests for the next process, so that it knows how much of the venue's rate limits is used. Never throws. */
export interface RequestLogPort {
  /**
   * Requests of earlier processes, if the log belongs to this boot and to the process that began with record number
   * `start`. The log contains everything sent after `since`.
   */
  earlier(
    start: number,
    boot: BootTime,
  ): { readonly since: BootTime; readonly requests: readonly LoggedRequest[] } | undefined;
  /** Starts the log of this process, which began with record number `start` and sends requests from now on. */
  begin(start: number, since: BootTime): void;
  /** Called before the request leaves. */
  note(request: LoggedRequest): void;
}

/** Alerts to record in the journal. */
export interface AlertsPort {
  /** Emits when an alert waits. */
  readonly raised$: Observable<void>;
  /** Takes the waiting alerts, oldest first. */
  take(): readonly AlertRecord[];
}

/** Everything that the engine needs from outside. A mode is a selection of these ports. */
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
  /** Bars of earlier processes. Omitted: each process builds its own. */
  readonly bars?: BarsPort | undefined;
  readonly operator$: Observable<Command>;
  /** Omitted: the strategies stay as they were at the start. */
  readonly strategies?: StrategiesPort | undefined;
  /** Omitted: alerts are not recorded. */
  readonly alerts?: AlertsPort | undefined;
}
