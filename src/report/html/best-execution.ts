import { isReason, reasons } from '../../core/reasons.ts';
import type { Pack, PackGroup, PackPeriod } from '../best-execution/pack.ts';
import {
  bpsCell,
  grouped,
  markup,
  percent,
  priced,
  sized,
  table,
  timeCell,
  timeText,
  valued,
} from './markup.ts';
import type { Markup, Piece } from './markup.ts';
import { actions, approvals, doubts, inForce } from './best-execution-rules.ts';
import { page } from './page.ts';
import { RecordAnchors, checkWords } from './record-anchors.ts';

export interface PackPageOptions {
  /** Description of each record that the pack names, in one line. */
  readonly words: ReadonlyMap<number, string>;
}

/**
 * The pack as one self-contained HTML document for print, which needs no script and no network. Figures link to their
 * records below.
 */
export function packHtml(pack: Pack, { words }: PackPageOptions): string {
  const anchors = new RecordAnchors();
  const span = `${timeText(pack.from)} to ${timeText(pack.until)} UTC`;
  const main = markup`${cards(pack)}
${missing(pack)}
${overview(pack)}
${pack.periods.map((period) => month(period, anchors))}
${outliers(pack, anchors)}
${inForce(pack, anchors)}
${approvals(pack, anchors)}
${doubts(pack, anchors)}
${actions(pack, anchors)}`;
  return page({
    version: pack.version,
    title: `Best execution, ${span}`,
    header: markup`<h1>Best execution</h1>
<p>Desk ${pack.desks.join(', ')}, ${span} ${pack.modes.map((mode) => markup`<span class="badge">${mode}</span>`)}</p>
<p class="soft">${pack.signs.costs} A parent counts entirely in the period in which it started. Each figure comes from the records beside it: the numbers link to the table at the end; +n more are listed by <code>tranche best-execution JOURNAL --list NAME</code> with the same window.</p>`,
    // The table comes last, because it contains the records that the parts above have named.
    main: markup`${main}${proof(pack, anchors, words)}`,
    footer: `Made by Tranche ${pack.version} from ${pack.head.seq} records. Formulas: docs/report.md; to verify this pack: docs/auditing.md.`,
  });
}

function cards({
  periods,
  outliers: found,
  doubts: open,
  approvals: asked,
  approval_faults: faults,
}: Pack): Markup {
  const sum = (of: (period: PackPeriod) => number): number =>
    periods.reduce((all, each) => all + of(each), 0);
  const entry = (name: string, value: Piece, beside?: string): Markup =>
    markup`<div><dt>${name}</dt><dd>${value}${beside === undefined ? '' : markup` <small>${beside}</small>`}</dd></div>`;
  const [quotes, requests] = [sum(({ quoting }) => quoting.quotes), sum(({ quoting }) => quoting.requests)];
  return markup`<dl class="cards">${entry('Quotes got', counted(quotes), `of ${counted(requests)} asked`)}${entry(
    'Orders filled',
    counted(sum(({ quoting }) => quoting.fills)),
    `of ${counted(sum(({ quoting }) => quoting.orders))}`,
  )}${entry(
    'Slices not traded',
    counted(sum(({ untraded }) => untraded.reduce((all, { slices }) => all + slices, 0))),
  )}${entry('Outliers', found.slices.length + found.left_out)}${entry('Orders in doubt', open.length, open.some(({ proof: each }) => each === 'open') ? 'some are open' : 'all proven')}${entry('Requests for approval', asked.length, faults.length === 0 ? 'no fault found' : `${faults.length} faults`)}</dl>`;
}

function missing({ policy, approval_faults: faults }: Pack): Markup {
  const lines = [
    ...policy.not_recorded.map((what) => `Not recorded: ${what}`),
    ...faults.map(({ by, fault }) => `Approvals: ${fault} (${by})`),
  ];
  if (lines.length === 0) return markup``;
  return markup`<aside class="notes"><h2>Not recorded, or without an approval that holds</h2><ul>${lines.map((line) => markup`<li>${line}</li>`)}</ul></aside>`;
}

