import { z } from 'zod';
import { count, list } from './schema-parts.ts';

/** Figures that a bootstrap is made of, in the order in which they are shown. */
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
    .describe('Which one. Costs: positive is bad; bps of what was planned, slippage_bps of what was traded'),
  resamples: count.describe('Resamples that have it: one in which nothing was decided has no cost'),
  history: nine.optional().describe('The same of the tape itself'),
  history_rank: nine
    .optional()
    .describe('Share of the resamples below that, equal ones by half; a fraction, nine digits'),
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

export const bootstrap = z
  .strictObject({
    resamples: count.describe('How often history was drawn anew and the strategies run over it'),
    asked: count.optional().describe('How often it was asked for, where it was stopped before'),
    block_ms: count.describe('Length of a block, ms'),
    blocks: z.number().describe('Blocks of that length that the window holds, one decimal'),
    trend: z.enum(['kept', 'removed']).describe('Whether resamples have the mean return of the window'),
    seed: z.string().describe('The same seed gives the same resamples'),
    level: z.number().describe('What low and high hold between them, a fraction'),
    figures: list(figure).describe('Each figure that two resamples have'),
    notes: list(z.string()).describe('What the intervals say and what they do not'),
  })
  .meta({ id: 'bootstrap' });
export type BootstrapFacts = z.output<typeof bootstrap>;
