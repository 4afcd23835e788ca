import { NEVER, defer } from 'rxjs';
import { add, quantity, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import { faultyVenue, showing } from './faulty-venue.ts';
import type { OrderFault } from './faulty-venue.ts';
import { aBench, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

/** A desk on an account that shows its rows in odd ways, inside the specification. */

/** One trade that an order is booked as: its share of the order, and how long after the order it shows. */
export interface Part {
  readonly share: string;
  readonly afterMs: number;
}

/** How the venue answers orders, and how it books the first one; the others are booked whole and at once. */
export interface Script {
  /** What happens to the nth order, from 1, and to its answer. `died`: it executes, and the process dies as it leaves. */
  readonly order?: ((nth: number, clientId: string) => OrderFault | 'died' | undefined) | undefined;
  readonly parts?: readonly Part[] | undefined;
  /** Fields that replace those of the rows of the first order. */
  readonly over?: ((row: Transaction, part: number) => Partial<Transaction>) | undefined;
  /** The rows of the account, as they show. Ids are ten times those of the exchange. */
  readonly shown?: ((rows: readonly Transaction[], now: Instant) => readonly Transaction[]) | undefined;
  /** Client id of the first order. */
  target?: string | undefined;
}

/** The answer to the first order is lost; the order executes. */
export const firstLost = (nth: number): OrderFault | undefined => (nth === 1 ? 'answer lost' : undefined);

const UNIT = { btc: 8, usd: 2 };
const cut = (amount: Quantity, share: string, currency: string): Quantity =>
  quantity(amount.times(share).toFixed(currency === 'btc' ? UNIT.btc : UNIT.usd));

/** Books one order as the script says: splits its rows into parts, of which the last gets the remainder. */
function booked(rows: readonly Transaction[], script: Script, at: number): readonly Transaction[] {
  const { parts = [{ share: '1', afterMs: 0 }] } = script;
  const isWhole = parts.reduce((sum, { share }) => sum + Number(share), 0) === 1;
  return rows.flatMap((row) => {
    const idAt = (n: number): string => String(Number(row.id) * 10 + n);
    const spread = { ...row, id: idAt(0) };
    if (row.clientId === undefined || row.clientId !== script.target) return [spread];
    let given = quantity('0');
    return parts.flatMap((part, n) => {
      const isRest = isWhole && n === parts.length - 1;
      const amount = isRest ? subtract(row.amount, given) : cut(row.amount, part.share, row.currency);
      given = add(given, amount);
      if (at < row.at + part.afterMs) return [];
      const balance = add(subtract(row.balance ?? quantity('0'), row.amount), given);
      const one = { ...spread, id: idAt(n), tradeId: `${row.tradeId ?? ''}-${n}`, amount, balance };
      return [{ ...one, ...script.over?.(one, n) }];
    });
  });
}

const twap = aTwap('t', {
  slices: 4,
  duration: 'PT4M',
  catch_up: 'pace',
  total_quantity: { amount: '1', currency: 'btc' },
});

export interface Watched {
  readonly bench: Bench;
  readonly alerts: Bench['raised'];
  /** Queries of the account. */
  readonly queries: Bench['sent']['reads'];
}

/** Buys 1 btc in four slices of a minute, unless told otherwise. */
export function aDesk(
  script: Script,
  over: Partial<BenchOptions> & { readonly isUntilDone?: boolean } = {},
): Watched {
  let orders = 0;
  const { isUntilDone = false, wrap, ...options } = over;
  const bench: Bench = aBench({
    strategies: [twap],
    ...options,
    wrap: (real, clock) => {
      const venue = wrap?.(real, clock) ?? real;
      const faulty = faultyVenue({
        order: (request) => {
          script.target ??= request.clientId;
          const fault = script.order?.(++orders, request.clientId);
          return fault === 'died' ? undefined : fault;
        },
      })(venue, clock);
      const shown = showing((rows) => {
        const all = booked(rows, script, clock.wall());
        return script.shown?.(all, clock.wall()) ?? all;
      })(venue);
      return {
        ...faulty,
        order: (request) =>
          defer(() => {
            if (script.order?.(orders + 1, request.clientId) !== 'died')
              return toObservable(faulty.order(request));
            toObservable(faulty.order(request)).subscribe();
            bench.kill();
            return NEVER;
          }),
        transactions: (query) => shown.transactions(query),
      };
    },
  });
  bench.start({ isUntilDone, hasClosingRead: isUntilDone });
  return { bench, alerts: bench.raised, queries: bench.sent.reads };
}

/** The next process on the same account, `downMs` after this one died. */
export function nextDesk(
  { bench }: Watched,
  script: Script,
  over: Parameters<typeof aDesk>[1] = {},
): Watched {
  bench.kill();
  const { clock, exchange, journal } = bench;
  return aDesk(script, { clock, exchange, journal, ...over });
}

export const seconds = ({ bench }: Watched, count: number): void => {
  bench.until(count * SECOND_MS);
};

export const bodies = <K extends RecordBody['kind']>(
  { bench }: Watched,
  kind: K,
): ReturnType<typeof bench.bodies<K>> => bench.bodies(kind);

export const alertsOf = ({ alerts }: Watched): readonly string[] => alerts.map(({ id }) => id);

/** What the journal says was bought: fills as corrected. */
export function bought({ bench }: Watched): string {
  const figures = new Map<string, string>();
  for (const { body } of bench.records())
    if (body.kind === 'fill' || body.kind === 'correction') figures.set(body.client_order_id, body.quantity);
  return text([...figures.values()].reduce((sum, each) => add(sum, quantity(each)), quantity('0')));
}

/** The quantity that the venue executed. */
export const sold = ({ bench }: Watched): string =>
  text(
    bench.exchange.registry.tradesOf('desk').reduce((sum, trade) => add(sum, trade.quantity), quantity('0')),
  );

export const halts = (one: Watched): readonly string[] =>
  bodies(one, 'control').flatMap(({ state, why }) => (state === 'halted' ? [why] : []));

/** Runs until then, in seconds. Returns what is wrong unless the plan was executed and booked once, with nobody's help. */
export function faultsIn(one: Watched, until: number): readonly string[] {
  seconds(one, until);
  const { control } = one.bench.desk;
  return [
    ...(bought(one) === '1' && sold(one) === '1' ? [] : [`booked ${bought(one)} of ${sold(one)}`]),
    ...(control === 'active' ? [] : [control]),
    ...halts(one),
    ...alertsOf(one).filter((id) => ['executed_twice', 'history_changed', 'fill_adopted'].includes(id)),
  ];
}
