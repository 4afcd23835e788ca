def sub(path, pairs):
    s=open(path).read()
    for a,b in pairs:
        assert s.count(a)>=1, (path,a)
        s=s.replace(a,b,1)
    open(path,'w').write(s)
s=open('src/venue/socket-account.ts').read()
s=s.replace("import { filter, map, share, throttleTime }","import { filter, map, throttleTime }").replace("venueFeed({ ...options, feeds: FEEDS }).pipe(share());","venueFeed({ ...options, feeds: [...FEEDS, ...(hasCredit ? [CREDIT] : [])] });")
s=s.replace("""const FEEDS = ['balances', 'open-orders', 'trades', 'post-trade-settlement'].map(
  (name) => `private.user.${name}`,
);""","""const FEEDS = ['private.user.balances', 'private.user.open-orders', 'private.user.trades'];
const CREDIT = 'private.user.post-trade-settlement';""")
s=s.replace("export type AccountFeedOptions = Omit<FeedOptions, 'feeds' | 'quietMs'>;","""export type AccountFeedOptions = Omit<FeedOptions, 'feeds' | 'quietMs'> & {
  /** Whether to subscribe to the feed of the credit; an account without post-trade settlement may lack it. */
  readonly hasCredit?: boolean | undefined;
};""")
s=s.replace("export function accountFeed(options: AccountFeedOptions)","export function accountFeed({ hasCredit = false, ...options }: AccountFeedOptions)")
s=s.replace(""" * Hints that the account has changed, or that a change may have been missed. Does not pass on the content of the feeds,
 * because they may lag, repeat or lie. The desk reads the account's transactions instead.""",""" * Hints that the account has changed, or that a change may have been missed. Does not pass on the content of the feeds, except
 * that of the credit, because they may lag, repeat or lie. The desk reads the account's transactions instead.""")
open('src/venue/socket-account.ts','w').write(s)

sub('src/app/daemon/modes.ts',[("accountFeed: capabilities.accountFeed && feed !== undefined ? await accountHints(feed) : undefined,","accountFeed:\n      capabilities.accountFeed && feed !== undefined\n        ? await accountHints({ ...feed, hasCredit: config.pts.use !== 'never' })\n        : undefined,"),
("async function accountHints(wanted: FeedWanted): Promise<AccountFeedPort> {","async function accountHints(\n  wanted: FeedWanted & { readonly hasCredit: boolean },\n): Promise<AccountFeedPort> {")])

