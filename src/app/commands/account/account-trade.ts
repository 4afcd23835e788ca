import { exitCodes, OperatorError, VenueError } from '../../../core/errors.ts';
import { text } from '../../../core/money.ts';
import type { Price } from '../../../core/money.ts';
import { splitPair } from '../../../core/pairs.ts';
import { isoOf } from '../../../core/time.ts';
import type { Monotonic } from '../../../core/time.ts';
import type { Order, OrderAnswer, Quote, Side, Size } from '../../../core/venue.ts';
import type { VenuePort } from '../../../engine/ports.ts';
import { accountRoutes } from '../../../venue/account.ts';
import { tradingRoutes } from '../../../venue/routes.ts';
import { tradingVenue } from '../../../venue/trading.ts';
import type { OrderView } from '../../../wire/orders.ts';
import { orderColumns } from './account-columns.ts';
import { column, figure, printOne, safe } from './account-print.ts';
import type { Column } from './account-print.ts';
import { answerOf, confirmed, withAccount } from './account-session.ts';
import type { AccountIo, AccountOptions, MovingOptions, Session } from './account-session.ts';
import { amountInWords } from './account-text.ts';

/** Manual quote requests, and orders that execute a quote. */

const SELL_PATH = '/v1/orders/sell';
const ORDER_TIMEOUT_MS = 8_000;
/** Remaining quote life required when the order leaves: enough for the network and a slow answer. */
const LIFE_MARGIN_MS = 2_000;
/** Maximum number of quotes for one order: a person may need several before confirming. */
const QUOTES_MAX = 5;

export interface QuoteOptions extends AccountOptions {
  readonly size: Size;
}

const quoteColumns: readonly Column<Quote>[] = [
  column('quote_id', (row) => row.quoteId),
  column('pair', (row) => row.pair),
  column('side', (row) => row.side),
  figure('quantity', (row) => text(row.quantity)),
  figure('amount', (row) => text(row.amount)),
  figure('price', (row) => text(row.price)),
  column('quoted', (row) => isoOf(row.quotedAt)),
  column('expires', (row) => isoOf(row.expiresAt)),
];

/** Requests a quote and executes nothing. */
export async function quote(
  { pair, side }: { readonly pair: string; readonly side: Side },
  options: QuoteOptions,
  io: AccountIo,
): Promise<number> {
  return await withTrading(options, io, async (_, venue) => {
    const answer = await answerOf(venue.quote({ pair, side, size: options.size }));
    if (answer.kind !== 'quote') return noQuote(answer, io);
    printOne(answer.quote, quoteColumns, { ...options, out: io.stdout });
    return 0;
  });
}

export interface TradeOptions extends MovingOptions {
  readonly size: Size;
  /** Worst price, quote currency per base. */
  readonly limit?: Price | undefined;
  readonly clientId?: string | undefined;
}

/** The price that a person has confirmed; the confirmation covers any price that is not worse. */
interface Agreement {
  price?: Price | undefined;
}

/**
 * Buys or sells at a quote, at most once. If the quote expires while the person decides, a new quote replaces it; the command asks
 * again only if its price is worse. Exit codes: 0 executed or declined by the person, 75 not executed, and those of `withAccount`.
 */
export async function trade(
  { pair, side }: { readonly pair: string; readonly side: Side },
  options: TradeOptions,
  io: AccountIo,
): Promise<number> {
  if (options.clientId?.startsWith('tr-') === true)
    throw new OperatorError(
      'usage',
      '--client-id: ids that start with "tr-" are reserved for desks of this program',
    );
  return await withTrading(options, io, async (session, venue) => {
    const symbols = (await answerOf(venue.currencies())).map(({ symbol }) => symbol);
    const split = splitPair(pair, symbols);
    if ('problem' in split) throw new OperatorError('usage', split.why);
    const agreed: Agreement = {};
    const name = options.clientId ?? newId(io);
    for (let attempt = 0; attempt < QUOTES_MAX; attempt++) {
      const clientId = attempt === 0 ? name : `${name}-${attempt}`;
      const answer = await answerOf(venue.quote({ pair, side, size: options.size, clientId }));
      const receivedAt = io.clock.monotonic();
      if (answer.kind !== 'quote') return noQuote(answer, io);
      const wrong = mismatch(answer.quote, { pair, side, size: options.size, limit: options.limit });
      if (wrong !== undefined) {
        io.stderr.write(`${wrong} Nothing was done.\n`);
        return exitCodes.again;
      }
      if (!(await agrees(answer.quote, agreed, { ...split, options, io }))) return 0;
      if (!livesOn(answer.quote, receivedAt, io)) continue;
      const { quoteId } = answer.quote;
      const done = await answerOf(venue.order({ pair, side, quoteId, size: options.size, clientId }));
      return await outcome(done, { session, quote: answer.quote, clientId, options, io });
    }
    io.stderr.write('Every quote expired before it was confirmed. Nothing was executed.\n');
    return exitCodes.again;
  });
}

async function withTrading(
  options: AccountOptions,
  io: AccountIo,
  command: (session: Session, venue: VenuePort) => Promise<number>,
): Promise<number> {
  const capabilities = { orderLookup: true };
  const routes = [...accountRoutes, ...tradingRoutes(capabilities, SELL_PATH)];
  const run = async (session: Session): Promise<number> => {
    const { http, onExtras } = session;
    const venue = tradingVenue({
      http,
      capabilities,
      sellPath: SELL_PATH,
      orderTimeoutMs: ORDER_TIMEOUT_MS,
      onExtras,
    });
    return await command(session, venue);
  };
  return await withAccount(options, io, run, routes);
}

