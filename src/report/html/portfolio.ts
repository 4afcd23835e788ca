import { add, money, NO_MONEY, subtract, text } from '../../core/money.ts';
import type { Report } from '../json/schema.ts';
import { driftOf } from '../tearsheet/built.ts';
import { markup, percent, table, timeCell, timeText, valued } from './markup.ts';
import type { Markup, Piece } from './markup.ts';

type Portfolio = Report['portfolios'][number];

/**
 * A portfolio in tables: gains by asset with and without rebalancing, the causes of its difference from its targets,
 * results at other costs, rebalancings, weights, and figures of the period.
 */
export const portfolioTables = (portfolio: Portfolio): Markup =>
  markup`${gains(portfolio)}${held(portfolio)}${gap(portfolio)}${otherCosts(portfolio)}${rebalancings(portfolio)}${weights(portfolio)}${overPeriod(portfolio)}`;

/** Coloured by its sign; positive is good. */
function signed(amount: string, whole: string): Piece {
  const value = money(amount);
  return markup`<span class="${value.isZero() ? '' : value.lt(0) ? 'bad' : 'good'}">${valued(amount, whole)}</span>`;
}

const ratioOf = (part: string, whole: string | undefined): string =>
  whole === undefined || money(whole).isZero() ? '–' : percent(Number(part) / Number(whole));

const sumOf = (amounts: readonly string[]): string =>
  text(amounts.reduce((sum, each) => add(sum, money(each)), NO_MONEY));

function gains({ gains: all = [], start, cash }: Portfolio): Markup {
  if (all.length === 0) return markup``;
  const whole = start?.value ?? '0';
  const hasFlows = all.some(({ flows }) => flows !== '0');
  const total = {
    currency: 'Portfolio',
    start: sumOf(all.map((one) => one.start)),
    traded: sumOf(all.map((one) => one.traded)),
    flows: sumOf(all.map((one) => one.flows)),
    end: sumOf(all.map((one) => one.end)),
    gain: sumOf(all.map((one) => one.gain)),
    share: all.some(({ share }) => share !== undefined) ? 1 : undefined,
  };
  return table({
    caption: `Gain by asset, in ${cash}`,
    note: `Gain = at the end − at the start − net bought${hasFlows ? ' − flows' : ''}, to the last digit; the gains sum to that of the portfolio. Net bought: paid less received, fees included${hasFlows ? '. Flows: deposits, withdrawals and other changes that no trade within the portfolio explains' : ''}`,
    head: ['Asset', '#At the start', '#Net bought', ...(hasFlows ? ['#Flows'] : []), '#At the end', '#Gain', '#Gain of the value at the start', '#Share of the gain'],
    rows: [...all, total].map((one) => [
      one.currency,
      valued(one.start, whole),
      valued(one.traded, whole),
      ...(hasFlows ? [valued(one.flows, whole)] : []),
      valued(one.end, whole),
      signed(one.gain, whole),
      ratioOf(one.gain, start?.value),
      percent(one.share),
    ]),
  });
} // prettier-ignore

/** Whether rebalancing paid off, in money. This is only shown if there were no deposits or withdrawals meanwhile. */
function held({ gains: all = [], course, start, cash }: Portfolio): Markup {
  if (course === undefined || start === undefined || all.some(({ flows }) => flows !== '0')) return markup``;
  const { return: own, tearsheet } = course;
  const rows = all.map(({ currency, gain }) => ({ currency, gain, kept: course.hold_gains[currency] ?? '0' }));
  const total = {
    currency: 'Portfolio',
    gain: sumOf(rows.map(({ gain }) => gain)),
    kept: sumOf(rows.map(({ kept }) => kept)),
  };
  return table({
    caption: `Gain of rebalancing over buying and holding, in ${cash}`,
    note: `Return ${percent(own)} against ${percent(tearsheet.buy_and_hold.return)} of the target weights, bought at the first point without cost and never rebalanced. A positive difference: rebalancing, with its costs, earned more`,
    head: ['Asset', '#Gain', '#Gain if bought and held', '#Difference'],
    rows: [...rows, total].map(({ currency, gain, kept }) => [
      currency,
      valued(gain, start.value),
      valued(kept, start.value),
      signed(text(subtract(money(gain), money(kept))), start.value),
    ]),
  });
} // prettier-ignore

const GAP_PARTS = [
  ['trading', 'Spread and impact', 'Σ s · (amount − quantity · reference price before the quote) of the fills'],
  ['fees', 'Fees', 'Σ fees of the fills'],
  ['interest', 'Interest', 'Σ interest on credit'],
  ['build_up', 'Build-up', 'Weights away from their targets · returns of the assets, until every weight was first within its band: cash that is not invested yet'],
  ['drift', 'Drift', 'The same after that: weights that moved, or stayed, away from their targets'],
  ['total', 'Difference', 'Value at the end of the portfolio less that of the targets held'],
] as const; // prettier-ignore

