import { join, resolve } from 'node:path';
import { indexPrices } from '../../research/tape/index.ts';
import { readFigure } from '../../research/sweep/sweep-figures.ts';
import type { FigureName } from '../../research/sweep/sweep-figures.ts';
import { readVaries, settingsOf } from '../../research/sweep/vary.ts';
import { windowsOf } from '../../research/sweep/walk-forward.ts';
import type { Window } from '../../research/sweep/walk-forward.ts';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { text } from '../../core/money.ts';
import { isRecord } from '../../core/text/json.ts';
import { pack } from '../../core/text/pack.ts';
import { isoOf } from '../../core/time.ts';
import { readInput } from '../research/backtest-input.ts';
import type { BacktestInput, InputOptions } from '../research/backtest-input.ts';
import { contentHash } from '../config/config.ts';
import { readModel } from '../config/model-file.ts';
import type { NamedModel } from '../config/model-file.ts';
import { formatProblems } from '../config/problems.ts';
import { runPool, sharedIndex, sharedTape } from '../sweep/sweep-pool.ts';
import { sweepProgress } from '../sweep/sweep-progress.ts';
import { sweepJson, sweepResultOf } from '../sweep/sweep-result.ts';
import { packBase } from '../sweep/sweep-run.ts';
import type { SweepJob, SweepOutcome } from '../sweep/sweep-run.ts';
import { openSweep, writeWhole } from '../sweep/sweep-store.ts';
import type { SweepInputs, SweepStore } from '../sweep/sweep-store.ts';
import { readVariants } from '../sweep/sweep-variants.ts';
import type { Variant, Variants } from '../sweep/sweep-variants.ts';
import { sweepCsv, sweepWords } from '../sweep/sweep-text.ts';
import { version } from '../version.ts';
import type { Given, RunIo } from './io.ts';

export type SweepOptions = InputOptions &
  Given<'by' | 'risk' | 'store' | 'out', 'skipInvalid' | 'json', 'samples' | 'walkForward'> & {
    readonly model: string;
    readonly assume: readonly string[];
    readonly seed: string;
    readonly vary: readonly string[];
    readonly workers: number;
    readonly top: number;
  };

/**
 * Runs a backtest for every setting of some fields, on several threads or by workers of a store. Exit codes: 0; 64 for invalid
 * arguments or a folder with other results; 65 for damaged data; 70 when a worker died; 74 storage; 75 when a signal stopped the sweep
 * (with `out`, the same command resumes it); 78 for an unusable file or setting.
 */
export async function runSweep(options: SweepOptions, io: RunIo): Promise<number> {
  const varies = readVaries(options.vary);
  const { settings, repeated } = settingsOf(varies, options);
  const by: FigureName | undefined = options.by === undefined ? undefined : readFigure(options.by, '--by');
  const risk: FigureName | undefined = options.risk === undefined ? undefined : readFigure(options.risk, '--risk');
  const named = readModel(options, io);
  const input = await readInput(options, io);
  if ('problems' in input) {
    io.stderr.write(formatProblems(input.problems, { colour: io.colour }));
    return exitCodes.config;
  }
  refuseUnshared(input, options);
  const fields = varies.map(({ field }) => field);
  const read = readVariants(input, { varies, settings }, io);
  refuseInvalid(read, { fields, options, io });
  const isForward = options.walkForward !== undefined;
  const windows: readonly Window[] =
    options.walkForward === undefined ? [{ from: input.from, until: input.until }] : windowsOf(input, options.walkForward);
  const store = options.out === undefined ? undefined : openSweep(resolve(io.cwd, options.out), inputsOf(input, named, options));
  try {
    const plan = { input, named, options, io, store, fields, windows, variants: read.variants };
    const { outcomes, isStopped, further } = await runAll(plan);
    const result = sweepResultOf({
      fields,
      settings: read.variants.map(({ values }) => values),
      windows,
      outcomes,
      by,
      risk,
      isForward,
      isLimited: read.variants.some(({ strategies }) => strategies.some(({ document }) => isRecord(document) && 'limit_price' in document)),
      repeated,
      invalid: read.invalid.length,
      further,
    });
    const facts = { input, named, seed: options.seed };
    const json = `${escapeMarks(JSON.stringify(sweepJson(result, facts), undefined, 2))}\n`;
    if (options.out !== undefined) {
      const folder = resolve(io.cwd, options.out);
      writeWhole(join(folder, 'results.json'), json);
      writeWhole(join(folder, 'results.csv'), sweepCsv(result));
    }
    if (options.json === true) io.stdout.write(json);
    else for (const line of sweepWords(result, options.top)) io.stdout.write(`${forTerminal(line)}\n`);
    if (!isStopped) return 0;
    const goOn = options.out === undefined ? 'no results were kept; use --out FOLDER to keep them' : 'run the same command to resume';
    io.stderr.write(`sweep stopped early: ${goOn}\n`);
    return exitCodes.again;
  } finally {
    store?.close();
  }
} // prettier-ignore

/** Returns the inputs of the results. A change of any input changes the figures, even if everything else is equal. */
function inputsOf(input: BacktestInput, named: NamedModel, { seed }: SweepOptions): SweepInputs {
  const holdings = [...input.holdings].map(([currency, held]) => [currency, text(held)]);
  return {
    version,
    config: input.configHash,
    model: contentHash(JSON.parse(pack(named.model))),
    seed,
    holdings: contentHash(Object.fromEntries(holdings)),
    from: isoOf(input.from),
    until: isoOf(input.until),
    // The hash covers only the columns, but the same columns in longer bars become known later.
    ...Object.fromEntries(input.tapes.map(({ tape }) => [`tape ${tape.pair}`, `${tape.hash} ${tape.barMs}`])),
    ...Object.fromEntries(input.strategies.map(({ id, hash }) => [`strategy ${id}`, hash])),
  };
}

