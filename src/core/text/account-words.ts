import type { CorrectionRecord, FillRecord, ResolvedRecord, ShownRecord } from '../record.ts';

/** What records say about rows of the account, in words. */

type Shown = (amount: string) => string;
const asIs: Shown = (amount) => amount;

/** A person's resolution, without the person and the reason. */
export function verdictWords({ client_order_id: id, verdict, rows = [] }: ResolvedRecord): string {
  switch (verdict) {
    case 'filled':
      return `${id} traded`;
    case 'not_executed':
      return `${id} was not executed`;
    case 'ours':
      return `${rowsText(rows)} ${rows.length === 1 ? 'belongs' : 'belong'} to ${id}`;
    case 'not_ours':
      return `${rowsText(rows)} of the doubt ${id} ${rows.length === 1 ? 'belongs' : 'belong'} to no order of this desk`;
  }
}

/** All fees, each in its currency. `currency`: the quote currency, if it is known. */
export function feesWords(
  { fees, other_fees: others = {} }: Pick<FillRecord, 'fees' | 'other_fees'>,
  { currency = '', shown = asIs }: { readonly currency?: string; readonly shown?: Shown } = {},
): string {
  const each = Object.entries(others).map(([name, fee]) => `${shown(fee)} ${name}`);
  return [`${shown(fees)} ${currency}`.trimEnd(), ...each].join(' and ');
}

/** The figures of a fill as the account shows them, those that were booked, and what happened to its rows. */
export function correctionWords(body: CorrectionRecord): string {
  const { client_order_id: id, quantity, amount, changes = [] } = body;
  const now = `${id} as the account shows it: ${quantity} for ${amount}, fees ${feesWords(body)}`;
  const before = `booked: ${body.was_quantity} for ${body.was_amount}, fees ${body.was_fees}`;
  return [now, before, ...changes].join('; ');
}

/** Rows of trades that a read showed for the first time and that belong to no order of the desk; `undefined` without any. */
export function othersWords({ others = [] }: ShownRecord): string | undefined {
  if (others.length === 0) return undefined;
  const rows = rowsText(
    others.map(({ id, order_id: order }) => (order === undefined ? id : `${id} (order ${order})`)),
  );
  return `the account shows trades that no id ties to this desk: ${rows}`;
}

/** Maximum number of rows in a line. The first read of an account may show thousands. */
const ROWS_SHOWN = 20;

function rowsText(rows: readonly string[]): string {
  const more = rows.length > ROWS_SHOWN ? ` and ${rows.length - ROWS_SHOWN} more` : '';
  return `${rows.length === 1 ? 'row' : 'rows'} ${rows.slice(0, ROWS_SHOWN).join(', ')}${more}`;
}
