import { bootstrapSection } from './bootstrap.ts';
import { money } from '../../core/money.ts';
import { isReason, reasons } from '../../core/reasons.ts';
import { costChart, costsBySlice, priceChart, several } from './charts.ts';
import type { Figures } from '../figures/figures.ts';
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
import { page } from './page.ts';
import type { Report } from '../json/schema.ts';
import { sources } from './html-sources.ts';
import { portfolioTables, timesWords } from './portfolio.ts';
import { COST_TIMES } from '../figures/at-costs.ts';
import { rerunsOf } from '../figures/reruns.ts';
import { tearsheet } from '../tearsheet/tearsheet.ts';

/** Maximum number of rows of the parent table; the rest is in `report.json`. */
const ROWS_MAX = 100;
const PARTS = ['delay', 'trading', 'opportunity', 'fees', 'total'] as const;

/**
 * A report as one self-contained HTML document with inline charts, which needs no script and no network. `figures` are
 * those of `report`.
 */
export function reportHtml(report: Report, figures: Figures): string {
  const { period, made_from: source } = report;
  const modes = source.modes.join(', ');
  const title = titleOf(report);
  const days =
    period === undefined ? 'no records' : `${timeText(period.from)} to ${timeText(period.until)} UTC`;
  return page({
    version: report.version,
    title: `${title}, ${days}`,
    header: markup`<h1>${title}</h1>
<p>${source.desks.length === 0 ? '' : `Desk ${source.desks.join(', ')}, `}${days} ${modes === '' ? '' : markup`<span class="badge">${modes}</span>`}</p>
<p class="soft">${report.signs.costs} ${report.signs.mark_outs}</p>`,
    main: markup`${cards(report)}
${notes(report)}
${report.portfolios.map((portfolio, i) => markup`<section aria-label="Portfolio"><h2>Portfolio ${portfolio.strategy}</h2>${tearsheet(portfolio, `w${i}`)}${portfolioTables(portfolio)}</section>`)}
${costs(report, figures)}
${prices(report, figures)}
${quality(report)}
${whyNot(report)}
${bootstrapSection(report)}
${otherAssumptions(report)}
${parents(report)}
${sources(report)}`,
    footer: `Made by Tranche ${report.version} from ${source.records} records. Formulas: docs/report.md.`,
  });
}

/** Maximum number of strategies in a title. */
const NAMES_MAX = 3;