const milliseconds = (value: number | undefined): string =>
  value === undefined ? '–' : grouped(String(value), 0);

function overview({ periods }: Pack): Markup {
  const rows = periods.filter(({ quoting }) => quoting.requests > 0);
  return markup`<section aria-label="Periods"><h2>Quotes and orders</h2>
${table({
  caption: 'By period',
  note: 'Expired: acceptable quotes with too little time left. Quote: from the request to the quote of an order. Order: from the order to its outcome, without orders in doubt. Milliseconds by the times of the records',
  head: ['Period', '#Asked', '#Got', '#Orders', '#Filled', '#Rejected', '#Expired', '#In doubt', '#Got / asked', '#Filled / orders', '#Quote median', '#Quote 95 %', '#Order median', '#Order 95 %'],
  rows: rows.map(({ name, quoting, answer_times: times }) => [
    name,
    counted(quoting.requests),
    counted(quoting.quotes),
    counted(quoting.orders),
    counted(quoting.fills),
    counted(quoting.rejected),
    counted(quoting.expired),
    counted(quoting.doubts),
    percent(quoting.response_ratio, 1),
    percent(quoting.fill_ratio, 1),
    milliseconds(times.quote_ms?.median),
    milliseconds(times.quote_ms?.p95),
    milliseconds(times.order_ms?.median),
    milliseconds(times.order_ms?.p95),
  ]),
})}
${table({
  caption: 'Cost by period and currency',
  note: 'Shortfall: against the price when each parent was due, including fees and untraded remainders',
  head: ['Period', 'Currency', '#Traded', '#Fees', '#Against arrival, bps', '#Shortfall, bps', '#Shortfall'],
  rows: rows.flatMap(({ name, totals }) =>
    totals.map(({ quote, amount, fees, costs }) => [
      name,
      quote,
      grouped(amount, 2),
      valued(fees, amount),
      bpsCell(costs.arrival_slippage_bps),
      bpsCell(costs.bps?.total),
      valued(costs.total, amount),
    ]),
  ),
})}</section>`; // prettier-ignore
}

function month(period: PackPeriod, anchors: RecordAnchors): Markup {
  const { name, groups, refused, untraded, head } = period;
  if (groups.length === 0 && untraded.length === 0) return markup``;
  return markup`<section aria-label="${name}"><h2>${name}</h2>
<p class="soft">${timeText(period.from)} to ${timeText(period.until)} UTC.${head === undefined ? '' : markup` Newest record before its end: ${head.seq}, <code>${head.hash}</code>`}</p>
${costTable(groups)}
${table({
  caption: 'Records behind these figures',
  note: `All of them: --list ${name}/STRATEGY/PAIR/SIDE/requests, orders, fills or refused`,
  head: ['Strategy', 'What', 'Requests', 'Orders', 'Fills', 'Did not trade'],
  rows: groups.map((group) => [
    group.strategy,
    whatOf(group),
    anchors.of(group.records.requests),
    anchors.of(group.records.orders),
    anchors.of(group.records.fills),
    anchors.of(group.records.refused),
  ]),
})}
${table({
  caption: 'Attempts that did not trade',
  note: `All of their records: --list ${name}/refused/REASON`,
  head: ['Reason', 'In words', '#Attempts', 'Records'],
  rows: refused.map(({ reason, words, attempts, records }) => [reason, words, counted(attempts), anchors.of(records)]),
})}
${table({
  caption: 'Slices, and evaluations of a schedule or a price, without a trade',
  note: `All of their records: --list ${name}/untraded/STRATEGY/REASON`,
  head: ['Strategy', 'Reason', 'In words', '#Slices', '#Evaluations', 'Records'],
  rows: untraded.map(({ strategy, reason, words, slices, looks, records }) => [strategy, reason, words, counted(slices), counted(looks), anchors.of(records)]),
})}</section>`; // prettier-ignore
}