sub('src/engine/market/pts-watch.ts',[
("type Terms = 'risk modes' | 'funding rates';","type Terms = 'risk modes' | 'funding rates' | 'risk metrics';"),
("""import type { FundingRate, RiskMode } from '../../core/venue.ts';""","""import type { CreditMetrics, FundingRate, RiskMode } from '../../core/venue.ts';"""),
("import type { Ratio } from '../../core/money.ts';","import type { Money, Quantity, Ratio } from '../../core/money.ts';"),
("/**\n * Polls risk modes and funding rates.","""/** The metrics that the venue stated, and what the desk knew when it asked for them. */
interface StatedCredit {
  readonly metrics: CreditMetrics;
  readonly at: Monotonic;
  /** What the account owed then, USD; `undefined` if that could not be valued. */
  readonly owed: Money | undefined;
  /** The balances then. */
  readonly balances: ReadonlyMap<string, Quantity>;
}

/** What the desk knows of its account. */
interface Account {
  owed(): Money | undefined;
  balances(): ReadonlyMap<string, Quantity>;
}

/**
 * Polls risk modes, funding rates and risk metrics."""),
("  readonly #observer: Observer;\n","  readonly #observer: Observer;\n  readonly #account: Account;\n"),
("  constructor(ports: Ports, policy: DeskSettings, rateLimiter: RateLimiter, observer: Observer) {\n    this.#ports = ports;\n    this.#policy = policy;\n    this.#rateLimiter = rateLimiter;\n    this.#observer = observer;\n","""  #credit: StatedCredit | undefined;
  /** However old, because it is a term of the account that seldom changes. */
  #level: Ratio | undefined;

  constructor({ ports, policy, rateLimiter, observer }: PtsContext, account: Account) {
    this.#ports = ports;
    this.#policy = policy;
    this.#rateLimiter = rateLimiter;
    this.#observer = observer;
    this.#account = account;
"""),
("interface Waiting {","""type PtsContext = Readonly<{ ports: Ports; policy: DeskSettings; rateLimiter: RateLimiter; observer: Observer }>;

interface Waiting {"""),
("""    const isMissing = (what: Terms): boolean =>
      (what === 'risk modes' ? this.#modes : this.#rates) === undefined && !this.#refused.has(what);
    return isMissing('risk modes') || (carryBpsMax !== undefined && isMissing('funding rates'));""","""    const isMissing = (what: Terms, known: unknown): boolean =>
      known === undefined && !this.#refused.has(what);
    return (
      isMissing('risk modes', this.#modes) ||
      isMissing('risk metrics', this.#credit) ||
      (carryBpsMax !== undefined && isMissing('funding rates', this.#rates))
    );"""),
("  /** Emits once both values are fresh or could not be read. */","""  /** The credit that the venue stated; `undefined` if it is unknown or stale. */
  stated(): StatedCredit | undefined {
    return this.#isFresh(this.#credit) ? this.#credit : undefined;
  }

  /** Equity divided by exposure below which the venue settles positions; `undefined` if the venue has not stated it. */
  get level(): Ratio | undefined {
    return this.#level;
  }

  /** Emits once both values are fresh or could not be read. */"""),
("""    const wait = defer(() => timer(this.#waitMs(), clock.scheduler)).pipe(ignoreElements());
    return concat(polled, wait).pipe(repeat());""","""    const wait = defer(() => timer(this.#waitMs(), clock.scheduler)).pipe(ignoreElements());
    const told = (use === 'never' ? undefined : this.#ports.accountFeed?.credit$)?.pipe(
      tap(({ liquidationLevel }) => {
        this.#level = liquidationLevel ?? this.#level;
      }),
      throttleTime(SOON_MS, clock.scheduler, { leading: true, trailing: true }),
      switchMap(() => concat(this.#tolerant('risk metrics', this.#readMetrics()), of(undefined))),
      map(() => undefined),
    );
    return merge(concat(polled, wait).pipe(repeat()), told ?? EMPTY);"""),
("    return forkJoin([this.#tolerant('risk modes', modes), this.#tolerant('funding rates', rates)]).pipe(\n      ignoreElements(),\n    );\n  }\n","""    const { use } = this.#policy.pts;
    return forkJoin([
      this.#tolerant('risk modes', modes),
      this.#tolerant('funding rates', rates),
      use === 'never' ? EMPTY : this.#tolerant('risk metrics', this.#readMetrics()),
    ]).pipe(ignoreElements());
  }

  #readMetrics(): Observable<unknown> {
    return defer(() => {
      // Known before the request, so that no order counts as part of metrics that do not include it.
      const known = {
        owed: this.#account.owed(),
        balances: this.#account.balances(),
        at: this.#ports.clock.monotonic(),
      };
      return this.#paced(this.#ports.venue.creditMetrics()).pipe(
        tap((metrics) => {
          this.#level = metrics.liquidationLevel ?? this.#level;
          this.#credit = { metrics, ...known };
        }),
      );
    });
  }
"""),
("  switchMap,\n" if False else "  take,\n","  switchMap,\n  take,\n"),
("  tap,\n  timer,","  tap,\n  throttleTime,\n  timer,"),
("const FIRST_RETRY_MS = 1_000;","const FIRST_RETRY_MS = 1_000;\n/** Shortest time between two reads that messages of the feed cause. */\nconst SOON_MS = 1_000;"),
])
