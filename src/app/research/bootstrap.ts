import { RESAMPLES, checkLevel, leastFor, rankOf, summaryOf } from '../../research/resample/bootstrap.ts';
import { isFigure } from '../../research/sweep/sweep-figures.ts';
import { blockFor, checkBlock } from '../../research/resample/resample.ts';
import type { Resampling } from '../../research/resample/resample.ts';
import { OperatorError } from '../../core/errors.ts';
import { DAY_MS, durationText, HOUR_MS, MINUTE_MS, parseDuration, SECOND_MS } from '../../core/time.ts';
import { nineDigits } from '../../report/figures/digits.ts';
import { bootstrapFigures } from '../../report/json/schema-bootstrap.ts';
import type { BootstrapFacts, BootstrapFigure } from '../../report/json/schema-bootstrap.ts';
import {
  anchoringOf,
  anchorNotes,
  canAnchor,
  COMPARED,
  named,
  orderOf,
  otherOf,
  shownFigure,
  wholePart,
} from './anchoring.ts';
import type { BacktestInput } from './backtest-input.ts';
import type { NamedModel } from '../config/model-file.ts';
import { runPool, sharedTape } from '../sweep/sweep-pool.ts';
import { sweepProgress } from '../sweep/sweep-progress.ts';
import { begunOf } from '../sweep/sweep-variants.ts';
import { packBase } from '../sweep/sweep-run.ts';
import type { SweepOutcome } from '../sweep/sweep-run.ts';
import { table } from '../cli/summary.ts';
import type { Given, RunIo } from '../commands/io.ts';

export type BootstrapOptions = Given<'block', 'unanchored', 'bootstrap'> & {
  readonly level: number;
  readonly trend: boolean;
  readonly workers: number;
  readonly seed: string;
};

interface Asked {
  readonly input: BacktestInput;
  readonly named: NamedModel;
  readonly options: BootstrapOptions;
  readonly io: RunIo;
}

/** Number of blocks in a window below which the intervals are unreliable. */
const BLOCKS_FEW = 10;

/** Returns how to resample history. @throws OperatorError `usage` for options that the tapes do not permit. */
export function resamplingOf(input: BacktestInput, options: BootstrapOptions): Resampling {
  const tapes = input.tapes.map(({ tape }) => tape);
  const blockMs = options.block === undefined ? blockFor(tapes, input) : readBlock(options.block);
  checkBlock(blockMs, tapes, input);
  checkLevel(options.level / 100, options.bootstrap ?? RESAMPLES.usual);
  const isUnanchored = options.unanchored === true ? { isUnanchored: true } : {};
  return { seed: options.seed, blockMs, trend: options.trend ? 'kept' : 'removed', ...isUnanchored };
}

const UNITS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

/** Parses `1d`, `4h`, `30m`, or an ISO 8601 duration. Returns ms. */
export function readBlock(text: string): number {
  const { count, unit } = /^(?<count>[1-9]\d{0,5})(?<unit>[smhdw])$/u.exec(text)?.groups ?? {};
  if (count !== undefined && unit !== undefined) return Number(count) * (UNITS[unit] ?? Number.NaN);
  try {
    return parseDuration(text);
  } catch (cause) {
    throw new OperatorError(
      'usage',
      `--block: expected a length such as 1d, 4h, 30m or P1D, got "${text}"`,
      cause,
    );
  }
}

export interface Bootstrap {
  /** `undefined` if the run was stopped before there were enough resamples for an interval. */
  readonly facts: BootstrapFacts | undefined;
  readonly isStopped: boolean;
  /** Number of usable resamples. */
  readonly drawn: number;
}

/**
 * Runs the strategies over resampled histories on worker threads. The same seed gives the same figures, regardless of
 * the number of threads. When a signal stops the run, only the resamples before the first unfinished one count, as if
 * no more had been requested. Counting all finished resamples would favour quick ones.
 *
 * @throws OperatorError `software` if a worker died, `config` for a strategy that cannot run.
 */
