import { grouped, Markup, markup, sized, table, timeCell, timeText } from './markup.ts';
import type { Report } from '../json/schema.ts';

/** Maximum number of strategies whose document is shown. */
const TEXTS_MAX = 20;

/** Assumptions, strategy documents, market history, settings of a backtest, hashes. */
export function sources(report: Report): Markup {
  const { strategies, prices: tapes, made_from: source, assumptions } = report;
  return markup`<section aria-label="Assumptions and sources"><h2>Assumptions and sources</h2>
<ul class="plain">${assumptions.map((line) => markup`<li>${line}</li>`)}</ul>
${table({
  caption: 'Strategies',
  head: ['Strategy', 'Kind', 'Started, UTC', 'Finished, UTC', 'Hash of the document'],
  rows: strategies.map((one) => [
    one.strategy,
    one.kind,
    timeCell(one.begun_at),
    one.finished_at === undefined ? '–' : markup`${timeCell(one.finished_at)}, ${one.finished ?? ''}`,
    markup`<code>${one.hash}</code>`,
  ]),
})}
${table({
  caption: 'Market history',
  head: ['Pair', '#Bars, s', '#Rows', '#Missing', 'From, UTC', 'Until, UTC', 'SHA-256 of the columns'],
  note: 'Missing: bars of the period that are not in the source',
  rows: tapes.map((one) => [
    one.pair,
    one.bar_ms / 1000,
    grouped(String(one.rows), 0),
    one.missing_bars === undefined ? '–' : grouped(String(one.missing_bars), 0),
    timeCell(one.from),
    timeCell(one.until),
    markup`<code>${one.hash}</code>`,
  ]),
})}
${backtestTable(report)}
${table({
  caption: 'Journal',
  head: ['Fact', 'Value'],
  rows: [
    ['Hash of the newest record', markup`<code>${source.head}</code>`],
    ['Hashes of the config', markup`<code>${source.config_hashes.join(', ')}</code>`],
    ['Versions', source.versions.join(', ')],
    ['Fills corrected by the account', source.corrections],
  ],
})}
${texts(report)}
</section>`;
}

/** Settings and result of a backtest. */
function backtestTable({ backtest: made }: Report): Markup {
  if (made === undefined) return markup``;
  const listed = (
    entries: Readonly<Record<string, string | number>>,
    form: (value: string | number) => string = String,
  ): string =>
    Object.entries(entries)
      .map(([name, value]) => `${form(value)} ${name}`)
      .join(', ');
  return table({
    caption: 'Backtest',
    head: ['Fact', 'Value'],
    rows: [
      ['Window', `${timeText(made.from)} to ${timeText(made.until)} UTC`],
      ['Execution model', made.model],
      ['Seed', made.seed],
      [
        'Prices',
        Object.entries(made.files).map(([pair, file]) => markup`<div>${pair}: <code>${file}</code></div>`),
      ],
      ['Balances at the end', listed(made.holdings, (value) => sized(String(value)))],
      ['Value at the end', `${grouped(made.value_usd)} usd`],
      ['State of the desk at the end', made.control],
      ['Orders with an unknown outcome', made.open_doubts],
      ['Alerts', Object.keys(made.alerts).length === 0 ? 'none' : listed(made.alerts)],
    ],
  });
}

/** The strategy documents, so that the reader sees what ran. */
function texts({ strategies }: Report): Markup {
  const told = strategies.flatMap(({ strategy, document }) =>
    document === undefined ? [] : [{ strategy, document }],
  );
  return markup`${told
    .slice(0, TEXTS_MAX)
    .map(
      ({ strategy, document }) =>
        markup`<details open><summary>Settings of ${strategy}</summary><pre>${Object.entries(document).map((setting, i) => [i === 0 ? '' : LINE_BREAK, line(setting)])}</pre></details>`,
    )}`;
}

/** Without line breaks in foreign text, so that such text cannot look like another setting. */
const line = ([key, value]: readonly [string, unknown]): string =>
  `${key}: ${typeof value === 'string' && !value.includes('\n') ? value : JSON.stringify(value)}`;
const LINE_BREAK = new Markup('\n');
