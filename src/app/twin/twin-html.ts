import { grouped, markup, table } from '../../report/html/markup.ts';
import type { Markup } from '../../report/html/markup.ts';
import { page } from '../../report/html/page.ts';
import type { TwinReport } from '../../research/twin/twin-json.ts';
import { version } from '../version.ts';
import { twinLines } from './twin-text.ts';

/** Largest number of slices on the page; `twin.json` contains all of them. */
const LISTED = 500;

/** Returns the comparison as one HTML file that needs no script and no network. */
export function twinHtml(report: TwinReport): string {
  const { cost_bps: cost, decisions, slices, notes } = report;
  const title = 'Live against its twin';
  const differing = slices
    .filter(({ difference_usd }) => difference_usd !== '0')
    .toSorted((a, b) => Math.abs(Number(b.difference_usd)) - Math.abs(Number(a.difference_usd)));
  return page({
    version,
    title,
    header: markup`<h1>${title}</h1>
<p class="soft">${report.from} to ${report.until}, journal ${report.journal}, model ${report.model}; proven by the record with hash ${report.head}</p>
<p>Live ${report.verdict === 'within' ? 'did what its model says' : report.verdict === 'empty' ? 'traded nothing' : 'did not do what its model says'}: it traded ${grouped(report.traded_usd)} USD, and the difference from the twin is ${grouped(report.difference_usd)} USD${report.difference_bps === undefined ? '' : `, or ${report.difference_bps} basis points`} (bound: ${report.bound_bps}). A positive value means that live trading did better.</p>`,
    main: markup`${causeTable(report, 'The twin first runs on the model alone, then once more for each cause; each run takes that cause and all earlier ones from live. The shares sum exactly to the difference.')}
${cost === undefined ? '' : markup`<p>Slices that both traded (${cost.slices}): cost of live trading minus that of the twin: ${cost.mean} basis points; 95 % of resamples lie between ${cost.low} and ${cost.high}.</p>`}
${table({
  caption: 'Both sides',
  head: ['side', '#filled', '#expired', '#attempts', '#turned down', '#doubts', '#first fill after, ms'],
  note: 'First fill: median time from the decision to the first fill.',
  rows: ([['live', report.live], ['twin', report.twin]] as const).map(([name, side]) => [name, side.filled, side.expired, side.attempts, side.refusals, side.doubts, side.median_delay_ms]), // prettier-ignore
})}
${table({
  caption: 'How slices ended',
  head: ['live', 'twin', '#slices'],
  rows: decisions.map(({ live, twin, slices: count }) => [live, twin, count]),
})}
${table({
  caption: `Slices that differ: ${differing.length} of ${slices.length}`,
  note: `${differing.length > LISTED ? `The ${LISTED} largest; twin.json has all. ` : ''}${report.modelled} slices have quotes from the model, because live requested none for them.`,
  head: [
    'slice',
    'decided',
    'strategy',
    'pair',
    'live, twin',
    '#live size',
    '#twin size',
    '#live bps',
    '#twin bps',
    '#USD',
    'causes',
    'records',
  ],
  rows: differing.slice(0, LISTED).map((row) => [
    `${row.parent}/${row.slice}`,
    row.decided_at,
    row.strategy,
    `${row.pair} ${row.side}`,
    `${row.live.decision}, ${row.twin.decision}${row.modelled ? ' (modelled)' : ''}`,
    row.live.quantity,
    row.twin.quantity,
    row.live.cost_bps,
    row.twin.cost_bps,
    grouped(row.difference_usd),
    Object.entries(row.causes)
      .map(([cause, usd]) => `${cause} ${grouped(usd)}`)
      .join(', '),
    recordsText(row.records),
  ]),
})}
${notes.length === 0 ? '' : markup`<section class="notes"><h2>Notes</h2><ul>${notes.map((note) => markup`<li>${note}</li>`)}</ul></section>`}`,
    footer: twinLines(report).at(-1) ?? '',
  });
}

/** Returns a table of the causes' shares and their sum. */
export function causeTable(
  {
    causes,
    difference_usd: usd,
    difference_bps: bps,
  }: Pick<TwinReport, 'causes' | 'difference_usd' | 'difference_bps'>,
  note: string,
): Markup {
  return table({
    caption: 'Where the difference comes from',
    note,
    head: ['cause', '#USD', '#bps', 'what it is'],
    rows: [
      ...causes.map((share) => [share.cause, grouped(share.usd), share.bps, share.says]),
      ['all', grouped(usd), bps, ''],
    ],
  });
}

const recordsText = (records: readonly number[]): string => {
  const [first, last] = [records[0], records.at(-1)];
  return first === undefined ? '' : first === last ? String(first) : `${first}…${last}`;
};
