import re
def sub(path, pairs):
    s=open(path).read()
    for a,b in pairs:
        assert s.count(a)>=1, (path,a)
        s=s.replace(a,b,1)
    open(path,'w').write(s)

sub('src/core/venue.ts',[("export interface ValuationPoint {","""/** Credit of the account as the venue states it, USD; `undefined`: not stated. No figure follows from the others. */
export interface CreditMetrics {
  /** Amount that the account owes. */
  readonly exposure: Money | undefined;
  /** What it may still borrow. */
  readonly availableExposure: Money | undefined;
  readonly exposureLimit: Money | undefined;
  /** Holdings minus debts. */
  readonly equity: Money | undefined;
  readonly equityForWithdrawals: Money | undefined;
  /** The venue settles positions while equity divided by exposure is below this. */
  readonly liquidationLevel: Ratio | undefined;
}

export interface ValuationPoint {""")])

s=open('src/wire/pts.ts').read()
a=s.index('/** All amounts are in USD. */'); b=s.index("export const marginTypes")
s=s[:a]+"""/** The metrics of a venue that states all of them. */
export type PtsMetrics = { readonly [Key in keyof CreditMetrics]-?: NonNullable<CreditMetrics[Key]> };

/** The metrics, USD, in the reply of their route and in the messages of their feed. */
export const metricsFields = z.object({
  exposure: wireMoney.nullish().describe('USD'),
  available_exposure: wireMoney.nullish().describe('USD'),
  exposure_limit: wireMoney.nullish().describe('USD'),
  equity: wireMoney.nullish().describe('USD'),
  equity_for_withdrawals: wireMoney.nullish().describe('USD'),
  liquidation_level: wireRatio.nullish().describe('equity / exposure; the feed states it, the route does not'),
});
export const metricsOf = (body: z.output<typeof metricsFields>): CreditMetrics => ({
  exposure: body.exposure ?? undefined,
  availableExposure: body.available_exposure ?? undefined,
  exposureLimit: body.exposure_limit ?? undefined,
  equity: body.equity ?? undefined,
  equityForWithdrawals: body.equity_for_withdrawals ?? undefined,
  liquidationLevel: body.liquidation_level ?? undefined,
});

/** `GET /v1/post-trade-settlement`. */
export const ptsMetricsSchema = metricsFields.transform(metricsOf);
export const ptsMetricsBody = (metrics: PtsMetrics): object => ({
  exposure: numberOf(metrics.exposure),
  available_exposure: numberOf(metrics.availableExposure),
  exposure_limit: numberOf(metrics.exposureLimit),
  equity: numberOf(metrics.equity),
  equity_for_withdrawals: numberOf(metrics.equityForWithdrawals),
});

"""+s[b:]
s=s.replace("import type { Money, Price, Quantity, Ratio } from '../core/money.ts';","import type { Price, Quantity, Ratio } from '../core/money.ts';").replace("import type { Instant } from '../core/time.ts';\n","import type { Instant } from '../core/time.ts';\nimport type { CreditMetrics } from '../core/venue.ts';\n")
open('src/wire/pts.ts','w').write(s)

sub('src/wire/message.ts',[("'equity_for_withdrawals', 'current_loan_qty'","'equity_for_withdrawals', 'liquidation_level', 'current_loan_qty'")])
s=open('src/wire/feeds/feed-payloads.ts').read()
a=s.index("export const settlementSchema"); 
s=s[:a]+"export const settlementSchema = metricsFields.extend({ enabled: z.boolean() });\n"
s=s.replace("from '../message.ts';\n","from '../message.ts';\nimport { metricsFields } from '../pts.ts';\n",1)
open('src/wire/feeds/feed-payloads.ts','w').write(s)
sub('src/wire/feeds/feed.ts',[("'trade' | 'balances' | 'orders' | 'fills' | 'settlement' }","'trade' | 'balances' | 'orders' | 'fills' }\n  | { readonly of: 'settlement'; readonly metrics: CreditMetrics }"),
 ("known(settlementSchema, () => ({ of: 'settlement' }))","known(settlementSchema, (body) => ({\n    of: 'settlement',\n    metrics: metricsOf(body),\n  }))"),
 ("import type { Instant } from '../../core/time.ts';\n","import type { Instant } from '../../core/time.ts';\nimport type { CreditMetrics } from '../../core/venue.ts';\n"),
 ("import { isObject, readBody, readMessage } from '../message.ts';","import { isObject, readBody, readMessage } from '../message.ts';\nimport { metricsOf } from '../pts.ts';")])
