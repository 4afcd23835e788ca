import { AS_BOOKED } from '../../../src/simulator/options/options-lists.ts';
import type { ListOptions } from '../../../src/simulator/options/options-lists.ts';
import { bookingSchema } from '../../../src/simulator/options/options-booking.ts';
import type { BookingOptions } from '../../../src/simulator/options/options-booking.ts';
import { site } from '../chance.ts';
import type { Chance } from '../chance.ts';
import type { Fault } from '../scenario.ts';
import { between } from './draws.ts';
import { chancesOf } from './plans.ts';

/** What a venue may do with the rows of an order within its word: every row shows our client id or an order id, and is there by the margin. */

/** What happens to the rows of one order. */
export const ROWS = site('rows', {
  'fee in base': 0.3,
  'fee as a row': 0.3,
  rebate: 0.15,
  amended: 0.3,
  renumbered: 0.3,
  'canceled copy': 0.2,
  'late, until the margin': 0.3,
});

/** Rows change so long after the execution at the latest. */
export const CHANGES_MAX_MS = 60_000;
/** All rows are there, with their ids, so long after the end of the quote: within the margin of 10 s. */
export const BOOKED_MS = 9_400;

const DAY_PART_MS = 5 * 3_600_000;

/** How the account is listed; `undefined`: as it is booked. */
export function listsOf(given: Chance): ListOptions | undefined {
  const chance = chancesOf(given);
  if (!chance('lists otherwise', 0.4)) return undefined;
  const pick = <const T>(point: string, of: readonly [T, ...T[]]): T => of[given.setting(point, 0, of.length - 1)] ?? of[0];
  const ids = pick('listed ids', ['both', 'both', 'order_ids_only', 'client_ids_on_one_leg', 'no_order_ids']);
  const clientIds = pick('listed client ids', ['exact', 'exact', 'exact', 'upper_case', 'cut', 'uuid', 'dash', 'zero', 'prefixed']);
  return {
    ...AS_BOOKED,
    ids,
    // Without an order id, nothing else could tie a row to its order.
    clientIds: ids === 'no_order_ids' ? 'exact' : clientIds,
    idsAfterMs: chance('ids come late', 0.25) ? Math.floor(between(given.draw('ids after', 0), 500, 8_000)) : 0,
    tradeIds: pick('listed trade ids', ['own', 'own', 'shared', 'none']),
    actions: pick('listed actions', ['order', 'leg']),
    symbols: pick('listed symbols', ['plain', 'plain', 'slash', 'dash', 'none']),
    clockMs: pick('ledger clock', [0, 0, -3_000, 3_000, -DAY_PART_MS, DAY_PART_MS]),
    idOffset: pick('id offset', ['0', '0', '9007199254740992']),
    oddFields: chance('odd fields', 0.3) ? ['numeric_memo', 'zoneless_day', 'empty_fees', 'empty_trade_ids', 'text_row_ids'] : [],
  };
} // prettier-ignore

/** Whether every row names its order by our client id, sooner or later. */
export const showsOurIds = (lists: ListOptions | undefined): boolean =>
  lists === undefined || (lists.ids !== 'order_ids_only' && lists.clientIds === 'exact');

export const AS_ONE: BookingOptions = bookingSchema.parse({});

/** @param bookedMs Time by which all rows must be there. @param drawn How far it goes. */
export function bookedWith(
  how: BookingOptions,
  { kind, value }: Fault,
  { bookedMs, drawn }: { readonly bookedMs: number; readonly drawn: number },
): BookingOptions {
  const latestMs = Math.floor(bookedMs);
  const changesMs = Math.floor(between(value, 1_000, CHANGES_MAX_MS));
  switch (kind) {
    case 'fee in base':
      return { ...how, feeBps: 9, feeAs: 'base' };
    case 'fee as a row':
      return { ...how, feeBps: 9, feeAs: 'charge', feeRowMs: Math.floor(latestMs * value) };
    case 'rebate':
      return { ...how, rebateBps: 3, rebateMs: Math.floor(latestMs * value) };
    case 'amended':
      return {
        ...how,
        amended:
          drawn < 0.8
            ? { after_ms: changesMs, leg: 'quote', amount: drawn < 0.5 ? '1' : '0', fee: '2.5' }
            : { after_ms: changesMs, leg: 'base', amount: '0', fee: '0.0001' },
      };
    case 'renumbered':
      return { ...how, renumberedAfterMs: changesMs };
    case 'canceled copy':
      return { ...how, canceledCopy: 1 };
    default: {
      const firstMs = Math.floor(latestMs * value * 0.6);
      const isWhole = drawn < 0.3;
      return {
        ...how,
        delaysMs: [isWhole ? latestMs : firstMs],
        legSpreadMs: 0,
        lastLegMs: isWhole ? 0 : latestMs - firstMs,
      };
    }
  }
}
