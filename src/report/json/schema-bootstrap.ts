import { z } from 'zod';
import { count, list } from './schema-parts.ts';

/** Figures of a bootstrap, in the order of the report. */
export const bootstrapFigures = {
  cost_bps: 'implementation shortfall',
  delay_bps: 'delay',
  timing_bps: 'timing',
  execution_bps: 'execution',
  opportunity_bps: 'opportunity',
  fees_bps: 'fees',
  slippage_bps: 'slippage against arrival',
  cost_usd: 'implementation shortfall, USD',
  untraded: 'slices that did not trade',
  gain_usd: 'gain, USD',
  value_usd: 'value at the end, USD',
  drawdown: 'largest drawdown, a fraction',
} as const;
export type BootstrapFigure = keyof typeof bootstrapFigures;

const nine = z.number();

const figure = z.strictObject({
  figure: z
    .enum(Object.keys(bootstrapFigures) as [BootstrapFigure, ...BootstrapFigure[]]) // oxlint-disable-line typescript/no-unsafe-type-assertion -- keys of a constant
    .describe(
      'Name. Costs: positive is bad; basis points of the planned value, `slippage_bps` of the traded value',
    ),
  resamples: count.describe('Resamples that have the figure: one without a decision has no cost'),
  history: nine.optional().describe('The figure of the unchanged history'),
  history_rank: nine
    .optional()
    .describe('Share of the resamples below `history`, ties counted by half; a fraction, nine digits'),
  mean: nine.describe('Mean over the resamples, nine digits'),
  median: nine.describe('Median'),
  standard_error: nine.describe('Standard deviation over the resamples, n − 1'),
  p5: nine.describe('The ⌈0.05·n⌉-th smallest'),
  p25: nine.describe('The ⌈0.25·n⌉-th smallest'),
  p75: nine.describe('The ⌈0.25·n⌉-th largest'),
  p95: nine.describe('The ⌈0.05·n⌉-th largest'),
  low: nine.describe('The ⌈(1 − level)/2·n⌉-th smallest'),
  high: nine.describe('The ⌈(1 − level)/2·n⌉-th largest'),
});

const quantiles = z.strictObject({
  p5: nine.describe('The ⌈0.05·n⌉-th smallest'),
  median: nine.describe('Median'),
  p95: nine.describe('The ⌈0.05·n⌉-th largest'),
});

const anchoring = z.strictObject({
  resamples: count.describe(
    'Pairs of resamples: the first ones, each drawn both ways with the same random numbers',
  ),
  figures: list(
    z.strictObject({
      figure: figure.shape.figure,
      anchored: quantiles.describe('Blocks keep their time of day'),
      unanchored: quantiles.describe('Blocks begin at any time of day'),
    }),
  ).describe('Figures that at least two resamples have both ways'),
});

export const bootstrap = z
  .strictObject({
    resamples: count.describe('Resamples that ran'),
    asked: count.optional().describe('Resamples requested, if the run was stopped early'),
    block_ms: count.describe('Length of a block, ms'),
    blocks: z.number().describe('Number of such blocks in the window, one decimal'),
    trend: z.enum(['kept', 'removed']).describe('Whether resamples keep the mean return of the window'),
    seed: z.string().describe('The same seed gives the same resamples'),
    level: z.number().describe('Confidence level between `low` and `high`, a fraction'),
    figures: list(figure).describe('Figures that at least two resamples have'),
    anchoring: anchoring
      .optional()
      .describe('Effect of blocks of whole days that keep their time of day; omitted for other blocks'),
    notes: list(z.string()).describe('What the intervals do and do not cover'),
  })
  .meta({ id: 'bootstrap' });
export type BootstrapFacts = z.output<typeof bootstrap>;
