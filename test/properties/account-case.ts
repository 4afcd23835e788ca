import { clientId, deskMark } from '../../src/core/ids.ts';
import type { IntentRecord, QuoteRecord } from '../../src/core/record.ts';
import type { TransactionAction } from '../../src/core/venue.ts';
import { CENT, UNIT, written8 } from './amounts.ts';
import type { Dice } from './dice.ts';
import { NEVER, entry } from './ledger.ts';
import type { Entry } from './ledger.ts';
import type { Oddity } from './oddities.ts';

/**
 * One set: an order of ours, what the venue did with it, and everything that the account shows, within V1 to V3. V1: one
 * execution per quote, at most the quote. V2: nothing after the stated end. V3: every row shows within the booking margin
 * after that end, with our client id or the order id exactly; a mangled client id counts as none. A few sets break V3 by
 * rows that come later: there only the two rules are compared.
 */
export interface AccountCase {
  readonly intent: IntentRecord;
  readonly quote: QuoteRecord;
  /** Figures of the quote, in units. */
  readonly quotedBase: number;
  readonly quotedQuote: number;
  readonly askedAt: number;
  readonly receivedAt: number;
  readonly intentAt: number;
  readonly sentAt: number;
  /** Life of the quote by the clock of `date_quote`, and by the `Date` header. */
  readonly lifeMs: number;
  readonly datedLifeMs: number | undefined;
  /** Nothing executes after it. */
  readonly endsAt: number;
  readonly marginMs: number;
  readonly answer: 'filled' | 'refused' | 'silence';
  readonly isExecuted: boolean;
  /** Rows may come later than the margin. */
  readonly isBreach: boolean;
  readonly orderId: string;
  /** When a look-up of the order shows that it traded. */
  readonly lookedUpAt: number;
  readonly entries: Entry[];
  /** Rows of an earlier fill. */
  readonly earlier: readonly Entry[];
  readonly hasEcho: boolean;
  readonly hasFirstRead: boolean;
  /** A read that began before the intent and ended after the order had executed. */
  readonly hasReadUnderway: boolean;
  /** Whether every row of a foreign trade is harmless by how it was made: always, or as long as the quote is known. */
  readonly quiet: 'always' | 'quoted' | 'never';
  /** When nothing changes any more. */
  readonly settledAt: number;
  /** Reads go by id from the newest row before the intent. */
  readonly isById: boolean;
  readonly density: number;
}

const DESK = 'properties';
export const MARK = deskMark(DESK);
const idOf = (slice: number, desk = DESK): string =>
  clientId({ desk, parent: 'abcdefgh', slice, attempt: 0 });
export const OURS = idOf(0);
export const EARLIER = idOf(1);
const ANOTHER = idOf(2);
export const [BASE, QUOTE, THIRD] = ['btc', 'usd', 'bnb'] as const;
const LOT = UNIT / 80;
/** Orders in lots. Few, so that the product finds most amounts among those that it has read before. */
const SIZES = [2, 3, 6, 10] as const;
const PRICE = 60_000;
/** The worst price at which the order may be sent. */
export const WORST = { buy: 60_600, sell: 59_400 } as const;

const REPLACED = ['9b2f1c52-7a1e-4a39-8f7b-0d6f3f1b2c11', 'order 5512', 'web-client', '88123441'] as const;
const PLACEHOLDERS = ['-', '0', 'null', 'N/A', 'none', '00000', '--'] as const;
const MANGLED = [
  OURS.toUpperCase(),
  OURS.slice(0, 20),
  OURS.slice(0, 12),
  OURS.slice(0, 8),
  OURS.slice(3),
  OURS.slice(-12),
  OURS.replaceAll('-', ''),
  OURS.replaceAll('-', '_'),
  `"${OURS}"`,
  `${OURS}-1`,
  `rfq:${OURS}`,
  ` ${OURS}`,
  `${OURS.slice(0, 18)}...`,
  OURS.slice(0, 3),
  ...PLACEHOLDERS,
] as const;
const FOREIGN = [
  'algo-0007-a',
  'desk2.551209',
  '5512093',
  idOf(4, 'elsewhere'),
  'manual entry',
  'x1',
] as const;
const EARLIER_ORDER = '400001';
const OWN_ORDER = '400777';