export async function bootstrapOf({ input, named: model, options, io }: Asked): Promise<Bootstrap> {
  const resampling = resamplingOf(input, options);
  const { config, configHash, holdings, from, until } = input;
  const strategies = input.strategies.map(begunOf);
  const asked = options.bootstrap ?? RESAMPLES.usual;
  const order = orderOf(asked, canAnchor(input, resampling) ? Math.min(asked, COMPARED) : 0);
  const jobs = order.map(({ index, isOther }) => ({ strategies, from, until, resample: { ...(isOther ? otherOf(resampling) : resampling), index } }));
  const outcomes: SweepOutcome[] = [];
  const stop = new AbortController();
  const forget = io.onSignal((signal) => {
    if (signal === 'SIGUSR2') return;
    if (stop.signal.aborted) io.exitNow(130);
    stop.abort();
  });
  const progress = sweepProgress(io.stderr, { total: jobs.length, already: 0, now: () => performance.now() });
  try {
    await runPool({
      jobs,
      base: packBase({ config, configHash, holdings, model: model.model, seed: options.seed }),
      tapes: input.tapes.map(({ tape }) => sharedTape(tape)),
      workers: options.workers,
      stop: stop.signal,
      done(index, outcome) {
        if ('refused' in outcome) throw new OperatorError('config', outcome.refused);
        outcomes[index] = outcome;
        progress.ended();
      },
    });
  } finally {
    progress.clear();
    forget();
  }
  const ended = wholePart(order, firstMissing(outcomes));
  const own = outcomes.slice(0, ended).filter((_, place) => order[place]?.isOther === false);
  const others = outcomes.slice(0, ended).filter((_, place) => order[place]?.isOther === true);
  const drawn = Math.max(0, own.length - 1);
  const isEnough = drawn >= leastFor(options.level / 100);
  const facts = isEnough ? factsOf(own, { input, options, resampling, others }) : undefined;
  return { facts, isStopped: drawn < asked, drawn };
} // prettier-ignore

/** Returns the index of the first missing outcome. Outcomes arrive in any order. */
function firstMissing(outcomes: readonly (SweepOutcome | undefined)[]): number {
  let place = 0;
  while (outcomes[place] !== undefined) place++;
  return place;
}

export function factsOf(
  outcomes: readonly SweepOutcome[],
  { input, options, resampling, others = [] }: { readonly input: Pick<BacktestInput, 'from' | 'until' | 'tapes'>; readonly options: BootstrapOptions; readonly resampling: Resampling; readonly others?: readonly SweepOutcome[] },
): BootstrapFacts {
  const [history, ...drawn] = outcomes;
  const level = options.level / 100;
  const blocks = (input.until - input.from) / resampling.blockMs;
  const figures = (Object.keys(bootstrapFigures) as BootstrapFigure[]).flatMap((figure) => { // oxlint-disable-line typescript/no-unsafe-type-assertion -- keys of a constant
    const values = drawn.flatMap((outcome) => numberOf(outcome, figure) ?? []);
    const summary = summaryOf(values, level);
    if (summary === undefined) return [];
    const known = history && numberOf(history, figure);
    const { count, mean, median, standardError, p5, p25, p75, p95, low, high } = summary;
    return [{
      figure,
      resamples: count,
      ...(known === undefined ? {} : { history: nineDigits(known), history_rank: nineDigits(rankOf(values, known)) }),
      mean: nineDigits(mean),
      median: nineDigits(median),
      standard_error: nineDigits(standardError),
      p5: nineDigits(p5),
      p25: nineDigits(p25),
      p75: nineDigits(p75),
      p95: nineDigits(p95),
      low: nineDigits(low),
      high: nineDigits(high),
    }];
  });
  const anchoring = anchoringOf({
    own: drawn.map((outcome) => (figure) => numberOf(outcome, figure)),
    others: others.map((outcome) => (figure) => numberOf(outcome, figure)),
    isUnanchored: resampling.isUnanchored === true,
  });
  const asked = options.bootstrap ?? RESAMPLES.usual;
  const halted = drawn.filter((outcome) => 'control' in outcome && outcome.control === 'halted').length;
  return {
    resamples: drawn.length,
    ...(drawn.length < asked ? { asked } : {}),
    block_ms: resampling.blockMs,
    blocks: Math.round(blocks * 10) / 10,
    trend: resampling.trend,
    seed: resampling.seed,
    level,
    figures,
    ...(anchoring === undefined ? {} : { anchoring }),
    notes: [
      ...notesOf({ resampling, blocks, drawn: drawn.length, asked, halted }),
      ...anchorNotes(input, resampling, anchoring),
    ],
  };
} // prettier-ignore

