import { compareFill } from '../../src/core/account/booked-fill.ts';
import { corrected } from '../../src/core/cycle/corrected-fill.ts';
import { judge } from '../../src/core/account/judge.ts';
import type { Doubted, Judgement } from '../../src/core/account/judge.ts';
import { attribute, tradeOf } from '../../src/core/account/rows.ts';
import { nextPhase } from '../../src/core/cycle/cycle.ts';
import type { Doubt, Phase } from '../../src/core/cycle/cycle.ts';
import { quotedIn } from '../../src/core/cycle/order-extent.ts';
import { certain, inherited, proofRecord } from '../../src/core/cycle/proof.ts';
import { money, quantity, price } from '../../src/core/money.ts';
import type { FillRecord, ProofRecord } from '../../src/core/record.ts';
import type { Reason } from '../../src/core/reasons.ts';
import { instant, monotonic } from '../../src/core/time.ts';
import type { Quote } from '../../src/core/venue.ts';
import { fillFromEvidence, fillFromOrder } from '../../src/engine/attempt/booking.ts';
import type { OpenAttempt } from '../../src/engine/state/strategy-run.ts';
import { amount, written8 } from './amounts.ts';
import { BASE, CaseMaker, EARLIER, MARK, OURS, QUOTE } from './account-case.ts';
import type { AccountCase } from './account-case.ts';
import { Dice } from './dice.ts';
import { NEVER, isSpoiledAt, rowAt, truthAt } from './ledger.ts';
import type { Entry, Figures, Row } from './ledger.ts';
import type { Oddity } from './oddities.ts';
import { GAP_MS, judgePlainly, ownersOf, sumOf } from './plain-rule.ts';
import type { Progress, Verdict } from './plain-rule.ts';
import { Remembered } from './remembered.ts';

/** Plays sets against the product, the plain rule and the truth. */

/** What went wrong with a set. */
export class Broken extends Error {}

/** Longest life of a quote that the desk executes, milliseconds: for a process that does not know the quote. */
const LIFE_MAX_MS = 36_000;
const CLOCK_SLACK_MS = 500;
const FIGURES = new Set(['amount', 'fees', 'currency']);

interface Read {
  readonly rows: readonly Row[];
  readonly startedAt: number;
  readonly servedAt: number;
  readonly gaps: readonly string[];
}

/** One desk and its account. Reused from set to set. */
export class Player {
  readonly #dice = new Dice();
  readonly #known = new Remembered();
  readonly #maker: CaseMaker;
  readonly #note: (oddity: Oddity) => void;
  readonly #trace: ((line: string) => void) | undefined;
  #of: AccountCase = undefined as unknown as AccountCase;
  #phase: Phase = { state: 'quoting' };
  #order: Doubted = undefined as unknown as Doubted;
  #open: OpenAttempt = undefined as unknown as OpenAttempt;
  #progress: Progress = { readsLeft: 0, notBefore: 0, hasTraded: false, isQuoted: true };
  #fill: FillRecord | undefined;
  #verdict: Verdict = { is: 'open', rows: [] };
  /** The doubt as the journal has it. */
  #doubt: { readonly reason: Reason; readonly proof: ProofRecord } | undefined;
  /** When the venue must have booked the order, as this process knows it. */
  #dueAt = 0;
  #boot = 'b-1';
  /** The monotonic clock of this process is ahead of the time of the set by this much. */
  #aheadMs = 0;
  #now = 0;
  /** Counting reads in a row that the generator expects to prove an absence. */
  #hasWords = false;

  constructor(note: (oddity: Oddity) => void, trace?: (line: string) => void) {
    this.#maker = new CaseMaker(this.#dice, note);
    this.#note = note;
    this.#trace = trace;
  }

