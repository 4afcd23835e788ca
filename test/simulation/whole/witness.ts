import type { Line } from '../../../src/journal/proof/chain.ts';
import type { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import type { Answer } from '../../../src/simulator/http/deliver.ts';
import { shown, units } from './exact.ts';
import type { Units } from './exact.ts';
import type { Trace } from '../chance.ts';
import type { Violation } from '../scenario.ts';
import type { Flight, Tap } from './network.ts';

/** What is known of the process that sends. */
export interface Sender {
  /** Counts processes, from 1. */
  readonly boot: number;
  /** Something stood still or stepped in its life: what rests on durations is not judged. */
  readonly wasDisturbed: boolean;
  /** May speak to the venue: it has the journal. */
  readonly hasJournal: boolean;
}

export interface WitnessOptions {
  readonly exchange: Exchange;
  /** True time since the run began. */
  readonly now: () => number;
  readonly trace: Trace;
  /** Takes a line for everything that happens. */
  readonly tell: ((line: string) => void) | undefined;
  readonly token: string;
  /** Longest time before the end of a quote at which an order may still leave. */
  readonly orderTimeMs: number;
  readonly openDoubtsMax: number;
  /** Largest order, quote currency. */
  readonly orderNotionalMax: string;
  /** Most that may be traded in a day, quote currency; `undefined` when it is not judged. */
  readonly dayNotionalMax: string | undefined;
  /** Everything that the strategies may trade: by `pair side`, base or quote. */
  readonly caps: readonly Cap[];
  readonly windows: { readonly quotesPerSecond: number; readonly readMs: number };
  readonly sometimes: (name: string) => void;
  /** The venue has broken its word: what rests on it is judged otherwise. */
  readonly isBroken: () => boolean;
}

/** The most that one strategy may trade. */
export interface Cap {
  readonly strategy: string;
  readonly by: 'quantity' | 'amount';
  readonly size: string;
  readonly limit: string | undefined;
  readonly side: 'buy' | 'sell';
  /** Most that one slice may be of, whatever was missed before. */
  readonly sliceMax: string | undefined;
  /** The sum of orders that have nothing to do with one another: what one trades too much the next does not take off. */
  readonly isRepeated?: true | undefined;
}

interface Intended {
  readonly pair: string;
  readonly side: string;
  readonly strategy: string;
  readonly slice: string;
  readonly notional: Units;
}

interface Decided {
  readonly by: string;
  readonly size: Units;
  readonly strategy: string;
}

interface Given {
  readonly quoteId: string;
  readonly sentAt: number;
  readonly lifeMs: number;
  readonly amount: Units;
  readonly price: Units;
  readonly boot: number;
}

interface Sent {
  readonly body: string;
  readonly path: string;
  readonly boot: number;
  readonly flights: Flight[];
  readonly amount: Units;
}

/** One executed order of ours, folded from the rows of the ledger: all trades that it was booked as. */
export interface Trade {
  readonly orderId: string;
  readonly clientId: string;
  pair: string;
  side: string;
  quantity: Units;
  amount: Units;
}

const ALLOWED: readonly RegExp[] = [
  /^POST \/v1\/quote$/u,
  /^POST \/v1\/orders\/(?:buy|sell)$/u,
  /^GET \/v1\/account\/transactions\?/u,
  /^GET \/v1\/currency$/u,
  /^GET \/v1\/post-trade-settlement\/?(?:interest|risk-modes)?$/u,
  /^GET \/v1\/account\/balance\/history\?/u,
  /^GET \/v1\/user\/balance$/u,
  /^GET \/v1\/markets\/currency-pairs$/u,
  /^GET \/v1\/orders\/tr-[a-z0-9-]+$/u,
  /^DELETE \/v1\/orders\/[A-Za-z0-9-]+$/u,
];

/** A file that somebody left is found within this time. */
const LOOK_MS = 1_500;

const memberOf = (body: string, name: string): string =>
  new RegExp(`"${name}":"?(?<value>[^",}]*)`, 'u').exec(body)?.groups?.['value'] ?? '';
/** `parent/slice` of a client id, by its shape. */
export const sliceOf = (clientId: string): string => clientId.split('-').slice(2, 4).join('/');
const parentOf = (clientId: string): string => clientId.split('-')[2] ?? '';
export const attemptOf = (clientId: string): number => Number.parseInt(clientId.split('-')[4] ?? '', 36);

/**
 * Sees every byte that passes the wire and every byte that the disk holds, keeps the books of the venue once more, and says
 * what was not to happen. It shares no code with the engine.
 */
export class Witness implements Tap {
  readonly violations: Violation[] = [];
  readonly trades: Trade[] = [];
  /** True times of arrivals at the venue. */
  readonly arrivals = new Map<'quote' | 'transactions', number[]>([
    ['quote', []],
    ['transactions', []],
  ]);
  /** Counts what happened. */
  events = 0;
  sender: Sender = { boot: 0, wasDisturbed: false, hasJournal: false };
  /** Orders must not leave while this is set: the operator, or the journal, has halted the desk. */
  haltedAt: number | undefined;
  readonly fills = new Map<string, { quantity: Units; amount: Units; fees: Fees }>();
  /** Order ids of trades of others on the same account. */
  readonly foreign = new Set<string>();
  readonly sent = new Map<string, Sent>();
  /** Attempts whose figures were lied about on the wire. */
  readonly lied = new Set<string>();
  /** The wall clock of the desk has shown another day: what counts for a limit is not judged. */
  hasDayChanged = false;
  readonly #options: WitnessOptions;
  readonly #account: string;
  readonly #intended = new Map<string, Intended>();
  /** Attempts whose first quote was asked for, and whether the desk was paused then. */
  readonly #asked = new Map<string, { readonly isPaused: boolean }>();
  readonly #decided = new Map<string, Decided>();
  /** Wakes of the calendar and slices that were decided, by what is durable. */
  readonly #once = new Set<string>();
  readonly #strategyOf = new Map<string, string>();
  /** How attempts were closed, by what is durable. */
  readonly closed = new Map<string, string>();
  readonly #doubts = new Set<string>();
  readonly #given = new Map<string, Given[]>();
  readonly #swapped = new Set<string>();
  /** Every quote that the venue gave, by its id. */
  readonly #quotes = new Map<string, string>();
  /** What each fill lacks of its order, as the journal tells it. */
  readonly #lacking = new Map<string, { quantity: Units; amount: Units }>();
  readonly #byOrder = new Map<string, Trade>();
  /** Ids of which more was booked than an order may trade, and of which nobody has stopped the desk. */
  readonly #unstopped = new Set<string>();
  /** What alerts were about. */
  readonly #alerts: string[] = [];
  #isHalted = false;
  /** When the journal paused the desk without an end. */
  #isPaused = false;
  #rowsSeen = 0;

  constructor(options: WitnessOptions) {
    this.#options = options;
    this.#account = options.exchange.accounts[0]?.name ?? '';
  }

  note(line: string): void {
    const { trace, tell, now } = this.#options;
    this.events++;
    trace.add(now());
    trace.add(line);
    tell?.(`${(now() / 1_000).toFixed(3).padStart(10)} ${line}`);
  }

  alerted(id: string, facts: unknown): void {
    this.note(`alert ${id}`);
    const { trades = '' } = facts as { trades?: string };
    if (id === 'foreign_trades' && trades.split(', ').some((each) => this.settlements.includes(each)))
      this.blame('I18', `a settlement by the venue is reported as a trade of others: ${trades}`);
    if (this.#options.isBroken()) this.#alerts.push(JSON.stringify(facts) ?? '');
  }

  /** Ids of the rows of settlements by the venue, as it lists them. */
  get settlements(): readonly string[] {
    const { ledger, options } = this.#options.exchange;
    const offset = BigInt(options.lists?.idOffset ?? 0);
    const rows = ledger
      .rows(this.#account)
      .filter(({ description = '' }) => description.startsWith('settlement'));
    return rows.map(({ id }) => String(BigInt(id) + offset));
  }

  blame(invariant: string, what: string): void {
    if (this.violations.length > 20) return;
    this.violations.push({ invariant, detail: what, atMs: this.#options.now(), event: this.events });
    this.note(`!! ${invariant} ${what}`);
  }

  /** Lines of the journal have become durable. */
  durable(lines: readonly Line[]): void {
    for (const { seq, kind, body, hash } of lines) {
      this.note(`journal ${seq} ${kind} ${hash}`);
      if (kind === 'balances' || kind === 'quote' || kind === 'started') continue;
      this.#learn(kind, JSON.parse(body) as Body);
    }
  }

  #learn(kind: string, body: Body): void {
    const id = body.client_order_id ?? '';
    switch (kind) {
      case 'intent':
        this.#intended.set(id, {
          pair: body.pair ?? '',
          side: body.side ?? '',
          strategy: body.strategy ?? '',
          slice: `${body.parent}/${body.slice}`,
          notional: units(body.notional_usd ?? '0'),
        });
        return;
      case 'wake':
        if (body.on === 'at') this.#isOnce(`the wake of ${body.strategy} at ${JSON.stringify(body.detail)}`);
        for (const each of body.intents ?? []) {
          const strategy = body.strategy ?? '';
          this.#strategyOf.set(each.parent, strategy);
          this.#isOnce(`slice ${each.parent}/${each.slice}`);
          const slice = `${each.parent}/${each.slice.toString(36)}`;
          // Where the journal was put back it may be decided again, and smaller: what traded before was within what it was then.
          const before = this.#decided.get(slice)?.size ?? 0n;
          const size = units(each.size) > before ? units(each.size) : before;
          this.#decided.set(slice, { by: each.by, size, strategy });
          const most = this.#options.caps.find((cap) => cap.strategy === strategy)?.sliceMax;
          if (most !== undefined && units(each.size) > units(most))
            this.blame('I7', `${each.parent}/${each.slice} is decided at ${each.size}, at most ${most} is one and a half slices`); // prettier-ignore
        }
        this.#withinTotal(body);
        return;
      case 'attempt':
        if (body.result === 'doubt') this.#doubts.add(id);
        else {
          this.#doubts.delete(id);
          this.#close(id, body.result ?? '');
        }
        return;
      case 'fill':
        this.#doubts.delete(id);
        if (this.closed.get(id) !== undefined && this.closed.get(id) !== 'filled') this.#mustHalt(id);
        this.closed.set(id, 'filled');
        if (this.fills.has(id) && !this.#options.isBroken()) this.blame('I11', `${id} was filled twice`);
        this.#book(id, body);
        return;
      case 'correction':
        this.#options.sometimes('a fill was corrected');
        this.#book(id, body);
        return;
      case 'control':
        // A strategy, a parent or a pair is stopped or goes on: that is not the desk.
        if ((body.strategy ?? body.parent ?? body.pair) !== undefined) return;
        this.#isHalted = body.state === 'halted';
        this.#isPaused = body.state === 'paused' && body.until === undefined;
        if (this.#isHalted) {
          this.#unstopped.clear();
          this.haltedAt ??= this.#options.now();
        } else this.haltedAt = undefined;
        return;
      default:
    }
  }

  /** The journal tells these figures of an order. */
  #book(id: string, body: Body): void {
    const told = {
      quantity: units(body.quantity ?? '0'),
      amount: units(body.amount ?? '0'),
      fees: feesOf(body),
    };
    const before = this.fills.get(id);
    this.fills.set(id, told);
    const { quantity = '0', amount = '0' } = body.missing ?? {};
    this.#lacking.set(id, { quantity: units(quantity), amount: units(amount) });
    this.worked();
    const [first, second] = this.trades.filter(({ clientId }) => clientId === id);
    if (first === undefined) return;
    const isMore = told.quantity > first.quantity || told.amount > first.amount;
    // A person who re-armed the desk has seen it: what is amended afterwards is no further execution.
    if (
      isMore &&
      second !== undefined &&
      !((before?.quantity ?? 0n) > first.quantity && before?.quantity === told.quantity)
    )
      this.#mustHalt(id);
    if (isMore || this.lied.has(id) || this.#options.isBroken()) return;
    if (body.was_quantity !== undefined && told.quantity !== first.quantity && told.quantity !== this.#ledgerNow().get(id)?.quantity)
      this.blame('I16', `${id} is corrected to ${shown(told.quantity)}, and ${shown(first.quantity)} was executed`); // prettier-ignore
  }

  #mustHalt(id: string): void {
    if (!this.#isHalted) this.#unstopped.add(id);
  }

  /** What a strategy decides, with all that the journal knows of its trades, is no more than its total. */
  #withinTotal({ strategy = '', intents = [] }: Body): void {
    const cap = this.#options.caps.find((each) => each.strategy === strategy);
    if (cap === undefined || cap.isRepeated === true || intents.length === 0) return;
    let sum = 0n;
    // A journal that was put back decides a slice once more that has traded: it trades what is left of it.
    const decided = new Set(intents.map(({ parent, slice }) => `${parent}/${slice}`));
    for (const { by, size } of intents) if (by === cap.by) sum += units(size);
    for (const [id, told] of this.fills)
      if (this.#strategyOf.get(parentOf(id)) === strategy && !this.lied.has(id) && !decided.has(sliceOf(id)))
        sum += told[cap.by];
    if (sum > units(cap.size))
      this.blame('I1', `${strategy} decides to come to ${shown(sum)}, its total is ${cap.size}`);
  }

  #isOnce(what: string): void {
    if (this.#once.has(what)) this.blame('I1', `${what} was decided twice`);
    this.#once.add(what);
  }

  #close(id: string, result: string): void {
    if (result !== 'filled') this.closed.set(id, result);
    if (result === 'absent') this.#options.sometimes('doubt resolved by absence');
    if (result === 'filled' || this.#options.isBroken()) return;
    const traded = this.trades.find((trade) => trade.clientId === id);
    if (traded !== undefined) this.blame('I1', `${id} was written off as ${result}, and had traded`);
    const flying = this.sent.get(id)?.flights.some(({ arrivedAt }) => arrivedAt.length === 0) === true;
    if (flying && result === 'absent')
      this.#options.sometimes('proven absent with a request still under way');
  }

  /** What the journal says counts, and nothing that it said before. */
  relearn(records: readonly Line[]): void {
    this.fills.clear();
    this.closed.clear();
    this.#once.clear();
    this.#doubts.clear();
    this.haltedAt = undefined;
    this.#isPaused = false;
    for (const { kind, body } of records) {
      if (['intent', 'wake', 'attempt', 'fill', 'correction', 'control'].includes(kind))
        this.#learn(kind, JSON.parse(body) as Body);
    }
  }

  /** The journal was put back to an older state: nobody knows of orders that it does not name. */
  rolledBack(): void {
    this.sent.clear();
  }

  /** No order may start from here on; quotes end as soon as the desk has looked. */
  halted(at: number): void {
    this.haltedAt ??= at;
  }

  leaving(flight: Flight): void {
    const { method, path, body = '' } = flight.outgoing;
    this.note(`> ${flight.point} ${method} ${path} ${body}`);
    if (!this.sender.hasJournal) this.blame('I17', `${flight.point} left without the journal`);
    if (!ALLOWED.some((shape) => shape.test(`${method} ${path}`))) this.blame('I19', `${method} ${path}`);
    if (`${path} ${body}`.includes(this.#options.token)) this.blame('I15', `the token in ${flight.point}`);
    if (method === 'POST' && path === '/v1/quote') this.#quoteLeaves(body);
    else if (method === 'POST') this.#orderLeaves(flight, body);
  }

  #quoteLeaves(body: string): void {
    const id = memberOf(body, 'client_quote_id');
    if (
      this.haltedAt !== undefined &&
      this.haltedAt + LOOK_MS < this.#options.now() &&
      !this.sender.wasDisturbed
    )
      this.blame('I6', `a quote for ${id === '' ? 'a probe' : id} was asked for on a halted desk`);
    if (id === '') return;
    if (!this.#asked.has(id)) this.#asked.set(id, { isPaused: this.#isPaused });
    for (const each of this.#unstopped)
      this.blame('I6', `a quote of ${id} is asked for, and nobody has stopped the desk over ${each}`);
    // A quote that was asked for and not ordered is harmless; one that was ordered is used up with its id.
    if (this.sent.has(id)) this.blame('I5', `a quote is asked for with ${id}, of which an order left`);
    this.#mayGoOn(id, 'quote');
  }

  /** No quote and no order for a slice of which another attempt may have traded. */
  #mayGoOn(id: string, what: string): void {
    const slice = sliceOf(id);
    for (const other of this.sent.keys()) {
      if (other === id || sliceOf(other) !== slice || this.closed.has(other)) continue;
      this.blame('I4', `a ${what} of ${id} leaves while the outcome of ${other} is open`);
    }
    // All of it: what is missing of a trade that is known in part would be traded again. That holds for every venue.
    for (const trade of this.trades) {
      const told = this.fills.get(trade.clientId);
      if (trade.clientId === id || sliceOf(trade.clientId) !== slice || told === undefined) continue;
      // What a fill says that it lacks counts as filled.
      const { quantity, amount } = this.#lacking.get(trade.clientId) ?? { quantity: 0n, amount: 0n };
      if (told.quantity + quantity >= trade.quantity && told.amount + amount >= trade.amount) continue;
      if (this.lied.has(trade.clientId)) continue;
      this.blame('I4', `a ${what} of ${id} leaves while ${shown(told.quantity)} of ${shown(trade.quantity)} of ${trade.clientId} is known`); // prettier-ignore
    }
    // What the venue has executed must be known, or be in doubt.
    if (this.#options.isBroken()) return;
    for (const trade of this.trades) {
      if (trade.clientId === id || sliceOf(trade.clientId) !== slice || this.fills.has(trade.clientId))
        continue;
      this.blame('I4', `a ${what} of ${id} leaves while ${trade.clientId} has traded and nobody knows`);
    }
  }

  #orderLeaves(flight: Flight, body: string): void {
    const id = memberOf(body, 'client_order_id');
    const quoteId = memberOf(body, 'quote_id');
    const now = this.#options.now();
    const intent = this.#intended.get(id);
    if (intent === undefined) this.blame('I3', `${id} leaves without a durable intent`);
    if (this.haltedAt !== undefined && this.haltedAt < now && !this.sent.has(id))
      this.blame('I6', `${id} leaves on a halted desk`);
    // What was under way may end: its first quote was asked for before.
    if (this.#asked.get(id)?.isPaused === true) this.blame('I6', `${id} leaves on a paused desk`);
    const given = this.#given.get(id)?.findLast((each) => each.quoteId === quoteId);
    // Quotes do not say whose they are: one that was swapped on the wire is for the venue to refuse.
    if (given === undefined && !this.#swapped.has(id)) this.blame('I5', `${id} leaves for a quote that it was not given`); // prettier-ignore
    this.#noteSent(id, flight, body);
    this.#mayGoOn(id, 'order');
    if (given === undefined || intent === undefined) return;
    this.#asQuoted(id, quoteId, body);
    // An old answer that was swapped in tells nothing of when it was asked for; the venue refuses what is over.
    if (this.#swapped.has(id)) return;
    if (given.boot !== this.sender.boot) this.blame('I5', `${id} is executed by another process`);
    const lastMs = given.sentAt + given.lifeMs - this.#options.orderTimeMs;
    if (!this.sender.wasDisturbed && now > lastMs)
      this.blame('I9', `${id} leaves ${now - lastMs} ms too late`);
    this.#inLimits(id, intent, given);
  }

  /** What is ordered is what was quoted, whoever the quote was for. */
  #asQuoted(id: string, quoteId: string, body: string): void {
    const quote = this.#quotes.get(quoteId);
    if (quote === undefined) return;
    const by = body.includes('"quantity"') ? 'quantity' : 'amount';
    const isSame =
      memberOf(body, 'currency_pair') === memberOf(quote, 'pair') &&
      units(memberOf(body, by)) === units(memberOf(quote, by));
    if (!isSame) this.blame('I14', `${id} leaves for a quote of something else: ${quote}`);
  }

  #noteSent(id: string, flight: Flight, body: string): void {
    const path = flight.outgoing.path;
    const before = this.sent.get(id);
    if (before === undefined) {
      const amount = this.#given.get(id)?.at(-1)?.amount ?? 0n;
      this.sent.set(id, { body, path, boot: this.sender.boot, flights: [flight], amount });
      return;
    }
    this.blame('I5', `${id} is sent again`);
  }

  #inLimits(id: string, intent: Intended, given: Given): void {
    const { openDoubtsMax, orderNotionalMax, dayNotionalMax, caps } = this.#options;
    if (given.amount > units(orderNotionalMax))
      this.blame('I7', `${id} leaves for ${shown(given.amount)}, an order is at most ${orderNotionalMax}`);
    const others = [...this.#doubts].filter((each) => each !== id);
    if (others.length >= openDoubtsMax) this.blame('I7', `${id} leaves with ${others.length} doubts open`);
    if (others.some((each) => this.#intended.get(each)?.pair === intent.pair))
      this.blame('I7', `${id} leaves with a doubt of ${intent.pair} open`);
    const cap = caps.find(({ strategy }) => strategy === intent.strategy);
    if (cap?.limit !== undefined) {
      const limit = units(cap.limit);
      if (cap.side === 'buy' ? given.price > limit : given.price < limit)
        this.blame('I7', `${id} leaves at ${shown(given.price)}, the limit is ${cap.limit}`);
    }
    this.#inCredit(id, intent, given);
    if (dayNotionalMax === undefined || this.hasDayChanged) return;
    // Everything that may have traded counts: what did, and what left and is not closed.
    let total = given.amount;
    for (const trade of this.trades) if (trade.clientId !== id) total += trade.amount;
    for (const [other, { amount }] of this.sent) {
      if (other === id || this.closed.has(other) || this.trades.some(({ clientId }) => clientId === other))
        continue;
      total += amount;
    }
    // A venue that executes twice, or tells too late, has traded what nobody could count yet.
    if (total > units(dayNotionalMax) && !this.#options.isBroken())
      this.blame('I7', `${id} leads to ${shown(total)} in a day of ${dayNotionalMax}`);
  }

  /** A buy borrows no more than the venue would lend at this moment, while the account owes dollars alone. */
  #inCredit(id: string, { side }: Intended, { amount }: Given): void {
    const { exchange, isBroken } = this.#options;
    const stated = exchange.metrics(this.#account, exchange.at);
    const debts = [...exchange.ledger.balances(this.#account)].filter(
      ([of, held]) => of !== 'usd' && held.lt(0),
    );
    if (side !== 'buy' || !stated.ok || debts.length > 0 || this.foreign.size > 0 || isBroken()) return;
    const own = units(exchange.ledger.available(this.#account, 'usd').toFixed());
    const borrowed = amount - (own > 0n ? own : 0n);
    const available = units(stated.value.availableExposure.toFixed());
    if (borrowed > available)
      this.blame('I7', `${id} leaves for ${shown(borrowed)} of credit, ${shown(available)} is available`);
  }

  arrived({ outgoing, fault }: Flight): void {
    const kind = outgoing.path === '/v1/quote' ? 'quote' : outgoing.path.includes('/transactions') ? 'transactions' : undefined; // prettier-ignore
    // What was delayed or repeated on its way is not the doing of the desk.
    if (kind === undefined || fault !== undefined) return;
    const { quotesPerSecond, readMs } = this.#options.windows;
    const [many, windowMs] = kind === 'quote' ? [quotesPerSecond, 1_000] : [1, readMs];
    const times = this.arrivals.get(kind) ?? [];
    times.push(this.#options.now());
    const first = times.at(-1 - many);
    const now = this.#options.now();
    if (first !== undefined && now - first < windowMs - 1e-6)
      this.blame('I8', `${many + 1} requests for ${kind} arrived within ${now - first} ms`);
  }

  spoilt({ point, outgoing: { body = '' } }: Flight, kind: string): void {
    this.note(`~ ${point} ${kind}`);
    if (kind === 'of another request') this.#swapped.add(memberOf(body, 'client_quote_id'));
    if (kind === 'wrong numbers') this.lied.add(memberOf(body, 'client_order_id'));
  }

  answered(flight: Flight, answer: Answer): void {
    this.note(`< ${flight.point} ${answer.status} ${answer.body}`);
    if (!flight.point.startsWith('quote ') || answer.status !== 201) return;
    const id = memberOf(flight.outgoing.body ?? '', 'client_quote_id');
    const { body } = answer;
    const given = this.#given.get(id) ?? [];
    this.#quotes.set(memberOf(body, 'quote_id'), body);
    given.push({
      quoteId: memberOf(body, 'quote_id'),
      sentAt: flight.sentAt,
      lifeMs: Date.parse(memberOf(body, 'date_expiry')) - Date.parse(memberOf(body, 'date_quote')),
      amount: units(memberOf(body, 'amount')),
      price: units(memberOf(body, body.includes('"buy_price"') ? 'buy_price' : 'sell_price')),
      boot: this.sender.boot,
    });
    this.#given.set(id, given);
  }

  /** An order was worked: folds the new rows of the ledger, and judges what was executed. */
  worked(): void {
    const rows = this.#options.exchange.ledger.rows(this.#account);
    for (; this.#rowsSeen < rows.length; this.#rowsSeen++) {
      const row = rows[this.#rowsSeen];
      const orderId = row?.orderId ?? '';
      if (row?.tradeId === undefined || row.pair === undefined || this.foreign.has(orderId)) continue;
      const trade: Trade = this.#byOrder.get(orderId) ?? {
        orderId,
        clientId: row.clientId ?? '',
        pair: row.pair,
        side: row.action,
        quantity: 0n,
        amount: 0n,
      };
      const moved = units(row.amount.abs().toFixed());
      if (row.pair.startsWith(row.currency)) trade.quantity += moved;
      else trade.amount += moved;
      if (!this.#byOrder.has(orderId)) {
        this.#byOrder.set(orderId, trade);
        this.trades.push(trade);
        this.note(`trade ${row.tradeId} ${trade.clientId}`);
      }
    }
    this.#overExecuted();
  }

  #overExecuted(): void {
    if (this.#options.isBroken()) return;
    const slices = new Map<string, { quantity: Units; amount: Units }>();
    const totals = new Map<string, { quantity: Units; amount: Units }>();
    const ids = new Set<string>();
    const count = (where: typeof slices, key: string, trade: Trade): void => {
      const sum = where.get(key) ?? { quantity: 0n, amount: 0n };
      where.set(key, { quantity: sum.quantity + trade.quantity, amount: sum.amount + trade.amount });
    };
    for (const trade of this.trades) {
      if (ids.has(trade.clientId)) this.blame('I1', `${trade.clientId} traded twice`);
      ids.add(trade.clientId);
      if (this.closed.has(trade.clientId) && this.closed.get(trade.clientId) !== 'filled')
        this.blame('I1', `${trade.clientId} traded after it was written off as ${this.closed.get(trade.clientId)}`); // prettier-ignore
      const slice = sliceOf(trade.clientId);
      count(slices, slice, trade);
      count(totals, this.#strategyOf.get(slice.split('/')[0] ?? '') ?? '?', trade);
    }
    for (const [slice, done] of slices) {
      const plan = this.#decided.get(slice);
      if (plan === undefined) this.blame('I1', `${slice} traded and was never decided`);
      else if ((plan.by === 'quantity' ? done.quantity : done.amount) > plan.size)
        this.blame('I1', `${slice} traded ${shown(done.quantity)} for ${shown(done.amount)}, decided ${shown(plan.size)}`); // prettier-ignore
    }
    for (const { strategy, by, size } of this.#options.caps) {
      const done = totals.get(strategy);
      if (done !== undefined && done[by] > units(size)) this.blame('I1', `${strategy} traded ${shown(done[by])} of ${size}`); // prettier-ignore
    }
  }

  /** At rest: the journal and the ledger tell the same story, to the last digit. */
  judgeBooks(): void {
    this.worked();
    for (const id of this.#unstopped) this.blame('I6', `nobody has stopped the desk over ${id}`);
    const told = new Map(this.fills);
    for (const [id, booked] of this.#ledgerNow()) {
      const fill = told.get(id);
      told.delete(id);
      if (fill === undefined) this.blame('I2', `the trade of ${id} is in no record`);
      else if (!this.lied.has(id) && inWords(fill) !== inWords(booked))
        this.blame('I16', `${id}: booked ${inWords(fill)}, traded ${inWords(booked)}`);
    }
    for (const id of told.keys()) this.blame('I2', `a fill of ${id} that never traded`);
    const ids = this.trades.map(({ clientId }) => clientId);
    for (const id of new Set(ids.filter((each, at) => ids.indexOf(each) !== at)))
      if (!this.#alerts.some((facts) => facts.includes(id)))
        this.blame('I18', `${id} was executed twice, and nobody was told`);
  }

  /** What the ledger says now of each client id, however often it was executed, and with all fees. */
  #ledgerNow(): ReadonlyMap<string, Booked> {
    const all = new Map<string, { quantity: Units; amount: Units; fees: Map<string, Units> }>();
    for (const row of this.#options.exchange.ledger.rows(this.#account)) {
      const { clientId = '', orderId = '', pair, currency } = row;
      if (orderId === '' || this.foreign.has(orderId)) continue;
      const sum = all.get(clientId) ?? { quantity: 0n, amount: 0n, fees: new Map<string, Units>() };
      all.set(clientId, sum);
      const pay = (of: string, fee: Units): void => void sum.fees.set(of, (sum.fees.get(of) ?? 0n) + fee);
      const moved = units(row.amount.abs().toFixed());
      if (row.tradeId === undefined) {
        pay('quote', -units(row.amount.toFixed()));
        continue;
      }
      const isBase = pair?.startsWith(currency) === true;
      if (isBase) sum.quantity += moved;
      else sum.amount += moved;
      pay(isBase ? currency : 'quote', units(row.fees.toFixed()));
    }
    return all;
  }

  get openDoubts(): number {
    return this.#doubts.size;
  }
}

/** By currency; `quote` is that of the pair. */
type Fees = ReadonlyMap<string, Units>;

interface Booked {
  readonly quantity: Units;
  readonly amount: Units;
  readonly fees: Fees;
}

const feesOf = ({ fees = '0', other_fees: others = {} }: Body): Fees =>
  new Map([
    ['quote', units(fees)],
    ...Object.entries(others).map(([currency, fee]) => [currency, units(fee)] as const),
  ]);

const inWords = ({ quantity, amount, fees }: Booked): string =>
  `${shown(quantity)} for ${shown(amount)} and fees of ${[...fees]
    .filter(([, fee]) => fee !== 0n)
    .map(([currency, fee]) => `${shown(fee)} ${currency}`)
    .toSorted()
    .join(', ')}`;

interface Body {
  readonly client_order_id?: string;
  readonly pair?: string;
  readonly side?: string;
  readonly strategy?: string;
  readonly on?: string;
  readonly detail?: unknown;
  readonly parent?: string;
  readonly slice?: number;
  readonly notional_usd?: string;
  readonly intents?: readonly { readonly parent: string; readonly slice: number; readonly by: string; readonly size: string }[];
  readonly result?: string;
  readonly quantity?: string;
  readonly other_fees?: Readonly<Record<string, string>>;
  readonly amount?: string;
  readonly was_quantity?: string;
  readonly missing?: { readonly quantity: string; readonly amount: string };
  readonly fees?: string;
  readonly state?: string;
  readonly until?: number;
} // prettier-ignore