function numberOf(outcome: SweepOutcome, figure: BootstrapFigure): number | undefined {
  if ('refused' in outcome) return undefined;
  const { figures, parts = {} } = outcome;
  const partsBps: Readonly<Record<string, string | undefined>> = {
    delay_bps: parts.delay,
    timing_bps: parts.timing,
    execution_bps: parts.execution,
    opportunity_bps: parts.opportunity,
    fees_bps: parts.fees,
  };
  const said = isFigure(figure) ? figures[figure] : partsBps[figure];
  return said === undefined ? undefined : Number(said);
}

function notesOf({ resampling, blocks, drawn, asked, halted }: { readonly resampling: Resampling; readonly blocks: number; readonly drawn: number; readonly asked: number; readonly halted: number }): readonly string[] {
  const { blockMs, trend, seed } = resampling;
  return [
    ...(drawn < asked ? [`The run was stopped after ${drawn} of ${asked} resamples. The intervals equal those of --bootstrap ${drawn} with the same seed, and are less certain.`] : []),
    `History was resampled ${drawn} times in blocks of ${durationText(blockMs)}, the same for all pairs, seed ${seed}. Refusals and outages of the venue were drawn with each resample.`,
    'The intervals show how much the figures would vary over markets like the one in the window. They do not cover other markets or errors of the execution model: all resamples assume the same spread, impact and latency.',
    trend === 'kept'
      ? 'Each resample has the trend of the window: prices rise or fall on average as in the window. In a period without that trend, costs fall outside an interval more often than stated; --no-trend removes the trend.'
      : 'The trend of the window is removed from every pair: the value of a portfolio excludes its gain from the trend.',
    ...(blocks < BLOCKS_FEW ? [`The window holds ${blocks.toFixed(1)} blocks, too few for reliable intervals. Use a longer window or shorter blocks.`] : []),
    ...(halted === 0 ? [] : [`In ${halted} of ${drawn} resamples a control halted the desk: their figures cover trades until then.`]),
  ];
} // prettier-ignore

export function bootstrapLines(facts: BootstrapFacts): readonly string[] {
  const { figures, notes, level } = facts;
  const shown = (value: number | undefined): string => (value === undefined ? '-' : shownFigure(value));
  const percent = Number((level * 100).toFixed(3));
  return [
    '',
    `Intervals over ${facts.resamples} ${facts.asked === undefined ? '' : `of ${facts.asked} `}resamples in blocks of ${durationText(facts.block_ms)}`,
    ...table([
      ['', 'history', 'mean', 'median', 'std error', '5 %', '95 %', ...(level === 0.9 ? [] : [`${percent} % from`, 'to'])],
      ...figures.map((one) => [
        named(one.figure),
        ...[one.history, one.mean, one.median, one.standard_error, one.p5, one.p95, ...(level === 0.9 ? [] : [one.low, one.high])].map(shown),
      ]),
    ]),
    ...notes.map((line) => `Note: ${line}`),
  ];
} // prettier-ignore
