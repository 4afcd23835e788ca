import type { OrderRequest, QuoteRequest } from '../../../src/core/venue.ts';
import type { RecordBody } from '../../../src/core/record.ts';
import type { MachineClock } from './clock.ts';
import type { Disk } from './disk.ts';
import { LIFE_MAX_MS, ORDER_MARGIN_MS, READ_GAP_MS } from './plan.ts';
import type { Work } from './plan.ts';
import { decimal, whole } from './venue.ts';
import type { Trade, Venue, VenueQuote } from './venue.ts';
import type { World } from './world.ts';

/** One attempt as the wire shows it. */
interface Sent {
  readonly clientId: string;
  readonly slice: string;
  readonly pair: string;
  readonly body: string;
  readonly quoteId: string;
  readonly quote: VenueQuote | undefined;
  readonly process: number;
  readonly at: number;
  /** By the clock of the machine, which stands still while it sleeps. */
  readonly steady: number;
  /** The latest that the machine's clock has told, and the true one. */
  readonly day: number;
  readonly trueDay: number;
}

interface Scene {
  readonly world: World;
  readonly venue: Venue;
  readonly disk: Disk;
  readonly clock: MachineClock;
  readonly work: Work;
}

const DAY_MS = 86_400_000;

/**
 * The judge. It sees what crosses the wire, what the venue executed and what is durable, computes with its own whole
 * numbers, and never asks the desk what it thinks.
 */
export class Oracle {
  readonly #scene: Scene;
  readonly #sent = new Map<string, Sent>();
  readonly #bySlice = new Map<string, Sent[]>();
  readonly #executed = new Map<string, Trade[]>();
  readonly #filled = new Set<string>();
  readonly #intents = new Map<string, RecordBody & { kind: 'intent' }>();
  #folded = 0;
  #rollbacks = 0;
  #control = 'active';
  #dayMax = 0;
  #wasOff = false;
  #lastReadAt = Number.NEGATIVE_INFINITY;
  /** The operator has stopped this process, whatever of that is durable. */
  #latched: { readonly process: number; readonly how: 'pause' | 'halt' } | undefined;
  readonly #quoteAskedAt = new Map<string, number>();

  constructor(scene: Scene) {
    this.#scene = scene;
    scene.venue.onTrade = (trade) => {
      this.#traded(trade);
    };
  }