/** Makes one set. */
export class CaseMaker {
  readonly #dice: Dice;
  readonly #note: (oddity: Oddity) => void;
  #density = 0;
  #nextId = 0;

  constructor(dice: Dice, note: (oddity: Oddity) => void) {
    this.#dice = dice;
    this.#note = note;
  }

  /** Whether an oddity is in this set; if so it is counted. */
  #odd(oddity: Oddity, share = this.#density): boolean {
    if (!this.#dice.is(share)) return false;
    this.#note(oddity);
    return true;
  }

  #newId(): string {
    this.#nextId += 1;
    return String(this.#nextId);
  }

  make(): AccountCase {
    const dice = this.#dice;
    this.#density = dice.pick([8, 24, 48, 110]);
    this.#nextId = 1000;
    const side = dice.is(128) ? 'buy' : 'sell';
    const by = dice.is(150) ? 'quantity' : 'amount';
    this.#note(side);
    this.#note(by === 'amount' ? 'by amount' : 'by quantity');
    const lots = dice.pick(SIZES);
    const quotedBase = lots * LOT;
    const quotedQuote = lots * LOT * PRICE;
    const wanted = by === 'quantity' ? quotedBase : quotedQuote;
    const times = this.#times();
    const answer = dice.is(96) ? 'silence' : dice.is(128) ? 'refused' : 'filled';
    const isExecuted = times.sentAt < times.endsAt && (answer === 'filled' || dice.is(170));
    const intent: IntentRecord = {
      kind: 'intent',
      client_order_id: OURS,
      strategy: 's',
      parent: 'abcdefgh',
      slice: 0,
      attempt: 0,
      pair: 'btcusd',
      base: BASE,
      quote: QUOTE,
      side,
      by,
      size: written8(wanted),
      worst_price: String(WORST[side]),
      reference_price: '60000',
      notional_usd: written8(quotedQuote),
      cuts: [],
      boot: { id: 'b-1', ms: times.intentAt },
    };
    const quote: QuoteRecord = {
      kind: 'quote',
      client_order_id: OURS,
      quote_id: 'q-1',
      quantity: written8(quotedBase),
      price: '60000',
      amount: written8(quotedQuote),
      life_ms: Math.max(times.lifeMs, times.datedLifeMs ?? 0),
      age_ms: 1,
    };
    const hasEcho = this.#odd('our ids echoed before', 70);
    const hasFirstRead = dice.is(170);
    const made = {
      intent,
      quote,
      quotedBase,
      quotedQuote,
      ...times,
      answer: answer === 'filled' && !isExecuted ? 'refused' : answer,
      isExecuted,
      isBreach: isExecuted && this.#odd('row later than the margin', this.#density >> 3),
      orderId: OWN_ORDER,
      hasEcho,
      hasFirstRead,
      isById: this.#odd('read by id', this.#density >> 1),
      density: this.#density,
    } as const;
    this.#note(isExecuted ? 'executed' : 'not executed');
    this.#note(made.answer === 'filled' ? 'answered' : 'silence');
    if (made.answer === 'refused' && isExecuted) this.#note('executed although refused');
    const earlier = this.#earlier();
    const isTiedElsewhere = made.answer === 'filled';
    const lookedUpAt =
      isExecuted && made.answer !== 'filled' && this.#odd('lookup shows the order', this.#density >> 1)
        ? dice.between(times.sentAt, times.endsAt)
        : NEVER;
    const foreign = this.#foreign(made);
    const own = isExecuted ? this.#own(made, isTiedElsewhere || lookedUpAt < NEVER) : [];
    const others = this.#odd('trade of another order of ours', this.#density >> 1) ? this.#another(made) : [];
    const entries = [...foreign.before, ...own, ...foreign.since, ...others];
    let settledAt = times.endsAt + times.marginMs;
    for (const each of entries)
      for (const change of [
        each.from,
        each.amendedAt,
        each.renumberedAt,
        each.clientIdUntil,
        each.idsFrom,
        each.spoiledUntil,
      ])
        if (change < NEVER && change > settledAt) settledAt = change;
    return {
      ...made,
      entries,
      earlier,
      lookedUpAt,
      quiet: foreign.quiet,
      hasReadUnderway:
        isExecuted && hasFirstRead && this.#odd('read underway at the intent', this.#density >> 2),
      settledAt,
    };
  }

