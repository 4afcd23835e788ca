import { OperatorError } from '../core/errors.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  cost,
  counted,
  holding,
  isAboveZero,
  negate,
  size,
  subtract,
  text,
} from '../core/money.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import { instant, isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { dateOf } from './events.ts';
import type { AccountingEvent, CorrectionEvent, MovementEvent, Source, TradeEvent } from './events.ts';
import type { BookMethod } from './jurisdictions.ts';
import { Lots } from './lots.ts';
import type { Choice, Lot, LotChange, LotMethod } from './lots.ts';
import { DAYS_AFTER, POOL, SharePools } from './share-pool.ts';
import type { Identification } from './share-pool.ts';
import { ZonedDays, dateText } from './zoned-days.ts';

/** Accounts of the books. Each currency has its own holdings account. */
export const ACCOUNTS = [
  'holdings',
  'opening balances',
  'deposits',
  'withdrawals',
  'realised gains',
  'credits',
  'trading fees',
  'transfer fees',
  'interest',
  'charges',
] as const;
export type Account = (typeof ACCOUNTS)[number];

/** One line of an entry. The values of an entry add up to zero, exactly. */
export interface Posting {
  readonly account: Account;
  readonly currency: string;
  /** In `currency`. For all accounts except holdings, it equals the value. */
  readonly quantity: Quantity;
  /** In the currency of the books: for a holding, its cost. Income is negative, as usual in double-entry bookkeeping. */
  readonly value: Money;
  /** The lot that the units leave or, with `isNew`, create; absent for the currency of the books. */
  readonly lot?: (Pick<Lot, 'id' | 'acquiredAt'> & { readonly isNew: boolean }) | undefined;
}

/** A disposed part of a lot. In a correction, it adjusts earlier ones. */
export interface Gain {
  readonly currency: string;
  readonly lot: string;
  readonly acquiredAt: Instant;
  readonly disposedAt: Instant;
  readonly quantity: Quantity;
  readonly cost: Money;
  readonly proceeds: Money;
}

/** Returns the gain; negative for a loss. */
export const gainOf = ({ proceeds, cost: paid }: Pick<Gain, 'proceeds' | 'cost'>): Money =>
  subtract(proceeds, paid);

/** An entry of the books. Entries never change: a correction adds further entries. */
export interface Entry {
  /** Unique; client order id or transaction of the event. */
  readonly id: string;
  readonly at: Instant;
  /** `identification`: share pooling identifies disposals with units other than the booked ones. */
  readonly what: AccountingEvent['type'] | 'opening' | 'identification';
  readonly description: string;
  readonly postings: readonly Posting[];
  readonly gains: readonly Gain[];
  /** Until this time, acquisitions may change how share pooling identifies its disposals, so their gain is provisional. */
  readonly provisionalUntil?: Instant | undefined;
  /** Number of the record that closed its period; absent while the period is open. */
  readonly closing?: number | undefined;
  /** Whether the entry reverses an earlier one. */
  readonly isReversal?: true | undefined;
  /** Absent for opening balances, which a person declares. */
  readonly source?: Source | undefined;
}

export interface BookSettings {
  /** Currency of the books, such as `usd`. */
  readonly currency: string;
  readonly method: BookMethod;
  /** Time zone of the days of share pooling. */
  readonly timeZone?: string | undefined;
  /** Value of one unit in the currency of the books. */
  readonly priceAt: (currency: string, at: Instant) => Price | undefined;
  /** Returns the lots that the disposal of this id takes before others. */
  readonly choiceOf: (id: string) => Choice | undefined;
  /** Returns the cost and date that a person declared for the units of a deposit; `undefined`: the units count at their value. */
  readonly costOf: (id: string) => Pick<Lot, 'cost' | 'acquiredAt'> | undefined;
  /** Whether a later correction changes this trade. The books then keep the trade's effects. */
  readonly isCorrected: (id: string) => boolean;
  /** Ends of the closed periods, oldest first. Default: none. */
  readonly closedUntil?: readonly Instant[] | undefined;
}

/** A change of a holding: `cost` is the value of its units. Both are negative for units that leave. */
interface Move extends Lot {
  readonly currency: string;
  /** Time of the change, for gains; `acquiredAt` unless it corrects something. */
  readonly at?: Instant | undefined;
  readonly choice?: Choice | undefined;
  /** Whether the units belong to the same owner and come from elsewhere. */
  readonly isTransfer?: boolean | undefined;
}