  /** @throws Broken when a set breaks the property. */
  play(seed: number): void {
    this.#dice.seed(seed);
    const of = this.#maker.make();
    this.#of = of;
    this.#begin();
    this.#trace?.(caseText(of));
    if (of.hasFirstRead) this.#read({ startedAt: 3_000, isLate: false });
    const under = of.hasReadUnderway ? this.#shown(of.sentAt, of.endsAt + of.marginMs, []) : undefined;
    this.#intend();
    // Pages of a read that began before the intent may show the order, so its rows are recorded after the intent.
    if (under !== undefined) this.#known.see(under);
    this.#send();
    this.#early();
    this.#due();
    if (this.#phase.state === 'doubt') this.#ask();
    if (this.#fill !== undefined) this.#follow();
  }

  #begin(): void {
    const { hasEcho, earlier } = this.#of;
    this.#known.forget();
    this.#known.echoesIds = hasEcho;
    if (earlier.length > 0)
      this.#known.keep(EARLIER, earlier[0]?.orderId ?? '', earlier.map((each) => ({ id: each.id, currency: each.currency, amount: '0' }))); // prettier-ignore
    this.#phase = { state: 'quoting' };
    this.#fill = undefined;
    this.#verdict = { is: 'open', rows: [] };
    this.#doubt = undefined;
    this.#boot = 'b-1';
    this.#aheadMs = 0;
    this.#hasWords = false;
  }

  #intend(): void {
    const { intent, quote, intentAt } = this.#of;
    const intentSeq = this.#known.record();
    this.#order = { intent, intentSeq, quoted: quotedIn(quote), precisions: { basePrecision: 8, quotePrecision: 2 } };
    this.#open = { intent, seq: intentSeq, since: instant(intentAt), rowBefore: '', quote, doubt: undefined };
    this.#now = intentAt;
  } // prettier-ignore

  /** The order leaves and is answered. */
  #send(): void {
    const of = this.#of;
    const { marginMs, answer, receivedAt, sentAt } = of;
    const quote = quoteOf(of);
    const [askedAt, at] = [monotonic(of.askedAt), monotonic(receivedAt)];
    let phase = nextPhase({ state: 'quoting' }, { on: 'quote_answer', meaning: { means: 'quote', quote }, askedAt, at });
    phase = nextPhase(phase, { on: 'approved' });
    const answeredAt = monotonic(sentAt + this.#dice.between(1, 2_000));
    this.#now = answeredAt;
    const endMs = receivedAt + Math.max(of.lifeMs, of.datedLifeMs ?? 0);
    this.#dueAt = endMs + marginMs;
    this.#progress = { readsLeft: answer === 'silence' ? 2 : 1, notBefore: this.#dueAt, hasTraded: false, isQuoted: true };
    const meaning =
      answer === 'refused'
        ? ({ means: 'refused', reason: 'order_canceled', detail: 'Canceled' } as const)
        : ({ means: 'doubt', detail: 'no answer', halt: false } as const);
    if (answer !== 'filled') {
      this.#phase = nextPhase(phase, { on: 'order_answer', meaning, at: answeredAt }, marginMs);
      if (this.#phase.state !== 'doubt') throw new Broken('an order without a fill is no doubt');
      if (answer === 'silence' && this.#dice.is(of.density >> 2)) {
        this.#note('death before the answer');
        this.#restart();
      } else this.#writeDoubt(this.#phase);
      return;
    }
    const truth = truthAt(of.entries, BASE, NEVER);
    const order = {
      orderId: of.orderId,
      clientId: OURS,
      quoteId: 'q-1',
      pair: 'btcusd',
      side: of.intent.side,
      status: 'Done',
      filled: quantity(of.quote.quantity),
      filledAmount: money(of.quote.amount),
      vwap: price('60000'),
      fees: money(written8(truth.fees.get(QUOTE) ?? 0)),
    };
    const fill = fillFromOrder(of.intent, { order, quote, executedAt: instant(answeredAt), notional: undefined, source: 'order', decisionPrice: '60000' }); // prettier-ignore
    this.#phase = { state: 'filled', order, quote, differs: undefined };
    this.#book(fill);
  } // prettier-ignore

  #writeDoubt({ reason, proof }: Doubt): void {
    this.#known.record();
    this.#doubt = { reason, proof: proofRecord(proof, monotonic(this.#clock()), this.#bootTime()) };
  }