  /** The life of the quote. Its stated end is the one by the clock of `date_quote`, or the one by the `Date` header. */
  #times(): Pick<
    AccountCase,
    'askedAt' | 'receivedAt' | 'intentAt' | 'sentAt' | 'lifeMs' | 'datedLifeMs' | 'endsAt' | 'marginMs'
  > {
    const dice = this.#dice;
    const askedAt = 10_000;
    const receivedAt = askedAt + dice.between(20, 600);
    const createdAt = dice.between(askedAt, receivedAt);
    const marginMs = dice.pick([2_000, 10_000, 10_000, 20_000, 300_000]);
    let lifeMs = dice.pick([2_000, 5_000, 15_000, 15_000, 30_000]);
    let endsAt = createdAt + lifeMs;
    let datedLifeMs: number | undefined;
    if (dice.is(128)) {
      const truly = lifeMs;
      const leftBefore = dice.below(1_000);
      datedLifeMs = truly + leftBefore;
      if (this.#odd('clock of the quote differs')) {
        lifeMs = Math.max(1_500, truly + dice.pick([-25_000, -13_000, -1_500, 1_500, 6_000]));
        if (dice.is(128)) endsAt = createdAt + Math.max(truly, lifeMs);
      }
    }
    const intentAt = receivedAt + dice.between(1, 200);
    const sentAt = intentAt + dice.between(1, 300);
    return { askedAt, receivedAt, intentAt, sentAt, lifeMs, datedLifeMs, endsAt, marginMs };
  }