function titleOf({ strategies, portfolios }: Report): string {
  const names = [...new Set(strategies.map(({ strategy }) => strategy))];
  const more = names.length - NAMES_MAX;
  const what =
    portfolios.length > 0 && portfolios.length === names.length ? 'Portfolio report' : 'Execution report';
  if (names.length === 0) return what;
  return `${what}: ${names.slice(0, NAMES_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const whatOf = ({ side, pair }: { readonly side: string; readonly pair: string }): string =>
  `${side} ${pair}`;

/** With more portfolios than this, a report starts with costs. */
const PORTFOLIO_CARDS_MAX = 2;

function cards({ totals, quoting, fills, portfolios }: Report): Markup {
  const entry = (name: string, value: Piece, ...beside: readonly Piece[]): Markup =>
    markup`<div><dt>${name}</dt><dd>${value}${beside.map((each) => markup` <small>${each}</small>`)}</dd></div>`;
  // One row contains figures in several currencies.
  const of = (name: string, quote: string): string => (totals.length > 1 ? `${name}, ${quote}` : name);
  const untraded = quoting.requests - quoting.fills;
  const named = (what: string, strategy: string): string =>
    portfolios.length > 1 ? `${what}, ${strategy}` : what;
  const worth = portfolios.length > PORTFOLIO_CARDS_MAX ? [] : portfolios.map(({ strategy, cash, start, end, course }) => [
    ...(end === undefined ? [] : [entry(named('Value at the end', strategy), grouped(end.value, 0), start === undefined ? cash : `${cash}, from ${grouped(start.value, 0)}`)]),
    ...(course === undefined ? [] : [entry(named('Return', strategy), percent(course.return), `bought and held ${percent(course.tearsheet.buy_and_hold.return)}`, `targets held ${percent(course.target_return)}`)]),
  ]); // prettier-ignore
  return markup`<dl class="cards">${worth}${totals.map(({ quote, amount, fees, costs: sums }) => [
    entry('Traded', money(amount).gte(1_000) ? grouped(amount, 0) : sized(amount), quote),
    entry(
      of('Implementation shortfall', quote),
      bpsCell(sums.bps?.total),
      `bps, ${valued(sums.total, amount)} ${quote}`,
    ),
    entry(of('Slippage against arrival', quote), bpsCell(sums.arrival_slippage_bps), 'bps'),
    entry('Fees', valued(fees, amount), quote),
  ])}${entry('Fills', fills)}${entry('Quotes accepted', percent(quoting.accept_ratio, 1), `${quoting.orders} of ${quoting.quotes}`)}${entry('Orders filled', percent(quoting.fill_ratio, 1), `${quoting.fills} of ${quoting.orders - quoting.open}`)}${untraded === 0 ? '' : entry('Requests without a fill', untraded, `of ${quoting.requests}`)}</dl>`;
}

function notes({ warnings }: Report): Markup {
  if (warnings.length === 0) return markup``;
  return markup`<aside class="notes"><h2>Warnings</h2><ul>${warnings.map((line) => markup`<li>${line}</li>`)}</ul></aside>`;
}

function costs(report: Report, figures: Figures): Markup {
  const { totals, groups, carry = [] } = report;
  if (groups.length === 0) return markup``;
  return markup`<section aria-label="Cost"><h2>Cost</h2>
${totals.map((total, i) => costChart(total, `c${i}`))}
${table({
  caption: 'Implementation shortfall in money',
  note: 'delay + trading + opportunity + fees = shortfall, to the last digit; trading = timing + execution',
  head: [
    'Currency',
    '#Planned at decision',
    '#Delay',
    '#Timing',
    '#Execution',
    '#Trading',
    '#Opportunity',
    '#Fees',
    '#Shortfall',
  ],
  rows: totals.map(({ quote, costs: sums }) => [
    quote,
    ...[
      sums.paper,
      sums.delay,
      sums.timing,
      sums.execution,
      sums.trading,
      sums.opportunity,
      sums.fees,
      sums.total,
    ].map((amount) => valued(amount, sums.paper)),
  ]),
})}
${table({
  caption: 'By strategy, in basis points of the planned value at the decision price',
  head: [
    'Strategy',
    'What',
    '#Traded',
    '#Average price',
    '#Delay',
    '#Trading',
    '#Opportunity',
    '#Fees',
    '#Shortfall',
  ],
  rows: groups.map((group) => [
    group.strategy,
    whatOf(group),
    `${sized(group.traded)} ${group.base}`,
    group.average_price === undefined ? '–' : priced(group.average_price),
    ...PARTS.map((part) => bpsCell(group.costs.bps?.[part])),
  ]),
})}
${table({
  caption: 'Against benchmarks, in basis points',
  note: 'Arrival: reference price when the first slice was decided. TWAP and VWAP: mean price over the time and over the volume of the window of each parent. Missed slices ended with a remainder; passed slots had no attempt. The shortfall includes their cost',
  head: [
    'Strategy',
    'What',
    '#Arrival',
    '#Arrival with fees',
    '#TWAP',
    '#VWAP',
    '#Missed slices',
    '#Their cost',
    '#Passed slots',
    '#Their cost',
  ],
  rows: groups.map((group) => [
    group.strategy,
    whatOf(group),
    bpsCell(group.costs.arrival_slippage_bps),
    bpsCell(group.costs.all_in_bps),
    bpsCell(group.twap_slippage_bps),
    bpsCell(group.vwap_slippage_bps),
    group.costs.missed_slices,
    `${valued(group.costs.missed_cost, group.costs.paper)} ${group.quote}`,
    group.costs.passed_slots,
    `${valued(group.costs.passed_cost ?? '0', group.costs.paper)} ${group.quote}`,
  ]),
})}
${carry.length === 0 ? '' : table({ caption: 'Interest on credit', head: ['Currency', '#Paid'], note: 'Charged by the venue; no cost above includes it', rows: carry.map(({ currency, amount }) => [currency, sized(amount)]) })}
${table({
  caption: 'Shortfall if trading had cost more or less',
  note: 'The same fills with a different execution cost and different fees: total + (times − 1) · (execution + fees). Sizes and trades would have differed',
  head: ['Currency', ...COST_TIMES.map((times) => `#Trading had cost ${timesWords(times)}`)],
  rows: totals.map(({ quote, costs: sums, at_costs: at = [] }) => [
    quote,
    ...at.map(({ sum }) => valued(sum, sums.paper)),
  ]),
})}
${costsBySlice(figures.groups)}
</section>`;
}

/** Questions that this report cannot answer, and the commands that do. */
function otherAssumptions(report: Report): Markup {
  const reruns = rerunsOf(report);
  if (reruns.length === 0) return markup``;
  return markup`<section aria-label="Other assumptions"><h2>Other assumptions</h2>
<p>This is one history with one model of the venue. These commands show the effect of other assumptions:</p>
<dl>${reruns.map(({ tells, command }) => markup`<dt>${tells}</dt><dd><pre>${command}</pre></dd>`)}</dl></section>`;
}

function prices({ groups }: Report, figures: Figures): Markup {
  const pairs = [...new Set(groups.map(({ pair }) => pair))];
  const isSmall = pairs.length > 2;
  const charts = pairs.map((pair, i) => priceChart(pair, figures, { id: `p${i}`, isSmall }));
  if (charts.every(({ text }) => text === '')) return markup``;
  return markup`<section aria-label="Prices"><h2>Prices and fills</h2>${several(charts)}</section>`;
}

const lengthOf = (minutes: number): string =>
  minutes < 60 ? `${minutes} min` : minutes < 1_440 ? `${minutes / 60} h` : `${minutes / 1_440} d`;

function quality({ groups, quoting }: Report): Markup {
  if (quoting.requests === 0) return markup``;
  const rows = groups.filter((group) => group.quoting.requests > 0);
  const shown = (rows[0]?.fills.mark_outs ?? []).filter(({ minutes }) => rows.some(({ fills }) => fills.mark_outs.some((one) => one.minutes === minutes && one.bps !== undefined))); // prettier-ignore
  const ms = (value: number | undefined): string => (value === undefined ? '–' : grouped(String(value), 0));
  return markup`<section aria-label="Quotes and fills"><h2>Quotes and fills</h2>
${table({
  caption: 'Quotes',
  note: 'Accepted: orders / quotes. Filled: fills / orders with a known outcome. Without a fill: requests that ended without one, by reason below',
  head: ['Strategy', 'What', '#Requests', '#Quotes', '#Orders', '#Fills', '#Accepted', '#Filled', '#Without a fill', '#Expired', '#Attempts per fill', '#Age at order, ms', '#95 %'],
  rows: rows.map(({ strategy, pair, side, quoting: own }) => [
    strategy, whatOf({ side, pair }), own.requests, own.quotes, own.orders, own.fills,
    percent(own.accept_ratio, 1), percent(own.fill_ratio, 1), own.requests - own.fills, own.expired, own.attempts_per_fill?.toFixed(2) ?? '–',
    ms(own.quote_age_ms?.median), ms(own.quote_age_ms?.p95),
  ]),
})}
${table({
  caption: 'Fills: effective half spread (positive is bad) and mark-outs (positive is good), basis points weighted by notional',
  note: 'Effective half spread: the cost beyond the reference price, including impact. half_spread_bps of a model applies only to the smallest quote',
  head: ['Strategy', 'What', '#Fills', '#Effective half spread', '#Median', '#95 %', ...shown.map(({ minutes }) => `#Mark-out ${lengthOf(minutes)}`)],
  rows: rows.map(({ strategy, pair, side, fills }) => [
    strategy, whatOf({ side, pair }), fills.fills, bpsCell(fills.spread_bps),
    fills.spread_bps_of_fills?.median.toFixed(2) ?? '–', fills.spread_bps_of_fills?.p95.toFixed(2) ?? '–',
    ...shown.map(({ minutes }) => bpsCell(fills.mark_outs.find((one) => one.minutes === minutes)?.bps, 'positive')),
  ]),
})}
${table({
  caption: 'Attempts that did not trade',
  head: ['Reason', 'In words', '#Attempts'],
  rows: quoting.refusals.map(({ reason, attempts }) => [reason, isReason(reason) ? reasons[reason] : '', attempts]),
})}
</section>`; // prettier-ignore
}

function whyNot({ untraded }: Report): Markup {
  if (untraded.length === 0) return markup``;
  return markup`<section aria-label="Why slices did not trade"><h2>Why slices did not trade</h2>
${table({
  caption: 'Slices, and evaluations of a schedule or a price, without a trade',
  head: [
    'Strategy',
    'Reason',
    'In words',
    '#Slices',
    '#Evaluations',
    'First',
    'Last',
    'Figures of the last occurrence',
  ],
  rows: untraded.map((row) => [
    row.strategy,
    row.reason,
    row.words,
    row.slices,
    row.looks,
    timeCell(row.first),
    timeCell(row.last),
    row.detail,
  ]),
})}</section>`;
}

function parents({ parents: all, parents_left_out: left }: Report): Markup {
  if (all.length === 0) return markup``;
  const shown = all.slice(0, ROWS_MAX);
  const hidden = left + all.length - shown.length;
  return markup`<section aria-label="Parents"><h2>Parents</h2>
${table({
  caption: 'Parents in order of their start',
  note: hidden === 0 ? undefined : `${hidden} more are in report.json; the sums above include them`,
  head: [
    'Parent',
    'Strategy',
    'Started, UTC',
    'What',
    '#Planned',
    '#Traded',
    '#Arrival price',
    '#Average price',
    '#Delay',
    '#Trading',
    '#Opportunity',
    '#Fees',
    '#Shortfall',
  ],
  rows: shown.map((one) => [
    markup`<code>${one.parent}</code>${one.open ? markup` <span class="badge">open</span>` : ''}`,
    one.strategy,
    timeCell(one.begun_at.replace(/\.\d+Z/u, 'Z')),
    whatOf(one),
    one.planned === undefined ? '–' : sized(one.planned),
    sized(one.traded),
    one.arrival_price === undefined ? '–' : priced(one.arrival_price),
    one.average_price === undefined ? '–' : priced(one.average_price),
    ...PARTS.map((part) => bpsCell(one.costs?.bps?.[part])),
  ]),
})}</section>`;
}