/** The effects of a trade, for its correction. */
interface Booked {
  readonly trade: TradeEvent;
  readonly changes: readonly LotChange[];
  readonly version: number;
}

/** The reversal of a trade in one currency. */
interface Reversed {
  readonly currency: string;
  /** Previously disposed parts, which are now lots of their own. Quantities are positive. */
  readonly returned: readonly (Pick<Lot, 'quantity'> & { readonly id: string })[];
  /** Units that have left the trade's lot since. */
  readonly sold: Quantity;
}

/** An unfinished entry. */
class Draft {
  readonly postings: Posting[] = [];
  readonly gains: Gain[] = [];
  readonly changes: LotChange[] = [];
}

/** One account's double-entry books with tax lots: a fold of its events, oldest first. */
export class Subledger {
  readonly #settings: BookSettings;
  readonly #lots: Lots;
  readonly #booked = new Map<string, Booked>();
  /** Pools of share pooling, under which each currency has one lot: its pool. */
  readonly #pools: SharePools | undefined;
  readonly #days: ZonedDays;
  /** Date of the event that is being booked. */
  #date: Instant | undefined;

  constructor(settings: BookSettings) {
    const { method, timeZone = 'UTC' } = settings;
    this.#settings = settings;
    this.#lots = method === 'pool' ? new Lots('average', POOL) : new Lots(method);
    this.#pools = method === 'pool' ? new SharePools() : undefined;
    this.#days = new ZonedDays(timeZone);
  }

  /** Changes the method of later disposals. Pools and averages stay as they are. */
  changeMethod(method: Exclude<LotMethod, 'average'>): void {
    this.#lots.changeMethod(method);
  }