sub('src/wire/feeds/feed-bodies.ts',[("""/**
 * Returns the payload of the settlement feed. Amounts are strings. Liquidation is not simulated; its level is that of an account
 * without positions.
 */""","/** Returns the payload of the settlement feed. Amounts are strings. */"),("liquidation_level: '0',","liquidation_level: text(metrics.liquidationLevel),")])
sub('src/wire/routes.ts',[("reply: { status: 200, schema: ptsMetricsSchema },","reply: { status: 200, schema: ptsMetricsSchema },\n    desk: 'always',")])
sub('src/engine/ports.ts',[("  /** Portfolio value in USD since","  /** Credit of the account. `GET /v1/post-trade-settlement`, which states no liquidation level. */\n  creditMetrics(): Observable<CreditMetrics>;\n\n  /** Portfolio value in USD since"),("  Balance,\n  Currency,\n","  Balance,\n  CreditMetrics,\n  Currency,\n"),
("export interface AccountFeedPort {\n  readonly hints$: Observable<AccountHint>;","""export interface AccountFeedPort {
  readonly hints$: Observable<AccountHint>;
  /**
   * Credit of the account, after each transaction. The desk uses the liquidation level, which only the feed states, and then
   * reads the other figures, because prices move them without a message.
   */
  readonly credit$?: Observable<CreditMetrics> | undefined;""")])
sub('src/venue/trading.ts',[("    valuation: (from) =>","    creditMetrics: () => list('risk metrics', on.ptsMetrics.path, ptsMetricsSchema),\n    valuation: (from) =>"),("import { quoteRequestBody } from '../wire/quote.ts';","import { ptsMetricsSchema } from '../wire/pts.ts';\nimport { quoteRequestBody } from '../wire/quote.ts';")])
sub('src/simulator/port.ts',[("    valuation: (since) =>","    creditMetrics: () => read('risk metrics', () => exchange.metrics(account, now())),\n    valuation: (since) =>")])
sub('test/simulation/owners/ways.ts',[("    valuation: (from) => read('valuation'","    creditMetrics: () => read('metrics', () => venue.creditMetrics()),\n    valuation: (from) => read('valuation'")])
sub('src/venue/socket-account.ts',[("import { filter, map, throttleTime } from 'rxjs';","import { filter, map, share, throttleTime } from 'rxjs';"),
("const FEEDS = ['private.user.balances', 'private.user.open-orders', 'private.user.trades'];","const FEEDS = ['balances', 'open-orders', 'trades', 'post-trade-settlement'].map(\n  (name) => `private.user.${name}`,\n);"),
("""  const hints$ = venueFeed({ ...options, feeds: FEEDS }).pipe(
    map(hintOf),""","""  const signals$ = venueFeed({ ...options, feeds: FEEDS }).pipe(share());
  const hints$ = signals$.pipe(
    map(hintOf),"""),
("  return { hints$ };","""  const credit$ = signals$.pipe(
    map((signal) =>
      signal.signal === 'data' && signal.data.of === 'settlement' ? signal.data.metrics : undefined,
    ),
    filter((metrics) => metrics !== undefined),
  );
  return { hints$, credit$ };""")])
sub('src/simulator/feeds/feed-source.ts',[("  equityForWithdrawals: NO_MONEY,\n};","  equityForWithdrawals: NO_MONEY,\n  liquidationLevel: NOTHING,\n};"),("import { NO_MONEY, text }","import { NO_MONEY, NOTHING, text }")])
sub('src/simulator/options/options.ts',[("""  credit_limit_usd: decimal.default('250000').describe('Largest total debt of an account, USD'),""","""  credit_limit_usd: decimal.default('250000').describe('Largest total debt of an account, USD'),
  liquidation_level: decimal
    .default('0.1')
    .describe('Equity divided by debt below which the venue settles positions; "0": never'),""")])
sub('src/simulator/exchange/credit.ts',[("      equityForWithdrawals: greatest(subtract(equity, exposure), NO_MONEY),","      equityForWithdrawals: greatest(subtract(equity, exposure), NO_MONEY),\n      liquidationLevel: ratio(this.options.liquidationLevel),")])
