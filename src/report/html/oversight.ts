import { isReason, reasons } from '../../core/reasons.ts';
import type { Report } from '../json/schema.ts';
import { bpsCell, grouped, markup, table, timeCell } from './markup.ts';
import type { Markup, Piece } from './markup.ts';

/** Orders within the limits are only counted on a page. */
const ROWS_MAX = 100;

/** The section of a report for supervisors; the records are named by number, for `tranche journal show --record`. */
export function oversightSection({ oversight }: Report): Markup {
  if (oversight === undefined) return markup``;
  const { orders, judged, limits, outliers, refusals, doubts, actions } = oversight;
  const counted = (count: number): string => grouped(String(count), 0);
  const code = (id: string): Markup => markup`<code>${id}</code>`;
  return markup`<section aria-label="Oversight"><h2>Oversight</h2>
<p>Orders sent: ${counted(orders.within)} within the limits of their time, ${counted(orders.beyond)} beyond a limit, ${counted(orders.unknown)} of a time without recorded limits. Judged by ${oversight.judged_by}. The other limits depend on balances and prices of that time; refusals by them are listed below.</p>
${table({
  caption: 'Orders that were not within the limits',
  head: ['Sent, UTC', 'Order', 'What', '#Notional', 'Verdict', 'Exceeds', 'Record of the limits'],
  rows: judged.filter(({ verdict }) => verdict !== 'within').slice(0, ROWS_MAX).map((one) => [
    timeCell(one.at), code(one.order), `${one.side} ${one.pair}`, grouped(one.notional),
    one.verdict === 'beyond' ? markup`<span class="bad">beyond</span>` : one.verdict, one.exceeds.join('; '), one.limits_record ?? '–',
  ]),
})}
${table({
  caption: 'Limits in force',
  head: ['Since, UTC', 'Record', 'By', 'Why', 'Changes', 'Approved by'],
  rows: limits.map(({ since, record, by, why, changes, approvals }) => [
    timeCell(since), record, by, why,
    changes.map(({ limit, before = 'none', after = 'none' }) => markup`<div>${limit}: ${before} → ${after}</div>`), approvals.join(', ') || '–',
  ]),
})}
${table({
  caption: 'Outliers against their own pair and size, basis points',
  note: `${oversight.outlier_rule}${oversight.outliers_left_out === 0 ? '' : ` ${oversight.outliers_left_out} more are in report.json only.`}`,
  head: ['Slice', 'What', 'Decided, UTC', '#Amount', '#Cost', '#Median', '#Bound', '#Slices', 'Reasons'],
  rows: outliers.map((one) => [
    markup`${one.strategy} <small class="one">${code(one.parent)} ${one.slice}</small>`, `${one.side} ${one.pair}`, timeCell(one.decided_at), grouped(one.amount),
    bpsCell(one.cost_bps), bpsCell(one.median_bps), bpsCell(one.bound_bps), counted(one.slices), reasonWords(one.reasons),
  ]),
})}
${table({
  caption: 'Refusals',
  head: ['Reason', 'In words', '#Attempts', '#Cuts', '#Slices', '#Looks', 'First, UTC', 'Last, UTC'],
  rows: refusals.map((one) => [one.reason, one.words, ...[one.attempts, one.cuts, one.slices, one.looks].map(counted), timeCell(one.first), timeCell(one.last)]),
})}
${table({
  caption: 'Orders whose outcome was unknown',
  head: ['Order', 'Strategy', 'Since, UTC', 'Proven, UTC', 'What', 'By', 'Records'],
  rows: doubts.map((one) => [
    code(one.order), one.strategy ?? '–', timeCell(one.since), one.until === undefined ? '–' : timeCell(one.until),
    markup`${one.proof}${one.detail === undefined ? '' : markup` <small>${one.detail}</small>`}`, one.by ?? one.source ?? '–', one.records.join(', '),
  ]),
})}
${table({
  caption: 'Who did what',
  head: ['Time, UTC', 'What', 'By', 'Why', 'Record'],
  rows: actions.map(({ at, what, by, why, record }) => [timeCell(at), what, by, why, record]),
})}</section>`; // prettier-ignore
}

const reasonWords = (codes: readonly string[]): Piece =>
  codes.length === 0
    ? 'none: only the price'
    : codes.map((each) => (isReason(each) ? `${each}: ${reasons[each]}` : each)).join('; ');
