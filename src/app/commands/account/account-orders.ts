import { OperatorError, VenueError } from '../../../core/errors.ts';
import type { Side } from '../../../core/venue.ts';
import { ORDERS_PAGE_MAX } from '../../../wire/constants.ts';
import { orderColumns } from './account-columns.ts';
import { column, figure, printOne, printRows } from './account-print.ts';
import type { Column } from './account-print.ts';
import { answerOf, withAccount } from './account-session.ts';
import type { AccountIo, AccountOptions, Session } from './account-session.ts';

/** Lists open and finished orders of the account, and cancels orders. */

export interface OrdersOptions extends AccountOptions {
  readonly pair?: string | undefined;
  readonly side?: Side | undefined;
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
}

/** Prints one page of orders, newest first, and how to get the next page. */
export async function orders(which: 'open' | 'done', options: OrdersOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const { pair, side, limit, before } = options;
    const rows = await answerOf(venue.orders(which, { pair, side, limit, before }));
    printRows(rows, orderColumns, { ...options, none: `No ${which} orders.`, out: io.stdout });
    const last = rows.at(-1);
    if (last !== undefined && rows.length >= (limit ?? ORDERS_PAGE_MAX)) {
      io.stderr.write(`There may be more: --before ${last.orderId}\n`);
    }
    return 0;
  });
}

/** Prints one order, found by venue id or client order id. */
export async function orderShow(id: string, options: AccountOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    printOne(await answerOf(venue.order(id)), orderColumns, { ...options, out: io.stdout });
    return 0;
  });
}

interface Canceled {
  readonly id: string;
  readonly status: string;
}
const cancelColumns: readonly Column<Canceled>[] = [
  figure('id', (row) => row.id),
  column('status', (row) => row.status),
];

export interface CancelOptions extends AccountOptions {
  readonly all?: boolean | undefined;
}

/** Cancels one, several or all orders. This moves no money, so it needs no confirmation. */
export async function cancel(ids: readonly string[], options: CancelOptions, io: AccountIo): Promise<number> {
  const isAll = options.all === true;
  if (isAll === ids.length > 0) throw new OperatorError('usage', 'cancel: give order ids or --all, not both');
  const wrong = ids.find((id) => !/^[\w-]{1,64}$/u.test(id));
  if (wrong !== undefined) throw new OperatorError('usage', `cancel: "${wrong}" is not an order id`);
  return await withAccount(options, io, async (session) => {
    const { venue } = session;
    const [only] = ids;
    let rows: readonly Canceled[];
    if (isAll) rows = (await answerOf(venue.cancelAll())).orders;
    else if (only !== undefined && ids.length === 1)
      rows = [{ id: only, status: await cancelOne(only, session) }];
    else rows = (await answerOf(venue.cancelSeveral(ids))).orders;
    printRows(rows, cancelColumns, { ...options, none: 'No order was canceled.', out: io.stdout });
    const left = ids.filter((id) => !rows.some((row) => row.id === id));
    if (left.length > 0)
      io.stderr.write(`Not canceled (done, already canceled or unknown): ${left.join(', ')}\n`);
    return 0;
  });
}

async function cancelOne(id: string, { venue }: Session): Promise<string> {
  try {
    return (await answerOf(venue.cancel(id))).status;
  } catch (error) {
    // Spec, "Errors": 400 `internal error` means that the account has no such order.
    if (error instanceof VenueError && error.status === 400)
      throw new OperatorError('unavailable', `The account has no order ${id}.`, error);
    throw error;
  }
}