/** The plain sums of what was paid. */
const paidNote = ({ paid: { spread, fees, interest }, cash, end }: Portfolio): string =>
  `. Trading cost ${valued(sumOf([spread, fees]), end?.value ?? spread)} ${cash} and interest ${valued(interest, end?.value ?? interest)} when they were paid; here they are the value of that money at the end`;

function gap(portfolio: Portfolio): Markup {
  const { course, cash } = portfolio;
  if (course === undefined) return markup``;
  const start = String(course.points[0]?.value ?? 0);
  const { return: own, target_return: target, gap: parts } = course;
  return table({
    caption: `Difference from the targets held, in ${cash}`,
    note: `Return ${percent(own)} against ${percent(target)} of the target weights, restored at every point without cost. The parts sum to the difference, to the last digit. A cost or gain is weighted with the growth of the portfolio before it and of the targets after it (GRAP 1997)${paidNote(portfolio)}`,
    head: ['Part', '#Amount', '#Of the value at the start', 'Definition'],
    rows: GAP_PARTS.map(([part, name, definition]) => [
      name,
      signed(parts[part], start),
      ratioOf(parts[part], start),
      markup`<small class="words">${definition}</small>`,
    ]),
  });
}

const TIMES = ['nothing', 'as much as it did', 'twice as much'];
/** The factor of a cost, in words. */
export const timesWords = (times: number): string => TIMES[times] ?? `${times} times as much`;

function otherCosts({ at_costs: all = [], start, cash }: Portfolio): Markup {
  return table({
    caption: `If trading had cost more or less, in ${cash}`,
    note: 'The same fills with other costs (spread, impact and fees together). Sizes and trades would have differed',
    head: ['Trading had cost', '#Value at the end', '#Of the value at the start'],
    rows: all.map(({ times, sum }) => [
      timesWords(times),
      valued(sum, sum),
      start === undefined ? '–' : ratioOf(text(subtract(money(sum), money(start.value))), start.value),
    ]),
  });
}

function rebalancings({ rebalancings: all, decisions, targets, cash, end }: Portfolio): Markup {
  const whole = end?.value ?? '0';
  return table({
    caption: `Rebalancings, in ${cash}`,
    note: `The currency farthest from its target at each decision, and the purchases, sales and cost (spread, impact and fees)${all.length < decisions ? `. The ${all.length} that traded most, of ${decisions}` : ''}`,
    head: ['Decided, UTC', 'Farthest', '#Weight', '#Target', '#Bought', '#Sold', '#Cost'],
    rows: all.map(({ at, currency, weight, bought, sold, cost }) => [
      timeCell(at),
      currency ?? '–',
      weight === undefined ? '–' : percent(Number(weight)),
      currency === undefined ? '–' : percent(Number(targets[currency] ?? '0')),
      valued(bought, whole),
      valued(sold, whole),
      valued(cost, whole),
    ]),
  });
} // prettier-ignore

function weights({ targets, start, end, cash }: Portfolio): Markup {
  const currencies = [...new Set([...Object.keys(targets), cash])];
  const weight = (of: string | undefined): string => (of === undefined ? '–' : percent(Number(of)));
  return table({
    caption: `Value and weights, in ${cash}`,
    head: ['Currency', '#Target', '#At the start', '#At the end'],
    rows: [
      ...currencies.map((currency) => [
        currency,
        weight(targets[currency] ?? '0'),
        weight(start?.weights[currency]),
        weight(end?.weights[currency]),
      ]),
      [
        'Value',
        '',
        start === undefined ? '–' : valued(start.value, start.value),
        end === undefined ? '–' : valued(end.value, end.value),
      ],
    ],
  });
}

function overPeriod({ course, cash, traded, decisions, drift_type: type, drift_threshold: band, end }: Portfolio): Markup {
  const facts: (readonly [string, string])[] = [
    ['Rebalancings', String(decisions)],
    ['Traded', `${valued(traded, end?.value ?? traded)} ${cash}`],
    ['Band', `${type}, ${percent(Number(band))}`],
  ];
  if (course !== undefined) {
    const { drift, bought, trackingError } = driftOf(course);
    const since = bought === undefined ? '' : ` since it was bought, ${timeText(bought.at)}`;
    facts.push(
      ['Turnover, one-way', percent(course.turnover)],
      [`Largest drift${since}`, percent(drift.drift_max)],
      [`Mean drift${bought === undefined ? '' : ' since then'}`, percent(drift.drift_mean)],
      [`Points outside the band${bought === undefined ? '' : ' since then'}`, percent(drift.outside)],
      [`Tracking error${bought === undefined ? '' : ' since then'}, per year`, percent(trackingError)],
    );
    if (bought !== undefined)
      facts.push(
        ['While it was bought: largest distance from the targets', percent(bought.driftMax)],
        ['Tracking error including the time of buying, per year', percent(course.tracking_error)],
      );
  }
  return table({ caption: 'Over the period', note: 'Drift and tracking error: measured at the points of the value chart, not between them', head: ['Figure', '#Value'], rows: facts });
} // prettier-ignore