  readonly #clock = (): number => this.#now + this.#aheadMs;
  readonly #bootTime = (): { readonly id: string; readonly ms: number } => ({
    id: this.#boot,
    ms: this.#now,
  });

  /** What may happen before the order is certainly over: reads, a look-up, a death. */
  #early(): void {
    const of = this.#of;
    const dice = this.#dice;
    const until = of.endsAt + of.marginMs + 5_000;
    const times: number[] = [];
    for (let n = dice.pick([0, 0, 1, 2]); n > 0; n--) times.push(dice.between(this.#now, until));
    times.sort((a, b) => a - b);
    const diesAt = dice.is(of.density >> 1) ? dice.between(this.#now, until) : NEVER;
    let [hasLooked, hasDied] = [of.lookedUpAt === NEVER, diesAt === NEVER];
    const lookBefore = (time: number): void => {
      if (hasLooked || of.lookedUpAt > time) return;
      hasLooked = true;
      this.#lookUp();
    };
    for (const time of [...times, NEVER]) {
      lookBefore(Math.min(time, diesAt));
      if (!hasDied && diesAt <= time) {
        hasDied = true;
        this.#now = Math.max(this.#now, diesAt);
        this.#restart();
      }
      // A process that was down looks the order up before it reads the account.
      lookBefore(Math.max(time, this.#now));
      if (time !== NEVER) this.#read({ startedAt: Math.max(this.#now, time), isLate: true });
    }
  }

  /** A look-up shows that the order traded, and less than all of it. */
  #lookUp(): void {
    const { lookedUpAt, orderId } = this.#of;
    this.#now = Math.max(this.#now, lookedUpAt);
    if (this.#phase.state !== 'doubt') return;
    const phase = certain(this.#phase);
    this.#phase = phase;
    this.#progress.hasTraded = true;
    this.#known.tie(orderId, OURS);
    this.#writeDoubt(phase);
    this.#note('order certain and its figures late');
    this.#trace?.(`${this.#now} a look-up shows order ${orderId}`);
  }

  /** The process dies, and another one goes on from the journal. */
  #restart(): void {
    const dice = this.#dice;
    this.#note('restart');
    this.#now += dice.between(10, 20_000);
    if (dice.is(60)) {
      this.#note('restart on another boot');
      this.#boot = `${this.#boot}+`;
    }
    this.#aheadMs = dice.pick([-5_000_000, 0, 900_000]);
    const { intent, quote, marginMs } = this.#of;
    const isLost = this.#open.quote === undefined || dice.is(90);
    if (isLost) {
      this.#note('restart with the quote lost');
      this.#open = { ...this.#open, quote: undefined };
      this.#order = { ...this.#order, quoted: undefined };
    }
    const lifeMs = isLost ? LIFE_MAX_MS : quote.life_ms;
    this.#dueAt = this.#now + lifeMs + marginMs;
    this.#trace?.(`${this.#now} restart${isLost ? ', the quote is lost' : ''}, boot ${this.#boot}`);
    if (this.#phase.state !== 'doubt') return;
    const known = this.#doubt;
    const boot = this.#bootTime();
    const asked = intent.boot;
    // The plain rule: the quote is over a life after this start, or twice a life after it was asked for; a proof goes on.
    const isSameBoot = asked?.id === boot.id;
    const passedMs = isSameBoot ? Math.max(0, this.#now - asked.ms - 10) : 0;
    const wait = Math.min(lifeMs, Math.max(0, 2 * lifeMs + CLOCK_SLACK_MS - passedMs)) + marginMs;
    const sinceMs = known?.proof.boot?.id === boot.id ? Math.max(0, this.#now - known.proof.boot.ms - 10) : 0;
    const left = known === undefined ? wait : Math.max(0, known.proof.wait_ms - sinceMs);
    this.#progress.notBefore = this.#now + left;
    this.#progress.readsLeft = known?.proof.reads_left ?? 2;
    this.#progress.hasTraded = known?.reason === 'certainly_traded';
    this.#progress.isQuoted = !isLost;
    const phase = inherited({
      startedAt: monotonic(this.#clock()),
      lifeMs,
      bookingMarginMs: marginMs,
      isTraded: known?.reason === 'certainly_traded',
      boot,
      asked,
      clockSlackMs: CLOCK_SLACK_MS,
      known,
    });
    this.#phase = phase;
    if (known === undefined || known.proof.boot?.id !== boot.id) this.#writeDoubt(phase);
  }

  /** Reads after the end and the margin, as many as must end the doubt. */
  #due(): void {
    const dice = this.#dice;
    const of = this.#of;
    const needed = this.#progress.readsLeft;
    for (let n = 0; n < Math.max(1, needed); n++) {
      if (this.#phase.state !== 'doubt' && n > 0) return;
      const from = Math.max(this.#now, this.#progress.notBefore);
      if (n > 0 && dice.is(of.density >> 2)) {
        this.#note('restart during the proof');
        this.#restart();
      }
      if (dice.is(of.density >> 2)) this.#read({ startedAt: Math.max(this.#now, from - dice.between(1, 9_000)), isLate: true }); // prettier-ignore
      this.#read({ startedAt: this.#next() + dice.pick([0, 1, 400, 30_000]), isLate: true });
    }
    // A read with a gap, or one before its time, did not count.
    const isQuiet = of.quiet === 'always' || (of.quiet === 'quoted' && this.#progress.isQuoted);
    const left = !of.isExecuted && isQuiet && this.#phase.state === 'doubt' ? this.#progress.readsLeft : 0;
    for (let n = 0; n < left; n++) this.#read({ startedAt: this.#next(), isLate: false });
    if (!of.isExecuted && isQuiet && this.#phase.state === 'doubt') throw new Broken('the order did not trade, no row is strange, and the doubt stays open');
  } // prettier-ignore

  /** When the next read counts. */
  readonly #next = (): number => Math.max(this.#now, this.#progress.notBefore);

  /** A person says whose the rows are that hold the doubt open; then it must end. */
  #ask(): void {
    const of = this.#of;
    const { entries } = of;
    if (this.#verdict.is === 'open' && this.#verdict.rows.length > 0) this.#note('held open by rows');
    // Nobody can say what a row comes to whose figures cannot be read.
    const isLost = (each: Entry): boolean =>
      each.isOwn && each.spoiledFrom < NEVER && each.spoiledUntil === NEVER && (each.isFee || FIGURES.has(each.spoiledField));
    if (entries.some(isLost)) return;
    this.#now = Math.max(this.#now, of.settledAt);
    for (let round = 0; round < 6 && this.#phase.state === 'doubt'; round++) {
      const shown = this.#shown(0, this.#now, []);
      const held = this.#verdict.is === 'open' ? this.#verdict.rows : [];
      for (const row of shown) {
        if (!held.includes(row.id)) continue;
        this.#known.hear(row.id, row.of.isOwn ? OURS : undefined);
        this.#hasWords = true;
        this.#trace?.(`${this.#now} a person: row ${row.id} is ${row.of.isOwn ? 'ours' : 'not ours'}`);
      }
      this.#read({ startedAt: this.#next(), isLate: false });
    }
    if (this.#hasWords) this.#note('a person attributed rows');
    if (this.#phase.state === 'doubt' && !of.isBreach) throw new Broken('a person has attributed every row, and the doubt stays open');
    if (this.#hasWords && this.#phase.state === 'ended') this.#note('closed after words');
  } // prettier-ignore

  /** Reads after the fill, the last when nothing changes any more. */
  #follow(): void {
    const { settledAt, entries, endsAt, marginMs, isExecuted } = this.#of;
    if (!isExecuted) throw new Broken('filled, and nothing was executed');
    for (const each of entries)
      if (each.isOwn && each.renumberedAt > this.#now && each.renumberedAt < NEVER && each.amendedAt > each.renumberedAt)
        this.#read({ startedAt: Math.max(this.#now, each.renumberedAt), isLate: false });
    const last = Math.max(this.#now, settledAt, endsAt + marginMs, this.#dueAt);
    this.#read({ startedAt: last, isLate: false });
  } // prettier-ignore

  /** The rows that a whole read shows which was served at that time. */
  #shown(oldest: number, servedAt: number, gaps: readonly string[]): readonly Row[] {
    const { entries, earlier, isById } = this.#of;
    const rows: Row[] = [];
    const add = (each: Entry): void => {
      if (each.from > servedAt || each.from < oldest) return;
      const row = rowAt(each, servedAt);
      if (!gaps.includes(each.currency)) rows.push(row);
    };
    if (!isById) for (const each of earlier) add(each);
    for (const each of entries) {
      const isOld = isById && this.#now > this.#of.intentAt && each.from < this.#of.intentAt && each.renumberedAt > servedAt; // prettier-ignore
      if (!isOld) add(each);
    }
    return rows;
  }

  /** One read: what the product makes of it, what the plain rule makes of it, and what is true. */
  #read({ startedAt, isLate }: { readonly startedAt: number; readonly isLate: boolean }): void {
    const of = this.#of;
    const dice = this.#dice;
    this.#now = startedAt;
    // A read may be served late only where two of them are needed.
    const mayLag = isLate && of.answer === 'silence' && dice.is(of.density);
    const servedAt = mayLag ? startedAt - dice.below(GAP_MS) : startedAt;
    if (mayLag) this.#note('read late by less than the gap');
    const hasGap = isLate && dice.is(of.density >> 2);
    const gaps = hasGap ? [dice.is(128) ? BASE : QUOTE] : [];
    if (hasGap) this.#note('read with a gap');
    let rows = this.#shown(0, servedAt, gaps);
    if (dice.is(8)) {
      this.#note('rows in reverse');
      rows = rows.toReversed();
    }
    const isTwice = rows.length > 0 && dice.is(8);
    if (isTwice) this.#note('rows repeated');
    const read: Read = { rows, startedAt, servedAt, gaps };
    this.#trace?.(readText(read));
    const isOpen = this.#phase.state === 'doubt';
    const attributed = attribute(isTwice ? [...rows, ...rows] : rows, { mark: MARK, known: this.#known, open: isOpen ? [OURS] : [] });
    if (isOpen) this.#judge(read, attributed);
    if (this.#phase.state === 'filled') this.#compare(read, attributed.ours.get(OURS) ?? []);
    this.#known.see([...attributed.unattributed, ...attributed.others]);
    this.#check(read);
  } // prettier-ignore

  #judge(read: Read, attributed: ReturnType<typeof attribute>): void {
    const before = this.#phase as Doubt;
    const startedAt = monotonic(read.startedAt + this.#aheadMs);
    const doubtful = new Set(read.gaps);
    const judged = judge(this.#order, before, { ...attributed, startedAt, doubtful }, this.#known);
    const order = { ...this.#of, intentSeq: this.#order.intentSeq };
    const plain = judgePlainly(order, this.#progress, read, this.#known);
    this.#verdict = plain;
    this.#trace?.(`  product: ${judgedText(judged)}\n  plain:   ${plainText(plain)}`);
    const difference = differenceOf(judged, plain);
    if (difference !== undefined) throw new Broken(difference);
    if (judged.is === 'closed') {
      if (this.#of.isExecuted && !this.#of.isBreach) throw new Broken(`${judged.phase.result}, and it was executed`);
      this.#note('closed as absent');
      this.#phase = judged.phase;
    } else if (judged.is === 'filled') {
      if (!this.#of.isExecuted) throw new Broken('filled, and nothing was executed');
      if (judged.isMore === true) throw new Broken('more than the order, and no more was executed');
      this.#note(this.#progress.readsLeft > 0 ? 'filled at once' : 'filled after the margin');
      const { trade, missing } = judged;
      this.#phase = { state: 'filled', order: undefined as never, quote: undefined as never, differs: undefined };
      this.#book(fillFromEvidence(this.#open, trade, { now: instant(this.#now), decisionPrice: '60000', missing }));
    } else {
      this.#phase = judged.phase;
      const { proof, reason } = judged.phase;
      const hasMoved = reason !== before.reason || proof.readsLeft !== before.proof.readsLeft || proof.proves !== before.proof.proves;
      if (!hasMoved) return;
      this.#writeDoubt(judged.phase);
      if (judged.trade !== undefined && judged.trade.orderId !== '') this.#known.tie(judged.trade.orderId, OURS);
    }
  } // prettier-ignore

  #book(fill: FillRecord): void {
    this.#known.record();
    this.#fill = fill;
    this.#known.keep(OURS, fill.order_id, fill.rows ?? []);
  }

  /** A booked fill as this read shows it. */
  #compare(read: Read, own: ReturnType<typeof attribute>['unattributed']): void {
    const fill = this.#fill;
    if (fill === undefined || (own.length === 0 && fill.rows !== undefined)) return;
    const found = compareFill({
      fill,
      trade: own.length === 0 ? undefined : tradeOf(fill, own),
      covers: () => true,
      isDue: read.gaps.length === 0 && read.startedAt >= this.#dueAt,
      precisions: { basePrecision: 8, quotePrecision: 2 },
    });
    this.#trace?.(`  fill: ${found.is}${'why' in found ? `, ${found.why}` : ''}`);
    if (found.is === 'shown') this.#book({ ...fill, rows: found.rows });
    if (found.is !== 'differs') return;
    this.#note('fill corrected');
    if (found.isMore) throw new Broken(`executed twice, and it was not: ${found.why}`);
    this.#book(corrected(fill, found.correction));
  }

  /** After the margin the figures of the fill are the sum of the rows, and those are the truth. */
  #check({ rows, startedAt, servedAt, gaps }: Read): void {
    const of = this.#of;
    const fill = this.#fill;
    const isSettled = startedAt >= this.#dueAt && servedAt >= (of.isBreach ? of.settledAt : of.endsAt + of.marginMs);
    if (fill === undefined || gaps.length > 0 || !isSettled) return;
    // A row of ours that cannot be read is nobody's until it can.
    for (const each of of.entries) if (each.isOwn && isSpoiledAt(each, servedAt)) return;
    const owners = ownersOf(rows, this.#known);
    const sum = sumOf(rows.filter((row) => owners.get(row) === OURS));
    // After a breach of V3 nobody can say which rows that came too late are ours.
    const truth = of.isBreach ? sum : truthAt(of.entries, BASE, servedAt);
    if (!isSame(sum, truth)) throw new Broken(`the plain rule sums to ${figuresText(sum)}, and the truth is ${figuresText(truth)}`);
    if (!isBooked(fill, truth)) throw new Broken(`booked ${fillText(fill)}, and the truth is ${figuresText(truth)}`);
  } // prettier-ignore
}

const quoteOf = ({ lifeMs, datedLifeMs, receivedAt, quote, intent }: AccountCase): Quote => {
  const expiresAt = instant(1_700_000_000_000 + receivedAt + lifeMs);
  return {
    quoteId: 'q-1',
    pair: 'btcusd',
    side: intent.side,
    quantity: quantity(quote.quantity),
    amount: money(quote.amount),
    price: price(quote.price),
    quotedAt: instant(expiresAt - lifeMs),
    expiresAt,
    lifeMs,
    answeredAt: datedLifeMs === undefined ? undefined : instant(expiresAt - datedLifeMs),
  };
};

function differenceOf(judged: Judgement, plain: Verdict): string | undefined {
  if (judged.is === 'open' && plain.is === 'open') {
    const names = judged.rows.map(({ id }) => id);
    return names.length === plain.rows.length && names.every((id) => plain.rows.includes(id))
      ? undefined
      : `held open by rows ${names.join(' ')} instead of ${plain.rows.join(' ')}`;
  }
  if (judged.is === 'closed' && plain.is === 'absent') return undefined;
  if (judged.is !== 'filled' || plain.is !== 'filled') return `${judged.is} instead of ${plain.is}`;
  const { base, quote, fees } = plain.figures;
  const { trade } = judged;
  const hasSame =
    trade.quantity.eq(amount(base)) &&
    trade.amount.eq(amount(quote)) &&
    trade.fees.eq(amount(fees.get(QUOTE) ?? 0)) &&
    trade.otherFees.size === fees.size - (fees.has(QUOTE) ? 1 : 0) &&
    [...trade.otherFees].every(([currency, fee]) => fee.eq(amount(fees.get(currency) ?? 0)));
  return hasSame ? undefined : `filled with ${judgedText(judged)} instead of ${figuresText(plain.figures)}`;
}

function isSame(a: Figures, b: Figures): boolean {
  if (a.base !== b.base || a.quote !== b.quote || a.fees.size !== b.fees.size) return false;
  for (const [currency, fee] of a.fees) if (b.fees.get(currency) !== fee) return false;
  return true;
}

function isBooked(fill: FillRecord, { base, quote, fees }: Figures): boolean {
  if (fill.quantity !== written8(base) || fill.amount !== written8(quote)) return false;
  if (fill.fees !== written8(fees.get(QUOTE) ?? 0)) return false;
  let count = fees.has(QUOTE) ? 1 : 0;
  for (const currency in fill.other_fees) {
    if (fill.other_fees[currency] !== written8(fees.get(currency) ?? 0)) return false;
    count += 1;
  }
  return count === fees.size;
}

const feesText = (fees: ReadonlyMap<string, string>): string =>
  [...fees].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([currency, fee]) => ` ${fee} ${currency}`).join(''); // prettier-ignore

const figuresText = ({ base, quote, fees }: Figures): string =>
  `${written8(base)} for ${written8(quote)}, fees${feesText(new Map([...fees].map(([currency, fee]) => [currency, written8(fee)])))}`; // prettier-ignore

function fillText({ quantity: base, amount: quote, fees, other_fees: others = {} }: FillRecord): string {
  const all = new Map(Object.entries(others));
  if (fees !== '0') all.set(QUOTE, fees);
  return `${base} for ${quote}, fees${feesText(all)}`;
}

// For people.

function caseText(of: AccountCase): string {
  const lines = of.entries.map((each) => `  ${each.isOwn ? 'ours   ' : 'foreign'} ${JSON.stringify({ ...each, shown: undefined, shownUntil: undefined, isOwn: undefined })}`); // prettier-ignore
  return [
    `${of.intent.side} by ${of.intent.by} ${of.intent.size}; quote ${of.quote.quantity} for ${of.quote.amount}; answer: ${of.answer}; ${of.isExecuted ? 'executed' : 'not executed'}`,
    `intent ${of.intentAt}, sent ${of.sentAt}, stated end ${of.endsAt}, margin ${of.marginMs}; echo ${String(of.hasEcho)}; first read ${String(of.hasFirstRead)}`,
    ...lines,
  ].join('\n');
}

const rowLine = (row: Row): string =>
  `  row ${row.id.padStart(5)} ${row.action} ${row.currency} ${written8(row.units)} fees ${written8(row.feeUnits)} order=${row.orderId ?? ''} client=${row.clientId ?? ''} trade=${row.tradeId ?? ''} ${row.spoiled?.join() ?? ''}`;
const readText = ({ rows, startedAt, servedAt, gaps }: Read): string =>
  [`${startedAt} read, as of ${servedAt}${gaps.length > 0 ? `, gap in ${gaps.join()}` : ''}`, ...rows.map(rowLine)].join('\n'); // prettier-ignore

function judgedText(judged: Judgement): string {
  if (judged.is === 'closed') return `closed, ${judged.phase.result}`;
  if (judged.is === 'open') return `open, ${judged.why}, rows ${judged.rows.map(({ id }) => id).join(' ')}, reads left ${judged.phase.proof.readsLeft}`; // prettier-ignore
  const { trade, differs } = judged;
  const all = new Map([...trade.otherFees].map(([currency, fee]) => [currency, fee.toFixed()]));
  all.set(QUOTE, trade.fees.toFixed());
  return `filled ${trade.quantity.toFixed()} for ${trade.amount.toFixed()}, fees${feesText(all)}${differs === undefined ? '' : ` (${differs})`}`;
}

function plainText(verdict: Verdict): string {
  if (verdict.is === 'filled') return `filled ${figuresText(verdict.figures)}`;
  return verdict.is === 'open' ? `open, rows ${verdict.rows.join(' ')}` : 'absent';
}
