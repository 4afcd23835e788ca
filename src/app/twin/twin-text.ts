import { isOfModel, largestCause } from '../../research/twin/twin-json.ts';
import type { TwinReport } from '../../research/twin/twin-json.ts';
import { grouped } from '../../report/html/markup.ts';

const TOP = 10;

/** Returns the comparison as lines for a terminal. */
export function twinLines(report: TwinReport): readonly string[] {
  const { causes, cost_bps: cost, decisions, slices } = report;
  const largest = slices
    .filter(({ difference_usd }) => difference_usd !== '0')
    .toSorted((a, b) => Math.abs(Number(b.difference_usd)) - Math.abs(Number(a.difference_usd)));
  return [
    `live against its twin, ${report.from} to ${report.until}, model ${report.model}`,
    `${slices.length} slices, ${grouped(report.traded_usd)} USD traded, ${report.modelled} slices quoted by the model`,
    `difference ${grouped(report.difference_usd)} USD${report.difference_bps === undefined ? '' : `, ${report.difference_bps} bps`}; positive: live trading did better`,
    '',
    ...causes.map(
      ({ cause, usd, bps, says }) =>
        `  ${cause.padEnd(10)} ${grouped(usd).padStart(16)} USD ${(bps ?? '').padStart(12)} bps  ${says}`,
    ),
    '',
    ...(cost === undefined
      ? []
      : [
          `cost of live trading minus that of the twin, slices that both traded: ${cost.mean} bps, 95 % between ${cost.low} and ${cost.high} (${cost.slices} slices)`,
        ]),
    sideLine('live', report.live),
    sideLine('twin', report.twin),
    'decisions, live and twin:',
    ...decisions.map((each) => `  ${String(each.slices).padStart(6)}  ${each.live} | ${each.twin}`),
    ...(largest.length === 0 ? [] : ['', `largest differences of ${largest.length}:`]),
    ...largest
      .slice(0, TOP)
      .map(
        (row) =>
          `  ${row.decided_at}  ${row.strategy} ${row.parent}/${row.slice}  ${grouped(row.difference_usd)} USD  ${Object.keys(row.causes).join(', ')}; tranche why ${row.parent}`,
      ),
    ...report.notes.map((note) => `note: ${note}`),
    ...verdictLines(report),
  ];
}

const sideLine = (name: string, side: TwinReport['live']): string =>
  `${name}: ${side.filled} filled, ${side.expired} expired, ${side.attempts} attempts, ${side.refusals} orders turned down, ${side.doubts} doubts${side.median_delay_ms === undefined ? '' : `, first fill after ${side.median_delay_ms} ms (median)`}`;

function verdictLines(report: TwinReport): readonly string[] {
  const { verdict, bound_bps: bound } = report;
  if (verdict === 'empty') return ['live traded nothing: there is no verdict'];
  if (verdict === 'within') return [`within the bound of ${bound} bps`];
  const largest = largestCause(report);
  return [
    `beyond the bound of ${bound} bps${largest === undefined ? '' : `; mainly: ${largest.says}`}`,
    ...(isOfModel(largest)
      ? [
          'the model may be the cause: fit it with tranche calibrate --out model.yaml, then --model ./model.yaml',
        ]
      : []),
  ];
}