const isWorse = (side: Side, price: Price, than: Price): boolean =>
  side === 'buy' ? price.gt(than) : price.lt(than);

/** Describes how a quote differs from its request; `undefined` if it matches. */
function mismatch(
  { pair, side, price, quantity, amount }: Quote,
  wanted: Pick<TradeOptions, 'size' | 'limit'> & { readonly pair: string; readonly side: Side },
): string | undefined {
  const { size, limit } = wanted;
  const isSize = size.by === 'quantity' ? quantity.eq(size.quantity) : amount.eq(size.amount);
  if (pair !== wanted.pair || side !== wanted.side || !isSize) return 'The quote does not match the request.';
  if (limit !== undefined && isWorse(side, price, limit))
    return `The price is ${text(price)}, worse than --limit ${text(limit)}.`;
  return undefined;
}

async function agrees(
  { side, quantity, amount, price, lifeMs }: Quote,
  agreed: Agreement,
  world: {
    readonly base: string;
    readonly quote: string;
    readonly options: TradeOptions;
    readonly io: AccountIo;
  },
): Promise<boolean> {
  if (agreed.price !== undefined && !isWorse(side, price, agreed.price)) return true;
  const { base, quote: money, options, io } = world;
  const what = [
    ...(agreed.price === undefined ? [] : ['That quote has expired, and the new one is worse.']),
    `${side === 'buy' ? 'Buy' : 'Sell'} ${amountInWords(quantity, base)}`,
    `for ${amountInWords(amount, money)}`,
    `at ${text(price)} ${money} each. The quote expires in ${(lifeMs / 1000).toFixed(1)} s; a later quote replaces it unless it is worse.`,
  ];
  if (!(await confirmed(what.join('\n'), options, io))) return false;
  Object.assign(agreed, { price });
  return true;
}

const livesOn = ({ lifeMs }: Quote, receivedAt: Monotonic, io: AccountIo): boolean =>
  io.clock.monotonic() - receivedAt < lifeMs - Math.min(LIFE_MARGIN_MS, lifeMs / 4);

/** The prefix `op-` distinguishes these ids from those of desks. */
function newId({ clock, random }: AccountIo): string {
  const chance = Math.floor(random.next() * 36 ** 6);
  return `op-${clock.wall().toString(36)}-${chance.toString(36).padStart(6, '0')}`;
}

type Unquoted = Exclude<Parameters<typeof whyNot>[0], { kind: 'quote' | 'order' }>;

/** Reports why there is no quote. @throws VenueError for failures that every command reports in the same words. */
function noQuote(answer: Unquoted, { stderr }: AccountIo): number {
  const failed = { applied: 'no', attempt: 'POST /v1/quote' } as const;
  if (answer.kind === 'lost') throw new VenueError({ ...failed, code: answer.sent ? 'broken' : 'connect' });
  if (answer.kind === 'error' && (answer.status === 401 || answer.status === 403))
    throw new VenueError({ ...failed, code: 'unauthorised', status: answer.status, said: answer.error });
  stderr.write(`The venue gave no quote: ${whyNot(answer)}\n`);
  return answer.kind === 'error' && answer.status === 429 ? exitCodes.again : exitCodes.unavailable;
}

const whyNot = (
  answer:
    | { readonly kind: 'error'; readonly status: number; readonly error: string }
    | { readonly kind: 'garbled'; readonly why: string }
    | { readonly kind: 'lost'; readonly sent: boolean; readonly why: string },
): string => safe(answer.kind === 'error' ? `${answer.error} (${answer.status})` : answer.why);

interface Placed {
  readonly session: Session;
  readonly quote: Quote;
  readonly clientId: string;
  readonly options: TradeOptions;
  readonly io: AccountIo;
}

/**
 * Reports the outcome of an order. After an unclear answer it looks up the order once; it never repeats the
 * order.
 */
async function outcome(answer: OrderAnswer, placed: Placed): Promise<number> {
  const { session, clientId, io } = placed;
  if (answer.kind === 'order') return told(answer.order, placed);
  if (answer.kind === 'lost' && !answer.sent) {
    io.stderr.write(`The order was not sent: ${safe(answer.why)}. Nothing was executed.\n`);
    return exitCodes.unavailable;
  }
  io.stderr.write(`The response to the order is unclear: ${whyNot(answer)}. Looking up the order once.\n`);
  try {
    return told(await answerOf(session.venue.order(clientId)), placed);
  } catch {
    io.stderr.write(
      [
        `The order ${clientId} was not found, but it may still be booked. Before you repeat it, check:`,
        `  tranche account orders show ${clientId}`,
        '  tranche account transactions --types buy,sell\n',
      ].join('\n'),
    );
    return exitCodes.unavailable;
  }
}

function told(order: Order, { quote: taken, options, io }: Placed): number {
  const view: OrderView = {
    quantity: taken.quantity,
    price: taken.price,
    netProceeds: undefined,
    algorithm: '',
    timeInForce: '',
    updatedAt: '',
    ...order,
  };
  printOne(view, orderColumns, { ...options, out: io.stdout });
  if (!order.filled.isZero()) return 0;
  io.stderr.write(`The venue did not execute it (${safe(order.status)}): nothing was traded.\n`);
  return exitCodes.again;
}