  /** Ends the days before the day of `at`, so that share pooling identifies their disposals. @throws OperatorError as `book` */
  *endDays(at: Instant): Generator<Entry> {
    if (this.#pools === undefined) return;
    for (const ended of this.#pools.endDays(this.#days.dayOf(at))) {
      const entry = this.#identification(ended);
      if (entry !== undefined) yield entry;
    }
  }

  /** Returns the open lots, in the order of their disposal. */
  lots(): Iterable<readonly [currency: string, lot: Lot]> {
    return this.#lots.open();
  }

  /** Books a holding from before the first event, at its cost. `bookedAt`: when it was found, if the books had already started. */
  openWith(currency: string, lot: Lot, bookedAt?: Instant): Entry {
    const draft = new Draft();
    this.#date = bookedAt ?? lot.acquiredAt;
    this.#move(draft, { ...lot, currency, isTransfer: true });
    this.#post(draft, 'opening balances', negate(lot.cost));
    const found = bookedAt === undefined ? '' : 'adjustment, held before the first entry: ';
    const description = `${found}${text(lot.quantity)} ${currency}, lot ${lot.id}`;
    return {
      id: `opening ${lot.id}`,
      at: this.#date,
      what: 'opening',
      description,
      ...this.#finished(draft),
    };
  }

  /** Books an event. @throws OperatorError `data` when a price is missing, the books hold too little, or a correction has no trade. */
  book(event: AccountingEvent): readonly Entry[] {
    this.#date = dateOf(event);
    if (event.type === 'trade') return [this.#trade(event)];
    if (event.type === 'correction') return this.#correction(event);
    return [this.#movement(event)];
  }

  #trade(trade: TradeEvent): Entry {
    const draft = new Draft();
    this.#bookTrade(draft, trade, { lot: trade.id, at: trade.at });
    const { id, side, base, source } = trade;
    if (this.#settings.isCorrected(id)) this.#booked.set(id, { trade, changes: draft.changes, version: 1 });
    const description = `${lateWords(trade)}${side} ${text(trade.quantity)} ${base}: ${trade.description}`;
    return { id, at: dateOf(trade), what: 'trade', description, ...this.#finished(draft), source };
  }

  /** `reversed`: the reversal by a correction, so that the trade takes the same lots again. */
  #bookTrade(
    draft: Draft,
    trade: TradeEvent,
    { lot, at, reversed = [] }: { lot: string; at: Instant; reversed?: readonly Reversed[] },
  ): void {
    const { id, at: acquiredAt, base, quote, side, quantity, amount, fees } = trade;
    const value = this.#value(quote, holding(amount), acquiredAt);
    const fee = this.#value(quote, holding(fees), acquiredAt);
    const isBuy = side === 'buy';
    const choiceOf = (currency: string): Choice | undefined =>
      reversed
        .find((each) => each.currency === currency)
        ?.returned.map((part) => ({ lot: part.id, quantity: part.quantity })) ?? this.#settings.choiceOf(id);
    this.#move(draft, {
      id: lot,
      acquiredAt,
      at,
      currency: base,
      quantity: isBuy ? quantity : negate(quantity),
      cost: isBuy ? value : negate(value),
      choice: choiceOf(base),
    });
    this.#move(draft, {
      id: quoteLot(lot, quote),
      acquiredAt,
      at,
      currency: quote,
      quantity: holding(isBuy ? negate(add(amount, fees)) : subtract(amount, fees)),
      cost: isBuy ? negate(add(value, fee)) : subtract(value, fee),
      choice: choiceOf(quote),
    });
    this.#post(draft, 'trading fees', fee);
  }

  /**
   * Books a correction: one entry reverses the trade, another books it as the account shows it, dated when the
   * difference became known. If units of the trade have been sold since, a third entry sells them again from the
   * corrected lot, because their gain changes with their cost.
   */
  #correction(event: CorrectionEvent): readonly Entry[] {
    const { id, quantity, amount, fees, source } = event;
    const at = dateOf(event);
    const before = this.#booked.get(id);
    if (before === undefined)
      throw new OperatorError('data', `the journal corrects ${id}, but the books do not contain that trade`);
    const { trade, changes, version } = before;
    const [old, lot] = [version === 1 ? id : `${id} (${version})`, `${id} (${version + 1})`];
    const reversal = new Draft();
    const reversed = changes.map((change) => this.#reverse(reversal, change, { lot, at }));
    this.#reverseCash(reversal, trade);
    const again = new Draft();
    const now: TradeEvent = { ...trade, quantity, amount, fees };
    this.#bookTrade(again, now, { lot, at, reversed });
    this.#booked.set(id, { trade: now, changes: [...again.changes], version: version + 1 });
    const resold = new Draft();
    for (const { currency, sold } of reversed) {
      const from = currency === trade.base ? lot : quoteLot(lot, trade.quote);
      const units = { id: `${from} sold`, acquiredAt: at, currency, quantity: negate(sold), cost: NO_MONEY };
      this.#move(resold, { ...units, choice: [{ lot: from, quantity: size(sold) }] });
    }
    const adjustment = this.#adjustmentWords(dateOf(trade), at);
    const entry = (name: string, description: string, draft: Draft): Entry => ({
      id: name,
      at,
      what: 'correction',
      description: `${adjustment}${description}`,
      ...this.#finished(draft),
      source,
    });
    return [
      { ...entry(`${old} reversed`, `reversal of ${old}`, reversal), isReversal: true },
      entry(lot, `${trade.side} ${text(quantity)} ${trade.base}: ${id} as the account shows it`, again),
      ...(resold.postings.length === 0
        ? []
        : [
            entry(
              `${lot} sold`,
              `units of ${lot} that were sold before it was corrected, at their new cost`,
              resold,
            ),
          ]),
    ];
  }

  /** Returns a note for the correction of a trade whose period was already closed; otherwise an empty string. */
  #adjustmentWords(traded: Instant, at: Instant): string {
    const until = this.#settings.closedUntil?.find((each) => traded < each && each <= at);
    return until === undefined ? '' : `adjustment of the period closed until ${isoOf(until)}: `;
  }

  /** Reverses a change that the trade of `lot` made. */
  #reverse(
    draft: Draft,
    { currency, disposed, opened }: LotChange,
    { lot, at }: { readonly lot: string; readonly at: Instant },
  ): Reversed {
    const returned = disposed.map((part): Lot => {
      const again = { ...part, id: `${part.id}, returned by ${lot}` };
      this.#lots.restore(currency, again);
      this.#hold(draft, currency, again, true);
      const { id, acquiredAt, quantity, cost: paid } = negated(part);
      const proceeds = negate(part.proceeds);
      this.#gain(draft, { currency, lot: id, acquiredAt, disposedAt: at, quantity, cost: paid, proceeds });
      return { ...again, quantity: size(again.quantity) };
    });
    const back = disposed.reduce(
      (sum, part) => ({
        quantity: add(sum.quantity, part.quantity),
        cost: add(sum.cost, part.proceeds),
      }),
      negated(opened ?? { quantity: NO_QUANTITY, cost: NO_MONEY }),
    );
    this.#flow(currency, back, false, true);
    if (opened === undefined) return { currency, returned, sold: NO_QUANTITY };
    if (this.#settings.method === 'average' || this.#pools !== undefined) {
      this.#lots.restore(currency, negated(opened));
      this.#hold(draft, currency, opened, false);
      return { currency, returned, sold: NO_QUANTITY };
    }
    const left = this.#lots.remove(currency, opened.id);
    if (left !== undefined) this.#hold(draft, currency, left, false);
    const sold = subtract(opened.quantity, left?.quantity ?? NO_QUANTITY);
    if (!sold.isZero()) {
      const paid = subtract(opened.cost, left?.cost ?? NO_MONEY);
      const { id, acquiredAt } = opened;
      const taken = { quantity: negate(sold), cost: negate(paid), proceeds: NO_MONEY };
      draft.gains.push({ currency, lot: id, acquiredAt, disposedAt: at, ...taken });
    }
    return { currency, returned, sold };
  }

  /** Reverses a trade's change of the books' currency, and its fees. */
  #reverseCash(draft: Draft, { at, quote, side, amount, fees }: TradeEvent): void {
    this.#post(draft, 'trading fees', negate(this.#value(quote, holding(fees), at)));
    if (quote === this.#settings.currency)
      this.#cash(draft, side === 'buy' ? add(amount, fees) : subtract(fees, amount));
  }

  #movement(event: MovementEvent): Entry {
    const draft = new Draft();
    const { id, at, type: what, currency, quantity, fee, description, source } = event;
    if (what === 'withdrawal') this.#withdraw(draft, event);
    else {
      const stated = what === 'deposit' ? this.#settings.costOf(id) : undefined;
      const value = stated?.cost ?? this.#value(currency, quantity, at);
      const isIn = what === 'deposit' || what === 'credit';
      const [moved, worth] = isIn ? [quantity, value] : [negate(quantity), negate(value)];
      const acquiredAt = stated?.acquiredAt ?? at;
      const isTransfer = what === 'deposit';
      this.#move(draft, { id, acquiredAt, at, currency, quantity: moved, cost: worth, isTransfer });
      this.#post(draft, ACCOUNT_OF[what], negate(worth));
    }
    if (isAboveZero(fee)) {
      const value = this.#value(currency, fee, at);
      this.#move(draft, {
        id: `${id} fee`,
        acquiredAt: at,
        currency,
        quantity: negate(fee),
        cost: negate(value),
      });
      this.#post(draft, what === 'deposit' || what === 'withdrawal' ? 'transfer fees' : 'charges', value);
    }
    return {
      id,
      at: dateOf(event),
      what,
      description: `${lateWords(event)}${description}`,
      ...this.#finished(draft),
      source,
    };
  }

  /** Books units that leave for an address that the owner controls. They take their cost along, without a gain. */
  #withdraw(draft: Draft, { id, currency, quantity }: MovementEvent): void {
    if (currency === this.#settings.currency) {
      this.#cash(draft, negate(counted(quantity)));
      this.#post(draft, 'withdrawals', counted(quantity));
      return;
    }
    const parts = this.#lots.take(currency, quantity, this.#settings.choiceOf(id));
    let [left, paid] = [quantity, NO_MONEY];
    for (const part of parts) {
      left = subtract(left, part.quantity);
      paid = add(paid, part.cost);
      this.#hold(draft, currency, part, false);
    }
    if (isAboveZero(left))
      throw new OperatorError(
        'data',
        `${id}: ${text(quantity)} ${currency} leave the account, but the books hold ${text(left)} less: add earlier holdings under opening`,
      );
    this.#flow(currency, { quantity: negate(quantity), cost: negate(paid) }, true);
    this.#post(draft, 'withdrawals', paid);
  }

  /** Changes a holding. Its postings add up to the value of the units, including gains. */
  #move(draft: Draft, { currency, at, choice, isTransfer, ...lot }: Move): void {
    if (lot.quantity.isZero()) return;
    if (currency === this.#settings.currency) {
      this.#cash(draft, lot.cost);
      return;
    }
    const change = this.#lots.change(currency, lot, choice);
    draft.changes.push(change);
    this.#flow(currency, lot, isTransfer);
    for (const part of change.disposed) {
      const { id, acquiredAt, quantity, cost: paid, proceeds } = part;
      this.#hold(draft, currency, part, false);
      const disposedAt = at ?? lot.acquiredAt;
      this.#gain(draft, { currency, lot: id, acquiredAt, disposedAt, quantity, cost: paid, proceeds });
    }
    if (change.opened !== undefined) this.#hold(draft, currency, change.opened, true);
  }

  /** Reports units that enter or leave to share pooling. A reversal reduces the original flow. */
  #flow(
    currency: string,
    { quantity, cost: value }: Pick<Lot, 'quantity' | 'cost'>,
    isTransfer = false,
    isTakenBack = false,
  ): void {
    if (this.#pools === undefined || this.#date === undefined) return;
    const at = this.#date;
    const flow = { at, day: this.#days.dayOf(at), units: quantity, value };
    if (isTransfer) this.#pools.transfer(currency, flow);
    else if (quantity.isNegative() === isTakenBack) this.#pools.acquire(currency, flow);
    else this.#pools.dispose(currency, { ...flow, units: negate(quantity), value: negate(value) });
  }

  #gain(draft: Draft, gain: Gain): void {
    draft.gains.push(gain);
    if (this.#pools !== undefined && this.#date !== undefined)
      this.#pools.book(gain.currency, this.#days.dayOf(this.#date), gain);
  }

  /** Corrects booked disposals that are now identified with other units. */
  #identification({ currency, day, changes, cost: pooled }: Identification): Entry | undefined {
    const change = subtract(pooled, this.#lots.costOf(currency));
    if (changes.length === 0 && change.isZero()) return undefined;
    const draft = new Draft();
    for (const each of changes) draft.gains.push({ ...each, currency });
    const at = instant(this.#days.endOf(day) - 1);
    if (!change.isZero()) {
      const units = { id: POOL, acquiredAt: at, quantity: NO_QUANTITY, cost: change };
      this.#lots.restore(currency, units);
      this.#hold(draft, currency, units, true);
    }
    const days = new Set(changes.map(({ disposedAt }) => dateText(this.#days.dayOf(disposedAt))));
    const description = `${currency} disposed of on ${[...days].join(', ')}: same day, next ${DAYS_AFTER} days, section 104`;
    return {
      id: `identification ${dateText(day)} ${currency}`,
      at,
      what: 'identification',
      description,
      ...this.#finished(draft),
    };
  }

  #finished(draft: Draft): Pick<Entry, 'postings' | 'gains' | 'provisionalUntil'> {
    const { postings, gains } = draft;
    this.#post(draft, 'realised gains', negate(gains.map(gainOf).reduce(add, NO_MONEY)));
    if (this.#pools === undefined || gains.length === 0) return { postings, gains };
    const last = Math.max(...gains.map(({ disposedAt }) => this.#days.dayOf(disposedAt)));
    return { postings, gains, provisionalUntil: this.#days.endOf(last + DAYS_AFTER) };
  }

  /** Posts units of a lot that enter (`isNew`) or leave. */
  #hold(draft: Draft, currency: string, lot: Lot, isNew: boolean): void {
    const { id, acquiredAt, quantity, cost: value } = lot;
    draft.postings.push({
      account: 'holdings',
      currency,
      quantity: isNew ? quantity : negate(quantity),
      value: isNew ? value : negate(value),
      lot: { id, acquiredAt, isNew },
    });
  }

  /** Posts an amount of the books' currency that enters or, if negative, leaves. */
  #cash(draft: Draft, value: Money): void {
    const { currency } = this.#settings;
    draft.postings.push({ account: 'holdings', currency, quantity: holding(value), value });
  }

  #post(draft: Draft, account: Account, value: Money): void {
    if (value.isZero()) return;
    draft.postings.push({ account, currency: this.#settings.currency, quantity: holding(value), value });
  }

  #value(currency: string, quantity: Quantity, at: Instant): Money {
    if (currency === this.#settings.currency) return counted(quantity);
    if (quantity.isZero()) return NO_MONEY;
    const price = this.#settings.priceAt(currency, at);
    if (price === undefined)
      throw new OperatorError(
        'data',
        `no price for ${currency} at ${isoOf(at)} or in the day before: add one to the prices`,
      );
    return cost(price, quantity);
  }
}

/** Returns a note for an event that is booked later than it happened; otherwise an empty string. */
const lateWords = ({ at, bookedAt }: TradeEvent | MovementEvent): string =>
  bookedAt === undefined ? '' : `adjustment, of ${isoOf(at)} and recorded after its period was closed: `;

const quoteLot = (lot: string, quote: string): string => `${lot} ${quote}`;

const negated = <L extends Pick<Lot, 'quantity' | 'cost'>>(lot: L): L => ({
  ...lot,
  quantity: negate(lot.quantity),
  cost: negate(lot.cost),
});

const ACCOUNT_OF = {
  deposit: 'deposits',
  credit: 'credits',
  charge: 'charges',
  interest: 'interest',
} as const satisfies Partial<Record<MovementEvent['type'], Account>>;