  /** The rows of our order. */
  #own(of: Made, isTied: boolean): Entry[] {
    const dice = this.#dice;
    const { intent, endsAt, marginMs } = of;
    const executedAt = dice.between(of.sentAt, endsAt - 1);
    const lastAt = endsAt + marginMs + (of.isBreach ? 60_000 : 0);
    let [base, quote] = [of.quotedBase, of.quotedQuote];
    if (of.answer !== 'filled' && this.#odd('executed in part')) {
      const lots = dice.between(1, of.quotedBase / LOT - 1);
      base = lots * LOT;
      quote = lots * LOT * PRICE;
    } else if (of.answer !== 'filled' && intent.by === 'quantity' && this.#odd('executed at a better price'))
      quote -= dice.pick([1, 250, 5_000]) * CENT;
    const isSplit = this.#odd('split in parts', Math.max(40, this.#density));
    const count = isSplit ? Math.min(dice.between(2, 3), base / LOT) : 1;
    const entries: Entry[] = [];
    const signs = this.#signs(intent.side);
    const ids = this.#idStyle(of, isTied);
    const fees = this.#feeStyle();
    let [baseLeft, quoteLeft] = [base, quote];
    for (let part = 1; part <= count; part++) {
      const isLast = part === count;
      const lots = isLast ? baseLeft / LOT : dice.between(1, baseLeft / LOT - (count - part));
      const ofBase = isLast ? baseLeft : lots * LOT;
      let ofQuote = isLast ? quoteLeft : Math.trunc((quote / CENT) * (ofBase / base)) * CENT;
      baseLeft -= ofBase;
      quoteLeft -= ofQuote;
      if (intent.by === 'quantity' && isSplit && this.#odd('parts rounded separately')) ofQuote += CENT;
      const bookedAt = dice.is(128) ? executedAt : this.#late(executedAt, lastAt);
      const legs = [
        entry({ isOwn: true, isFee: false, currency: BASE, units: ofBase, feeUnits: fees === 'base' ? 1_000 * part : 0, sign: signs.base, action: signs.baseAction, id: this.#newId(), from: bookedAt }),
        entry({ isOwn: true, isFee: false, currency: QUOTE, units: ofQuote, feeUnits: fees === 'quote' ? 3 * CENT * part : fees === 'rebate' ? -CENT : 0, sign: signs.quote, action: signs.quoteAction, id: this.#newId(), from: bookedAt }),
      ]; // prettier-ignore
      if (dice.is(40)) legs.reverse();
      for (const leg of legs) {
        leg.tradeId = ids.trade === 'part' ? `t-${part}` : ids.trade === 'shared' ? 't-1' : ids.trade === 'counted' ? String(part) : ids.trade === 'zero' ? '0' : undefined; // prettier-ignore
        if (dice.is(40)) {
          leg.from = this.#late(bookedAt, lastAt);
          this.#note('row late within the margin');
        }
      }
      entries.push(...legs);
    }
    const feeRow = this.#feeRow(fees, this.#late(executedAt, lastAt));
    if (feeRow !== undefined) entries.push(feeRow);
    this.#name(entries, ids);
    for (const each of entries) this.#change(each, of, ids);
    return entries;
  }

  #late(from: number, to: number): number {
    const dice = this.#dice;
    if (to <= from) return from;
    return dice.is(60) ? to : dice.between(from, to);
  }

  /** How the legs are signed and which way they say they go. The same for all rows of a currency. */
  #signs(side: 'buy' | 'sell'): Signs {
    const [into, out] = side === 'buy' ? ([1, -1] as const) : ([-1, 1] as const);
    const other = side === 'buy' ? 'sell' : 'buy';
    const actions = this.#odd('directions of legs differ')
      ? ({ baseAction: other, quoteAction: this.#dice.is(128) ? side : other } as const)
      : ({ baseAction: side, quoteAction: side } as const);
    if (this.#odd('amounts unsigned')) return { base: 1, quote: 1, ...actions };
    if (this.#odd('signs turned round')) return { base: out, quote: into, ...actions };
    return { base: into, quote: out, ...actions };
  }

  #feeStyle(): FeeStyle {
    const style = this.#dice.pick(['none', 'none', 'quote', 'quote', 'base', 'row', 'third', 'rebate', 'leg', 'credit'] as const); // prettier-ignore
    if (style === 'quote') this.#note('fees on the quote leg');
    if (style === 'base') this.#note('fees on the base leg');
    if (style === 'row') this.#note('fees as a row of their own');
    if (style === 'third' || style === 'leg') this.#note('fees in a third currency');
    if (style === 'rebate' || style === 'credit') this.#note('rebate');
    return style;
  }

  #feeRow(style: FeeStyle, from: number): Entry | undefined {
    const dice = this.#dice;
    const id = this.#newId();
    if (style === 'leg')
      return entry({ isOwn: true, isFee: true, currency: THIRD, units: 70_000, feeUnits: 0, sign: -1, action: 'buy', id, from }); // prettier-ignore
    const currency = style === 'third' ? THIRD : dice.is(60) ? BASE : QUOTE;
    const units = currency === QUOTE ? 240 * CENT : 2_400;
    if (style === 'credit')
      return entry({ isOwn: true, isFee: true, currency, units, feeUnits: 0, sign: dice.is(200) ? 1 : -1, action: 'credit', id, from }); // prettier-ignore
    if (style !== 'row' && style !== 'third') return undefined;
    return entry({ isOwn: true, isFee: true, currency, units, feeUnits: dice.is(40) ? units : 0, sign: dice.is(200) ? -1 : 1, action: 'charge', id, from }); // prettier-ignore
  }

  /** Which ids the list carries. */
  #idStyle(of: Made, isTied: boolean): IdStyle {
    const dice = this.#dice;
    const list = dice.pick(['both', 'both', 'client', 'order', 'one leg', 'mangled', 'mixed'] as const);
    if (list === 'client') this.#note('client ids only');
    if (list === 'order') this.#note('order ids only');
    const trade = dice.pick(['part', 'part', 'shared', 'none', 'counted', 'zero'] as const);
    if (trade === 'shared') this.#note('parts share a trade id');
    if (trade === 'none' || trade === 'zero') this.#note('trade ids missing');
    // Counted ids say nothing without an order id.
    const counted = trade === 'counted' && (list === 'client' || list === 'mixed') ? 'none' : trade;
    if (counted === 'counted') this.#note('trade ids counted per order');
    const zero =
      list === 'client' && this.#odd('order id is a placeholder', 90) ? dice.pick(PLACEHOLDERS) : undefined;
    // On an account that has shown our ids, another text is another's, unless the order id is known to be ours.
    const mayReplace = !of.hasEcho || isTied;
    return { list, trade: counted, zero, mayReplace };
  }

  #mangled(mayReplace: boolean): string {
    if (mayReplace && this.#dice.is(80)) {
      this.#note('client id replaced');
      return this.#dice.pick(REPLACED);
    }
    this.#note('client id mangled');
    return this.#dice.pick(MANGLED);
  }

  #name(entries: readonly Entry[], { list, zero, mayReplace }: IdStyle): void {
    const dice = this.#dice;
    const named = dice.below(2);
    if (list === 'one leg') this.#note('client id on one leg only');
    for (const [index, each] of entries.entries()) {
      const isNamed =
        list === 'both' || list === 'client' || (list === 'one leg' ? index % 2 === named : list === 'mixed' && dice.is(128));
      each.clientId = isNamed ? OURS : undefined;
      each.orderId = list === 'client' ? zero : isNamed && list === 'mixed' && dice.is(128) ? undefined : OWN_ORDER;
      if (list === 'mangled') each.clientId = this.#mangled(mayReplace);
      // A row of its own that only an untied order id names would be nobody's.
      if (each.isFee && list === 'mixed') each.clientId = OURS;
      if (
        !each.isFee && each.clientId === OURS && each.tradeId?.startsWith('t-') === true && dice.is(6) &&
        entries.some((other, at) => at < index && other.tradeId === each.tradeId && other.clientId === OURS)
      ) {
        this.#note('leg tied by its trade id only');
        each.clientId = undefined;
        each.orderId = undefined;
      }
    } // prettier-ignore
    // One leg may show another text while the other names the order.
    if (list === 'one leg' && this.#odd('client id mangled')) {
      const text = this.#dice.is(128) ? this.#dice.pick(REPLACED) : this.#dice.pick(MANGLED);
      for (const each of entries)
        if (each.clientId === undefined && each.orderId !== undefined) each.clientId = text;
    }
  }

  /** What happens to a row of ours after it was booked. */
  #change(each: Entry, of: Made, ids: IdStyle): void {
    const dice = this.#dice;
    const lastAt = of.endsAt + of.marginMs;
    this.#stamp(each);
    if (this.#odd('ids come late', this.#density >> 1)) each.idsFrom = this.#late(each.from, lastAt);
    const span = lastAt + (dice.is(128) ? 0 : 60_000);
    if (this.#odd('row amended', this.#density >> 1)) {
      each.amendedAt = this.#late(each.from + 1, span);
      if (each.amendedAt > lastAt) this.#note('row amended after the margin');
      each.firstFeeUnits = dice.is(128) ? each.feeUnits : each.isFee ? 0 : dice.below(4) * 1000;
      each.firstUnits = dice.is(128) ? each.units - (each.isFee ? 100 : dice.pick([CENT, 100 * CENT])) : each.units; // prettier-ignore
      if (each.firstUnits <= 0) each.firstUnits = each.units;
    }
    if (this.#odd('row renumbered', this.#density >> 1)) {
      each.renumberedAt =
        dice.is(50) && each.amendedAt > each.from ? each.amendedAt : this.#late(each.from + 1, span);
      each.laterId = this.#newId();
      if (each.renumberedAt === each.amendedAt) this.#note('row renumbered and amended at once');
    }
    // On an account that has shown our ids, the row that ties the order id to ours must keep its client id.
    const isOnlyName = ids.list === 'one leg' && of.hasEcho && !ids.mayReplace;
    if (!isOnlyName && !each.isFee && each.clientId === OURS && each.orderId === OWN_ORDER && this.#odd('client id dropped later', this.#density >> 2)) {
      each.clientIdUntil = this.#late(each.from + 1, span);
      each.laterClientId = dice.is(128) ? undefined : this.#mangled(ids.mayReplace && !of.hasEcho);
    } // prettier-ignore
    if (!isOnlyName && this.#odd('row with a spoiled field', this.#density >> 2)) this.#spoil(each, lastAt);
  }

  #spoil(each: Entry, lastAt: number): void {
    const dice = this.#dice;
    each.spoiledField = dice.pick([
      'fees',
      'amount',
      'currency',
      'order_id',
      'client_order_id',
      'trade_id',
      'action',
    ]);
    if (each.spoiledField === 'action') this.#note('action unreadable');
    each.spoiledFrom = dice.is(128) ? each.from : this.#late(each.from, lastAt);
    if (!dice.is(170)) return;
    each.spoiledUntil = this.#late(each.spoiledFrom + 1, Math.max(lastAt, each.spoiledFrom + 1));
    this.#note('row spoiled for a while');
  }

  #stamp(each: Entry): void {
    if (this.#odd('ledger clock far off', 40)) each.stamp = Math.max(0, each.stamp + this.#dice.pick([-18_000_000, -3_000, 3_600_000]));
    else if (this.#odd('stamps missing', 12)) each.stamp = 0;
  } // prettier-ignore

  /** Trades of others on the account. */
  #foreign(of: Made): { readonly before: Entry[]; readonly since: Entry[]; readonly quiet: AccountCase['quiet'] } {
    const dice = this.#dice;
    const [before, since]: [Entry[], Entry[]] = [[], []];
    let quiet: AccountCase['quiet'] = 'always';
    const count = dice.pick([0, 0, 0, 1, 1, 2]);
    for (let n = 0; n < count; n++) {
      const kind = dice.pick(['seen', 'seen', 'unseen', 'since', 'since', 'large', 'pair'] as const);
      const lots = kind === 'large' ? 12 : dice.pick(SIZES);
      let [base, quote] = [lots * LOT, lots * LOT * PRICE];
      if (kind === 'since' && this.#odd('foreign trade like the quote', 128)) [base, quote] = [of.quotedBase, of.quotedQuote];
      const from = kind === 'seen' ? 1_000 : kind === 'unseen' ? 5_000 : dice.between(of.sentAt, of.endsAt + of.marginMs + 30_000);
      const pair = kind === 'pair' ? ['eth', 'eur'] : [BASE, QUOTE];
      if (kind === 'large') this.#note('foreign trade larger than the order');
      if (kind === 'pair') this.#note('foreign trade in another pair');
      if (kind === 'seen') this.#note(of.hasFirstRead ? 'foreign trade seen before' : 'foreign trade unseen before');
      if (kind === 'unseen') this.#note('foreign trade unseen before');
      if (kind === 'since') this.#note('foreign trade since the intent');
      const isKnown = kind === 'large' || kind === 'pair' || (kind === 'seen' && of.hasFirstRead);
      const rows = this.#foreignTrade({ base, quote, from, pair, index: n });
      for (const each of rows) {
        const isMoved = each.renumberedAt < NEVER && kind === 'seen';
        const isSpoiled = each.spoiledFrom < NEVER && kind !== 'seen';
        if (!isKnown || isMoved || isSpoiled) quiet = 'never';
        else if (kind === 'large' && quiet === 'always') quiet = 'quoted';
        (kind === 'seen' || kind === 'unseen' ? before : since).push(each);
      }
    }
    return { before, since, quiet };
  } // prettier-ignore

  #foreignTrade(of: { readonly base: number; readonly quote: number; readonly from: number; readonly pair: readonly string[]; readonly index: number }): readonly Entry[] {
    const dice = this.#dice;
    const [sign, action]: readonly [1 | -1, TransactionAction] = dice.is(128) ? [1, 'buy'] : [-1, 'sell'];
    const legs = [
      entry({ isOwn: false, isFee: false, currency: of.pair[0] ?? '', units: of.base, feeUnits: 0, sign, action, id: this.#newId(), from: of.from }),
      entry({ isOwn: false, isFee: false, currency: of.pair[1] ?? '', units: of.quote, feeUnits: dice.is(128) ? CENT : 0, sign: sign === 1 ? -1 : 1, action, id: this.#newId(), from: of.from }),
    ];
    const orderId = dice.is(140) ? `9000${of.index}` : dice.is(128) ? dice.pick(PLACEHOLDERS) : undefined;
    const hasOrder = orderId?.startsWith('9000') === true;
    const tradeId = dice.is(100) ? `f-${of.index}` : hasOrder && dice.is(100) ? '1' : dice.is(60) ? '0' : undefined;
    const text = this.#odd('foreign trade with a client id', 90) ? dice.pick(FOREIGN) : undefined;
    for (const each of legs) {
      each.orderId = orderId;
      each.tradeId = tradeId;
      each.clientId = text;
      this.#stamp(each);
      if (this.#odd('foreign row renumbered', this.#density >> 3)) {
        each.renumberedAt = of.from + dice.between(1, 60_000);
        each.laterId = this.#newId();
      }
      if (this.#odd('foreign row with a spoiled field', this.#density >> 3)) this.#spoil(each, of.from + 20_000);
    }
    return dice.is(200) ? legs : legs.slice(0, 1);
  } // prettier-ignore

  /** The trade of another order of ours, with our id. */
  #another(of: Made): Entry[] {
    const from = this.#dice.between(of.sentAt, of.endsAt + of.marginMs);
    return this.#pairOfRows(from, ANOTHER, '400888', 't-8');
  }

  /** An earlier fill. */
  #earlier(): Entry[] {
    if (!this.#odd('earlier fill of ours', 40)) return [];
    return this.#pairOfRows(500, EARLIER, EARLIER_ORDER, this.#dice.is(128) ? '1' : 't-0');
  }

  #pairOfRows(from: number, name: string, orderId: string, tradeId: string): Entry[] {
    const legs = [
      entry({ isOwn: false, isFee: false, currency: BASE, units: LOT, feeUnits: 0, sign: 1, action: 'buy', id: this.#newId(), from }),
      entry({ isOwn: false, isFee: false, currency: QUOTE, units: 750 * UNIT, feeUnits: CENT, sign: -1, action: 'buy', id: this.#newId(), from }),
    ];
    for (const each of legs) {
      each.orderId = orderId;
      each.tradeId = tradeId;
      each.clientId = name;
    }
    return legs;
  } // prettier-ignore
}

type Made = Pick<AccountCase, 'intent' | 'quotedBase' | 'quotedQuote' | 'sentAt' | 'endsAt' | 'marginMs' | 'answer' | 'isBreach' | 'hasEcho' | 'hasFirstRead'>; // prettier-ignore
type FeeStyle = 'none' | 'quote' | 'base' | 'row' | 'third' | 'rebate' | 'leg' | 'credit';
interface Signs {
  readonly base: 1 | -1;
  readonly quote: 1 | -1;
  readonly baseAction: 'buy' | 'sell';
  readonly quoteAction: 'buy' | 'sell';
}
interface IdStyle {
  readonly list: 'both' | 'client' | 'order' | 'one leg' | 'mangled' | 'mixed';
  readonly trade: 'part' | 'shared' | 'none' | 'counted' | 'zero';
  readonly zero: string | undefined;
  readonly mayReplace: boolean;
}
