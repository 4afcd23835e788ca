import type { KnownRows } from '../../src/core/account/rows.ts';
import type { Instrument } from '../../src/core/instrument.ts';
import { money, price, quantity, ratio } from '../../src/core/money.ts';
import type { IntentRecord } from '../../src/core/record.ts';
import type { Limits, Proposal, RiskContext } from '../../src/core/risk/limits.ts';
import { instant } from '../../src/core/time.ts';
import type { Order, OrderRequest, Quote, QuoteRequest, Side, Transaction } from '../../src/core/venue.ts';

/** Buys 0.5 btc at 60000: 30000 usd, alive for 15 seconds. Builders show only what matters to a test. */
export const BTCUSD: Instrument = {
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  basePrecision: 8,
  quotePrecision: 2,
  minimum: {},
};

export const aQuoteRequest = (over: Partial<QuoteRequest> = {}): QuoteRequest => ({
  pair: 'btcusd',
  side: 'buy',
  size: { by: 'quantity', quantity: quantity('0.5') },
  clientId: 'c-1',
  ...over,
});

const AT = Date.UTC(2026, 11, 1, 9);

export const aQuote = (over: Partial<Quote> = {}): Quote => ({
  quoteId: 'q-1',
  pair: 'btcusd',
  side: 'buy',
  quantity: quantity('0.5'),
  amount: money('30000'),
  price: price('60000'),
  quotedAt: instant(AT),
  expiresAt: instant(AT + 15_000),
  lifeMs: 15_000,
  ...over,
});

export const anOrderRequest = (over: Partial<OrderRequest> = {}): OrderRequest => ({
  pair: 'btcusd',
  side: 'buy',
  quoteId: 'q-1',
  size: { by: 'quantity', quantity: quantity('0.5') },
  clientId: 'c-1',
  ...over,
});

export const anOrder = (over: Partial<Order> = {}): Order => ({
  orderId: '77',
  clientId: 'c-1',
  quoteId: 'q-1',
  pair: 'btcusd',
  side: 'buy',
  status: 'Done',
  filled: quantity('0.5'),
  filledAmount: money('30000'),
  vwap: price('60000'),
  fees: money('0'),
  ...over,
});

/** The intent of `aQuoteRequest`. */
export const anIntent = (over: Partial<IntentRecord> = {}): IntentRecord => ({
  kind: 'intent',
  client_order_id: 'c-1',
  strategy: 's',
  parent: 'p',
  slice: 0,
  attempt: 0,
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  side: 'buy',
  by: 'quantity',
  size: '0.5',
  worst_price: '60600',
  reference_price: '60000',
  notional_usd: '30300',
  cuts: [],
  ...over,
});

let rows = 0;
/** A row of the account: by default the base leg of `anOrder`. Ids rise. */
export const aRow = (over: Partial<Transaction> = {}): Transaction => ({
  id: String(++rows),
  orderId: '77',
  clientId: 'c-1',
  tradeId: 't-1',
  at: instant(1_000),
  action: 'buy',
  currency: 'btc',
  amount: quantity('0.5'),
  price: undefined,
  fees: quantity('0'),
  status: 'done',
  balance: quantity('1'),
  ...over,
});

/** What the journal knows of rows; by default nothing. */
export const aKnown = (
  over: {
    readonly orders?: Readonly<Record<string, string>>;
    readonly fills?: Readonly<Record<string, string>>;
    readonly words?: Readonly<Record<string, string | undefined>>;
    /** Record numbers by id of the row. */
    readonly seen?: Readonly<Record<string, number>>;
    readonly echoesIds?: boolean;
  } = {},
): KnownRows => ({
  orderOf: (id) => over.orders?.[id],
  fillOf: (id) => over.fills?.[id],
  wordOn: (id) => (over.words !== undefined && id in over.words ? { ours: over.words[id] } : undefined),
  seenAt: ({ id }) => over.seen?.[id],
  echoesIds: over.echoesIds ?? false,
});

/** Both legs of a trade, as the venue books it: what comes in is positive, what goes out negative. */
export const aTrade = (
  side: Side,
  base: string,
  quote: string,
  over: Partial<Transaction> = {},
): Transaction[] => {
  const [into, from] = side === 'buy' ? ['', '-'] : ['-', ''];
  const baseLeg = { currency: 'btc', amount: quantity(into + base), fees: quantity('0') };
  const quoteLeg = { currency: 'usd', amount: quantity(from + quote), fees: quantity('1.5') };
  return [aRow({ action: side, ...over, ...baseLeg }), aRow({ action: side, ...over, ...quoteLeg })];
};

/** Buys 1 btc at 60000: 60000 usd, which is what the reference says. */
export const aProposal = (over: Partial<Proposal> = {}): Proposal => ({
  pair: 'btcusd',
  side: 'buy',
  quantity: quantity('1'),
  price: price('60000'),
  notional: money('60000'),
  limit: undefined,
  reference: price('60000'),
  decisionPrice: undefined,
  ...over,
});
/** What the controls know of the desk: nothing that refuses an order. */
export const aRiskContext = (over: Partial<RiskContext> = {}): RiskContext => ({
  control: 'active',
  isStopping: false,
  openDoubts: 0,
  pairDoubts: 0,
  dayNotional: money('0'),
  at: instant(Date.UTC(2026, 0, 5, 12)),
  pausedWhy: undefined,
  blind: undefined,
  doubtNotional: money('0'),
  pairDayNotional: money('0'),
  referenceGapBps: undefined,
  referenceGapBpsMax: undefined,
  isReducing: false,
  gives: { currency: 'usd', after: quantity('100') },
  gets: { currency: 'btc', after: quantity('10') },
  repeats: {
    isReused: false,
    duplicate: undefined,
    inMinute: 0,
    ofParent: 0,
    planned: undefined,
    gapUntil: undefined,
  },
  caps: {
    asked: quantity('1'),
    parentDone: quantity('0'),
    parentMax: undefined,
    slice: quantity('1'),
    slicePlanned: undefined,
  },
  ...over,
});
export const theLimits = (over: Partial<Limits> = {}): Limits => ({
  currency: 'usd',
  orderNotionalMax: undefined,
  dayNotionalMax: undefined,
  orderQuantityMax: new Map(),
  collarBps: ratio('50'),
  driftBpsMax: undefined,
  openDoubtsMax: 3,
  pairs: undefined,
  sides: new Set(['buy', 'sell']),
  ...over,
});