  latch(process: number, how: 'pause' | 'halt'): void {
    if (this.#latched?.how !== 'halt') this.#latched = { process, how };
  }

  release(): void {
    this.#latched = undefined;
  }

  /** An answer to an order has told this process that its token is refused: it must halt, and say so in the journal. */
  unauthorised(process: number): void {
    const { world, disk, clock } = this.#scene;
    const from = disk.syncedCount;
    world.in(200_000, () => {
      // A process that died, or slept, has not had its time.
      if (this.#diedLast >= process || this.#processes !== process || disk.rollbacks > 0 || clock.hasSlept)
        return;
      for (let index = from; index < disk.syncedCount; index++) {
        const body = disk.record(index)?.body;
        if (body?.kind === 'control' && body.state === 'halted') return;
      }
      world.fail('I14', 'the token was refused, and the desk did not halt');
    });
  }

  #processes = 0;
  #diedLast = 0;

  dying(process: number): void {
    this.#diedLast = process;
  }

  /** A process begins. */
  starting(process: number): void {
    this.#processes = process;
    this.#wasOff ||= this.#scene.clock.isDayOff;
  }

  /** A quote request leaves. */
  quoting(request: QuoteRequest): void {
    const { world, clock, venue } = this.#scene;
    const clientId = request.clientId ?? '';
    this.#quoteAskedAt.set(clientId, clock.monotonic());
    this.#fold();
    for (const each of this.#bySlice.get(sliceOf(clientId)) ?? []) {
      const lack = this.#lackOf(each.clientId);
      if (lack > 0 && !this.#wasRolledBack)
        world.fail('I4', `a quote for ${clientId} while ${decimal(lack)} of ${each.clientId} is unknown`);
      if (venue.isBreaching) continue;
      const open = this.#isOpen(each);
      if (open !== undefined) world.fail('I4', `a quote for ${clientId} while ${each.clientId} ${open}`);
    }
  }

  /** The first byte of an order leaves. */
  ordering(request: OrderRequest, process: number): void {
    const { world, disk, clock, venue, work } = this.#scene;
    const { clientId, quoteId, pair } = request;
    this.#fold();
    const body = bodyOf(request);
    const intent = this.#intents.get(clientId);
    if (intent === undefined) world.fail('I3', `the order ${clientId} leaves without a durable intent`);
    else if (intentBody(intent) !== body)
      world.fail('I3', `the order ${clientId} is not its intent: ${body}`);
    this.#checkIdentity(request, body, process);
    const isLatched =
      this.#latched !== undefined && (this.#latched.process === process || this.#latched.how === 'halt');
    if (isLatched)
      world.fail('I6', `the order ${clientId} leaves after the operator said ${this.#latched?.how ?? ''}`);
    else if (disk.isHalting)
      world.fail('I6', `the order ${clientId} leaves while the file that halts is there`);
    else if (this.#control !== 'active')
      world.fail('I6', `the order ${clientId} leaves while ${this.#control}`);
    for (const each of this.#unstopped)
      if (!this.#wasRolledBack)
        world.fail('I6', `the order ${clientId} leaves after more than an order was executed for ${each}`);
    const quote = venue.quotes.get(quoteId);
    const already = this.#sent.get(clientId);
    this.#checkTime(clientId, quote);
    this.#dayMax = Math.max(this.#dayMax, Math.floor(clock.wall() / DAY_MS));
    if (already !== undefined && !(already.process !== process && this.#wasRolledBack)) {
      world.fail('I5', `${clientId} is sent twice`);
      return;
    }
    const sent: Sent = {
      clientId,
      slice: sliceOf(clientId),
      pair,
      body,
      quoteId,
      quote,
      process,
      at: world.now,
      steady: clock.monotonic(),
      day: this.#dayMax,
      trueDay: clock.trueDay,
    };
    this.#checkLimits(sent, process);
    this.#sent.set(clientId, sent);
    const others = this.#bySlice.get(sent.slice) ?? [];
    for (const other of others) {
      const open = venue.isBreaching ? undefined : this.#isOpen(other);
      if (open !== undefined)
        world.fail('I4', `the order ${clientId} leaves while ${other.clientId} ${open}`);
    }
    others.push(sent);
    this.#bySlice.set(sent.slice, others);
    void work;
  }

  /** A read of the account leaves. */
  reading(): void {
    const { world } = this.#scene;
    // Clocks may be wrong by half a thousandth.
    if (world.now - this.#lastReadAt < READ_GAP_MS * 0.999)
      world.fail('I8', `two reads of the account within ${world.now - this.#lastReadAt} ms`);
    this.#lastReadAt = world.now;
  }

  /** Whether the books show all that the statement of the venue shows: before that nobody in his senses lets a desk trade. */
  isComplete(): boolean {
    this.#fold();
    return [...this.#executed.keys()].every((clientId) => this.#isKnown(clientId));
  }

  /** Whether the books show all that was executed for this client id, in however many trades it shows and however often. */
  #isKnown(clientId: string): boolean {
    const fill = this.#figures.get(clientId);
    if (fill === undefined) return false;
    const { hundredths, cents } = this.#sumOf(clientId);
    return fill.hundredths >= hundredths && fill.cents >= cents;
  }

  /** How much of an order that is booked the journal neither knows nor counts as missing. It must not be bought again, whatever the venue does. */
  #lackOf(clientId: string): number {
    const [first] = this.#executed.get(clientId) ?? [];
    const told = this.#figures.get(clientId);
    return first === undefined || told === undefined ? 0 : first.hundredths - told.hundredths - told.missing;
  }

  #sumOf(clientId: string): Omit<Figures, 'missing'> {
    const sum = { hundredths: 0, cents: 0, fees: 0 };
    for (const { hundredths, cents, fees } of this.#executed.get(clientId) ?? []) {
      sum.hundredths += hundredths;
      sum.cents += cents;
      sum.fees += fees;
    }
    return sum;
  }

  /** All is over: the books must be those of the venue, to the last cent. */
  settle(): void {
    const { world, venue } = this.#scene;
    this.#fold();
    // A copy of the journal that was put back, and a venue that booked too late to show what it lacks: ids come twice.
    if (this.#wasRolledBack && venue.isBreaching) return;
    for (const clientId of this.#unstopped)
      world.fail('I6', `${decimal(this.#sumOf(clientId).hundredths)} was executed for one order ${clientId}, and nobody has stopped the desk`); // prettier-ignore
    const lineOf = (of: { pair: string; side: string }, clientId: string, figures: Omit<Figures, 'missing'>): string =>
      [clientId, of.pair, of.side, decimal(figures.hundredths), decimal(figures.cents), decimal(figures.fees)].join(' '); // prettier-ignore
    const ledger = [...this.#executed].flatMap(([clientId, [trade]]) =>
      trade === undefined ? [] : [lineOf(trade, clientId, this.#sumOf(clientId))],
    );
    const books = this.#fills.map((fill) =>
      lineOf(fill, fill.client_order_id, this.#figures.get(fill.client_order_id) ?? figuresOf(fill)),
    );
    const lost = ledger.filter((line) => !books.includes(line));
    const made = books.filter((line) => !ledger.includes(line));
    if (lost.length > 0) world.fail('I2', `executed and not in the journal: ${lost.join('; ')}`);
    if (made.length > 0) world.fail('I2', `in the journal and not executed: ${made.join('; ')}`);
    if (lost.length + made.length === 0 && ledger.length !== books.length)
      world.fail('I11', `${ledger.length} trades, ${books.length} fills`);
  }

  /** What the balances must be now, in hundredths of each currency. */
  balances(start: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
    const sums: Record<string, number> = { ...start };
    for (const { pair, side, hundredths, cents, fees } of this.#scene.venue.trades) {
      const base = pair.slice(0, 3);
      const sign = side === 'buy' ? 1 : -1;
      sums[base] = (sums[base] ?? 0) + sign * hundredths;
      sums['usd'] = (sums['usd'] ?? 0) - sign * cents - fees;
    }
    return sums;
  }

  /** Why an attempt whose order has left is not over; `undefined` when it is. */
  #isOpen({ clientId, quote }: Sent): string | undefined {
    const { venue } = this.#scene;
    if (this.#executed.has(clientId)) {
      if (this.#isKnown(clientId)) return undefined;
      return this.#filled.has(clientId)
        ? 'has traded more than anybody knows'
        : 'has traded and nobody knows';
    }
    return quote !== undefined && this.#unsettled.has(clientId) && venue.isAlive(quote)
      ? 'may still trade'
      : undefined;
  }

  /** Attempts of which bytes left for sure. */
  readonly #unsettled = new Set<string>();

  /** Bytes of an order were on the wire; without it `ordering` was a try that never left. */
  left(clientId: string): void {
    this.#unsettled.add(clientId);
  }

  #checkIdentity({ clientId, quoteId }: OrderRequest, body: string, process: number): void {
    const { world, venue } = this.#scene;
    const quote = venue.quotes.get(quoteId);
    if (quote !== undefined && quote.clientId !== clientId)
      world.fail('I5', `the order ${clientId} names the quote of ${quote.clientId}`);
    const before = this.#sent.get(clientId);
    if (before === undefined) return;
    if (this.#wasRolledBack) return;
    if (before.quoteId !== quoteId || before.body !== body)
      world.fail(
        'I5',
        `${clientId} names two orders: ${before.body} on ${before.quoteId}, ${body} on ${quoteId}`,
      );
    else if (before.process !== process) world.fail('I5', `${clientId} is sent again by another process`);
  }

  get #wasRolledBack(): boolean {
    return this.#scene.disk.rollbacks > 0;
  }

  #checkTime(clientId: string, quote: VenueQuote | undefined): void {
    const { world, clock } = this.#scene;
    const askedAt = this.#quoteAskedAt.get(clientId);
    if (askedAt === undefined || quote === undefined) return;
    const lifeMs = this.lifeOf(quote);
    const last = askedAt + lifeMs - ORDER_MARGIN_MS;
    if (clock.monotonic() > last + 1)
      world.fail('I9', `the order ${clientId} leaves ${Math.round(clock.monotonic() - last)} ms too late`);
  }

  readonly #lives = new Map<string, number>();

  /** The life of a quote as the venue told it. */
  told(quote: VenueQuote, lifeMs: number): void {
    this.#lives.set(quote.id, lifeMs);
  }

  lifeOf(quote: VenueQuote): number {
    return this.#lives.get(quote.id) ?? LIFE_MAX_MS;
  }

  #checkLimits(sent: Sent, process: number): void {
    const { world, venue, work, clock } = this.#scene;
    const { quote, clientId, pair } = sent;
    if (quote === undefined) return;
    if (quote.cents > work.orderMax)
      world.fail('I7', `${clientId} is larger than an order may be: ${quote.cents}`);
    const mid = venue.mid(pair);
    if (Math.abs(quote.price - mid) * 10_000 > work.collarBps * mid)
      world.fail('I7', `${clientId} is outside the collar: ${quote.price} at ${mid}`);
    let open = 0;
    let day = quote.cents;
    let trueDay = quote.cents;
    for (const other of this.#sent.values()) {
      if (other.clientId === clientId) continue;
      const isDoubt = this.#isOpen(other) !== undefined && this.#isOld(other, process);
      if (isDoubt) {
        open++;
        if (other.pair === pair && !venue.isBreaching)
          world.fail('I7', `${clientId} leaves while ${other.clientId} of its pair is in doubt`);
      }
      for (const trade of this.#executed.get(other.clientId) ?? []) {
        if (other.day === sent.day) day += trade.cents;
        if (other.trueDay === sent.trueDay) trueDay += trade.cents;
      }
    }
    if (open >= work.openDoubtsMax && !venue.isBreaching)
      world.fail('I7', `${clientId} leaves with ${open} doubts open`);
    // Orders of a time when the clock was wrong by a day belong to no day for sure once a new process believes that clock, or the right one.
    this.#wasOff ||= clock.isDayOff;
    // One that slept with it has nothing left to tell midnight by.
    const hasLostDay = this.#wasOff && (process > 1 || clock.hasSlept);
    const isUnsure = hasLostDay || this.#wasRolledBack || venue.isBreaching;
    // A clock that is wrong passes midnight at another time than the world: only what is too much for both is.
    if (Math.min(day, trueDay) > work.dayMax && !isUnsure)
      world.fail('I7', `with ${clientId} the day comes to ${day} of ${work.dayMax} cents`);
  }

  /** Whether the desk must have noticed that it does not know the outcome: the answer is overdue, or its process is dead. */
  #isOld({ steady, process: before }: Sent, process: number): boolean {
    return before !== process || this.#scene.clock.monotonic() - steady > 90_000;
  }

  #traded(trade: Trade): void {
    const { world, work } = this.#scene;
    const known = this.#executed.get(trade.clientId) ?? [];
    known.push(trade);
    this.#executed.set(trade.clientId, known);
    if (trade.isBreach) return;
    const slice = sliceOf(trade.clientId);
    let done = 0;
    let all = 0;
    for (const [clientId, trades] of this.#executed) {
      for (const each of trades) {
        if (sliceOf(clientId) === slice) done += each.hundredths;
        if (parentOf(clientId) === parentOf(trade.clientId)) all += each.hundredths;
      }
    }
    const parent = work.parents.find(({ id }) => id === parentOf(trade.clientId));
    if (parent === undefined) {
      world.fail('I1', `a trade of nobody: ${trade.clientId}`);
      return;
    }
    const planned = work.hundredths(parent, numberOf(trade.clientId));
    if (done > planned && !this.#hasBreach)
      world.fail('I1', `slice ${slice}: ${done} executed of ${planned}`);
    let total = 0;
    for (let slot = 0; slot < work.slots; slot++) total += work.hundredths(parent, slot);
    if (all > total && !this.#hasBreach) world.fail('I1', `parent ${parent.id}: ${all} executed of ${total}`);
  }

  get #hasBreach(): boolean {
    return this.#scene.venue.isBreaching;
  }

  #fills: (RecordBody & { kind: 'fill' })[] = [];
  /** What the journal tells of each client id, as it was corrected last. */
  readonly #figures = new Map<string, Figures>();
  /** Client ids of which the journal tells more than one order traded, and over which the desk has not halted. */
  readonly #unstopped = new Set<string>();

  /** The journal tells these figures. */
  #told(clientId: string, figures: Figures, isCorrection: boolean): void {
    const before = this.#figures.get(clientId)?.hundredths ?? 0;
    this.#figures.set(clientId, figures);
    const { world, venue } = this.#scene;
    const [first, second] = this.#executed.get(clientId) ?? [];
    if (first === undefined || this.#wasRolledBack) return;
    // A venue that fills less than the order, twice, may come to just the order: nobody can tell that from an order in parts.
    const ordered = this.#sent.get(clientId)?.quote?.hundredths ?? first.hundredths;
    // A person who re-armed the desk has seen it: the other leg of the excess is no further execution.
    const isSeen = before > ordered && before === figures.hundredths;
    if (second !== undefined && figures.hundredths > ordered && !isSeen && this.#control !== 'halted')
      this.#unstopped.add(clientId);
    if (!isCorrection || venue.isBreaching) return;
    if (figures.hundredths !== first.hundredths || figures.cents !== first.cents)
      world.fail('I2', `${clientId} is corrected to ${decimal(figures.hundredths)} of ${decimal(first.hundredths)} that was executed`); // prettier-ignore
  }

  /** Reads what has become durable, in its own way. Starts anew after the disk went back. */
  #fold(): void {
    const { disk } = this.#scene;
    if (disk.rollbacks !== this.#rollbacks) {
      this.#rollbacks = disk.rollbacks;
      this.#folded = 0;
      this.#fills = [];
      this.#filled.clear();
      this.#figures.clear();
      this.#unstopped.clear();
      this.#intents.clear();
      this.#control = 'active';
    }
    for (; this.#folded < disk.syncedCount; this.#folded++) {
      const body = disk.record(this.#folded)?.body;
      if (body?.kind === 'intent') this.#intents.set(body.client_order_id, body);
      if (body?.kind === 'control') this.#control = body.state;
      if (this.#control === 'halted') this.#unstopped.clear();
      if (body?.kind === 'correction') this.#told(body.client_order_id, figuresOf(body), true);
      if (body?.kind !== 'fill') continue;
      this.#fills.push(body);
      this.#filled.add(body.client_order_id);
      this.#told(body.client_order_id, figuresOf(body), false);
    }
  }
}

/** In whole hundredths. */
interface Figures {
  readonly hundredths: number;
  readonly cents: number;
  readonly fees: number;
  /** What the journal tells that the order lacks. */
  readonly missing: number;
}

const figuresOf = (body: {
  readonly quantity: string;
  readonly amount: string;
  readonly fees: string;
  readonly missing?: { readonly quantity: string } | undefined;
}): Figures => ({
  hundredths: whole(body.quantity),
  cents: whole(body.amount),
  fees: whole(body.fees),
  missing: whole(body.missing?.quantity ?? '0'),
});

/** `tr-mark-parent-slice-attempt-check`, taken apart by hand. */
interface Parts {
  readonly parent: string;
  readonly number: number;
  readonly slice: string;
}

/** Histories name the same few attempts: each is taken apart once. */
const apart = new Map<string, Parts>();
function partsOf(clientId: string): Parts {
  let parts = apart.get(clientId);
  if (parts !== undefined) return parts;
  const [, , parent = '', number = ''] = clientId.split('-');
  parts = { parent, number: Number.parseInt(number, 36), slice: `${parent}/${number}` };
  if (apart.size > 10_000) apart.clear();
  apart.set(clientId, parts);
  return parts;
}
const parentOf = (clientId: string): string => partsOf(clientId).parent;
const numberOf = (clientId: string): number => partsOf(clientId).number;
export const sliceOf = (clientId: string): string => partsOf(clientId).slice;

const bodyOf = ({ pair, side, size }: OrderRequest): string =>
  `${side} ${size.by === 'quantity' ? whole(size.quantity.toFixed()) : 0} ${pair}`;
const intentBody = (intent: RecordBody & { kind: 'intent' }): string =>
  `${intent.side} ${whole(intent.size)} ${intent.pair}`;