/** Benchmarks that no group contains are omitted. */
function costTable(groups: readonly PackGroup[]): Markup {
  const benchmarks = [
    ['#References', 'References: mean of the reference prices in the journal over the window', (group: PackGroup) => group.reference_twap_slippage_bps],
    ['#TWAP', 'TWAP: mean over time of the prices given with --data', (group: PackGroup) => group.twap_slippage_bps],
    ['#VWAP', 'VWAP: their mean over volume', (group: PackGroup) => group.vwap_slippage_bps],
  ] as const; // prettier-ignore
  const known = benchmarks.filter(([, , of]) => groups.some((group) => of(group) !== undefined));
  return table({
    caption: 'Cost against benchmarks, basis points',
    note: ['Arrival: reference price when the first slice was decided', ...known.map(([, words]) => words), 'Quote: beyond the reference price of its attempt'].join('. '),
    head: ['Strategy', 'What', '#Traded', '#Average price', '#Fills', '#Arrival', ...known.map(([name]) => name), '#Quote', '#Shortfall'],
    rows: groups.map((group) => [
      group.strategy,
      whatOf(group),
      `${sized(group.traded)} ${group.base}`,
      group.average_price === undefined ? '–' : priced(group.average_price),
      counted(group.fills.fills),
      bpsCell(group.costs.arrival_slippage_bps),
      ...known.map(([, , of]) => bpsCell(of(group))),
      bpsCell(group.fills.spread_bps),
      bpsCell(group.costs.bps?.total),
    ]),
  }); // prettier-ignore
}

const whatOf = ({ side, pair }: { readonly side: string; readonly pair: string }): Markup =>
  markup`<span class="one">${side} ${pair}</span>`;

const counted = (count: number): string => grouped(String(count), 0);

function outliers(
  { outliers: { rule, bounds, slices, left_out: left } }: Pack,
  anchors: RecordAnchors,
): Markup {
  if (bounds.length === 0) return markup``;
  return markup`<section aria-label="Outliers"><h2>Outliers</h2>
<p>${rule}</p>
${table({
  caption: 'Typical costs, basis points',
  head: ['Pair', 'Side', '#Slices', '#Median', '#Median deviation', '#From', '#To'],
  rows: bounds.map((one) => [
    one.pair,
    one.side,
    counted(one.slices),
    bpsCell(one.median_bps),
    grouped(one.deviation_bps),
    one.lower_bps === undefined ? 'too few' : grouped(one.lower_bps),
    one.upper_bps === undefined ? 'too few' : grouped(one.upper_bps),
  ]),
})}
${
  slices.length === 0
    ? markup`<p>No slice is beyond its bound.</p>`
    : table({
        caption: 'Slices beyond the bound, the furthest first',
        note: `Cost = market + quote, before rounding. Market: move of the reference price from the decision to the attempt. Quote: the remaining cost${left === 0 ? '' : `. ${left} more are counted and not listed`}`,
        head: ['Slice', 'What', 'Decided, UTC', '#Amount', '#Cost', '#Market', '#Quote', '#Delay, s', 'Reasons in its records', 'Records'],
        rows: slices.map((one) => [
          markup`${one.strategy} <small class="one"><code>${one.parent}</code> ${one.slice}</small>`,
          whatOf(one),
          timeCell(one.decided_at),
          `${grouped(one.amount)} ${one.quote}`,
          bpsCell(one.cost_bps),
          bpsCell(one.moved_bps),
          bpsCell(one.quoted_bps),
          grouped(String(one.delay_ms / 1000), 1),
          reasonsOf(one),
          anchors.of(one.records),
        ]),
      })
}</section>`; // prettier-ignore
}

function reasonsOf({ reasons: codes, had_doubt: wasDoubt }: Pack['outliers']['slices'][number]): Piece {
  const words = [
    ...codes.map((code) => (isReason(code) ? `${code}: ${reasons[code]}` : code)),
    ...(wasDoubt ? ['its order was in doubt'] : []),
  ];
  return words.length === 0 ? 'none: only the price' : words.join('; ');
}

function proof({ head, records }: Pack, anchors: RecordAnchors, words: ReadonlyMap<number, string>): Markup {
  return markup`<section aria-label="Proof"><h2>Proof</h2>
${checkWords(head)}
${anchors.table(records.map((record) => ({ ...record, words: words.get(record.seq) ?? '' })))}</section>`;
}