/** Refuses what workers on other machines cannot do. @throws OperatorError `usage`. */
function refuseUnshared({ strategies }: BacktestInput, { store }: SweepOptions): void {
  const own = strategies.find(({ kind }) => kind === 'module');
  if (store !== undefined && own !== undefined)
    throw new OperatorError('usage', `strategy ${own.id} is a module, and modules are not sent to other machines: run this sweep without --store`);
} // prettier-ignore

function refuseInvalid({ variants, invalid }: Variants, { fields, options, io }: Pick<SweepPlan, 'fields' | 'options' | 'io'>): void {
  const [first] = invalid;
  if (first === undefined) return;
  const which = fields.map((field, i) => `${field}=${first.values[i] ?? ''}`).join(', ');
  const why = formatProblems([first.problem], { colour: false }).trimEnd();
  const count = `${invalid.length} of ${variants.length + invalid.length} settings are invalid. The first is ${which}:\n${why}`;
  if (options.skipInvalid !== true || variants.length === 0)
    throw new OperatorError('config', `${count}\nnothing was run${variants.length === 0 ? '' : '; --skip-invalid skips them'}`);
  io.stderr.write(`${count}\ninvalid settings are skipped\n`);
} // prettier-ignore

interface SweepPlan {
  readonly input: BacktestInput;
  readonly named: NamedModel;
  readonly options: SweepOptions;
  readonly io: RunIo;
  readonly store: SweepStore | undefined;
  readonly fields: readonly string[];
  readonly windows: readonly Window[];
  readonly variants: readonly Variant[];
}

interface Run {
  readonly window: number;
  readonly index: number;
  readonly key: string;
  readonly job: SweepJob;
}

/** Runs the settings whose outcomes the store does not have yet. A signal stops the sweep cleanly. */
async function runAll(plan: SweepPlan): Promise<{
  readonly outcomes: readonly (readonly (SweepOutcome | undefined)[])[];
  readonly isStopped: boolean;
  readonly further: number;
}> {
  const { input, named, options, io, store, windows, variants } = plan;
  const { config, configHash, holdings } = input;
  const outcomes: (SweepOutcome | undefined)[][] = windows.map(() => variants.map(() => undefined));
  const put = ({ window, index }: Run, outcome: SweepOutcome): void => {
    const row = outcomes[window];
    if (row !== undefined) row[index] = outcome;
  };
  const runs = runsOf(plan);
  const rest = runs.filter((run) => {
    const known = store?.known.get(run.key);
    if (known !== undefined) put(run, known);
    return known === undefined;
  });
  const already = runs.length - rest.length;
  if (already > 0)
    io.stderr.write(`${already} of ${runs.length} runs are already done and are not repeated\n`);
  const stop = new AbortController();
  const forget = io.onSignal((signal) => {
    if (signal === 'SIGUSR2') return;
    if (stop.signal.aborted) io.exitNow(130);
    stop.abort();
  });
  const progress = sweepProgress(io.stderr, { total: runs.length, already, now: () => performance.now() });
  const began = performance.now();
  try {
    const jobs = rest.map(({ job }) => job);
    const base = packBase({ config, configHash, holdings, model: named.model, seed: options.seed });
    const tapes = input.tapes.map(({ tape }) => tape);
    const done = (at: number, outcome: SweepOutcome): void => {
      const run = rest[at];
      if (run === undefined) return;
      store?.append(run.key, valuesOf(plan, run), outcome);
      put(run, outcome);
      progress.ended();
    };
    if (options.store === undefined)
      await runPool({
        jobs,
        base,
        tapes: tapes.map(sharedTape),
        indexes: tapes.map((tape) => sharedIndex(indexPrices(tape))),
        workers: options.workers,
        stop: stop.signal,
        kept: store === undefined ? undefined : 'every finished setting is kept',
        done,
      });
    else {
      const { submitSweep } = await import('../sweep/store/submit-sweep.ts');
      const say = (line: string): void => void io.stderr.write(`${line}\n`);
      await submitSweep({ url: options.store, jobs, base, tapes, done, stop: stop.signal, say });
    }
  } finally {
    progress.clear();
    forget();
  }
  const ended = outcomes.flat().filter((one) => one !== undefined).length - already;
  const seconds = (performance.now() - began) / 1_000;
  const where =
    options.store === undefined ? `on ${Math.min(options.workers, rest.length)} threads` : 'by workers';
  io.stderr.write(`${ended} runs in ${seconds.toFixed(2)} s ${where}\n`);
  const asked = new Set(runs.map(({ key }) => key));
  const further = [...(store?.known.keys() ?? [])].filter((key) => !asked.has(key)).length;
  return { outcomes, isStopped: ended + already < runs.length, further };
}

const runsOf = ({ windows, variants }: SweepPlan): readonly Run[] =>
  windows.flatMap((window, at) =>
    variants.map(({ strategies }, index) => ({
      window: at,
      index,
      // All other inputs are the same for the entire folder.
      key: contentHash({
        ...window,
        strategies: strategies.map(({ strategy, hash }) => ({ strategy, hash })),
      }),
      job: { ...window, strategies },
    })),
  );

const valuesOf = (
  { fields, variants, windows }: SweepPlan,
  { index, window }: Run,
): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(fields.map((field, i) => [field, variants[index]?.values[i] ?? ''])),
  ...(windows.length === 1 ? {} : { window: String(window + 1) }),
});
