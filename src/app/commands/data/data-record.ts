import { closeSync, ftruncateSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  EMPTY,
  catchError,
  filter,
  finalize,
  firstValueFrom,
  fromEventPattern,
  ignoreElements,
  lastValueFrom,
  merge,
  of,
  take,
  takeUntil,
  tap,
  timeout,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { BarRecorder, SEEN_HEADER, seenLine } from '../../../research/tape/recorder.ts';
import { alerts } from '../../../core/alerts.ts';
import { OperatorError, VenueError } from '../../../core/errors.ts';
import { forTerminal } from '../../../core/text/escape.ts';
import { splitPair } from '../../../core/pairs.ts';
import { SECOND_MS, durationText, instant } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { VenuePort } from '../../../engine/ports.ts';
import { makeFolders } from '../../../files/folders.ts';
import { systemClock } from '../../daemon/clock.ts';
import { loadConfig } from '../../config/config.ts';
import type { Mode } from '../../config/config.ts';
import { modes } from '../../daemon/modes.ts';
import type { Command } from '@commander-js/extra-typings';
import { durationOf, modeOption } from '../../cli/options.ts';
import type { CliWorld } from '../../cli/options.ts';
import { refuseUnhardened } from '../../daemon/process-hardening.ts';
import { writeWhole } from '../../daemon/write-whole.ts';
import type { Given, RunIo } from '../io.ts';

/** Adds `tranche data record`. */
export const addRecord = (data: Command, { io, config, done }: CliWorld<RunIo>): void => {
  data
    .command('record')
    .description("record the venue's reference prices as bars until stopped; requests no quotes")
    .argument('<pairs...>', 'pairs, such as btcusd')
    .addOption(config())
    .addOption(modeOption())
    .option('--bar <duration>', 'length of a bar, ISO 8601', 'PT1S')
    .option('--for <duration>', 'stop after this ISO 8601 duration')
    .requiredOption('--out <folder>', 'folder for one PAIR.csv per pair; bars are appended to existing files')
    .action(async (pairs, options) => {
      done(await dataRecord(pairs, options, io));
    });
};

type RecordOptions = Given<'for'> & {
  readonly config: string;
  readonly mode?: Mode | undefined;
  readonly bar: string;
  readonly out: string;
};

/**
 * Records the reference prices of the venue as bars until a signal or `for` stops it, and writes each bar when it has ended. Requests
 * only prices: no quote, no order.
 *
 * @throws OperatorError (`config`, `usage`, `data`, `storage`).
 */
async function dataRecord(pairs: readonly string[], options: RecordOptions, io: RunIo): Promise<number> {
  const barMs = durationOf('--bar', options.bar);
  const forMs = options.for === undefined ? undefined : durationOf('--for', options.for);
  const wrong = pairs.find((pair) => !/^[a-z0-9]{2,24}$/u.test(pair));
  if (wrong !== undefined)
    throw new OperatorError('usage', `"${wrong}" is not a pair: expected, for example, btcusd`);
  const settings = { env: io.env, cwd: io.cwd, now: io.now, mode: options.mode };
  const { config } = loadConfig(options.config, settings);
  if (config.mode === 'live') refuseUnhardened(io, config.allowEnvironment);
  io.forget(config.venue.token);
  const folder = resolve(io.cwd, options.out);
  const files = new Map<string, BarFile>();
  const say = (message: string): void => void io.stderr.write(`${message}\n`);
  const world = await modes[config.mode]({
    config,
    pairs,
    mayMoveMoney: () => false,
    warn: (message, facts) => {
      say(withFacts(`warning: ${message}`, facts));
    },
    alert: (id, facts) => {
      say(withFacts(`${alerts[id].severity}: ${alerts[id].says}`, facts));
    },
    onExtras: () => undefined,
  });
  try {
    if (world.market === undefined)
      throw new OperatorError('config', 'no price feed: set venue.capabilities.ticker and venue.ws_url'); // prettier-ignore
    await refuseUnknown(pairs, world.venue);
    for (const pair of new Set(pairs)) files.set(pair, opened(folder, pair, barMs));
    for (const { said } of files.values()) if (said !== undefined) say(said);
    say(`recording ${pairs.join(', ')} from ${world.where} into ${folder}; press Ctrl-C to stop`);
    const ends = merge(stops(io), forMs === undefined ? EMPTY : timer(forMs, systemClock.scheduler)).pipe(
      take(1),
    );
    const recorded = world.market.prices$.pipe(
      // A last trade is no mid.
      filter(({ source }) => source === 'book'),
      tap(({ pair, mid, at }) => files.get(pair)?.take(mid, at)),
      takeUntil(ends),
      ignoreElements(),
      finalize(() => {
        for (const file of files.values()) file.close();
      }),
    );
    await lastValueFrom(recorded, { defaultValue: undefined });
  } finally {
    await world.close();
  }
  for (const [pair, { bars }] of files) say(`${pair}: ${bars} bars`);
  return 0;
}

/** Longest wait for the venue's list of currencies. */
const ASKED_MS = 5 * SECOND_MS;

/**
 * Refuses a pair that the venue does not know, because it would repeatedly end the subscription of all pairs. Accepts
 * every pair while the venue does not respond.
 *
 * @throws OperatorError `usage`.
 */
async function refuseUnknown(pairs: readonly string[], venue: VenuePort): Promise<void> {
  const asked = venue.currencies().pipe(
    timeout({ first: ASKED_MS, scheduler: systemClock.scheduler, with: () => of(undefined) }),
    catchError((error: unknown) => {
      if (error instanceof VenueError) return of(undefined);
      throw error;
    }),
  );
  const currencies = await firstValueFrom(asked, { defaultValue: undefined });
  if (currencies === undefined) return;
  const symbols = currencies.map(({ symbol }) => symbol);
  for (const pair of pairs) {
    const known = splitPair(pair, symbols);
    if ('problem' in known && known.problem === 'unknown_pair')
      throw new OperatorError('usage', `${known.why}; it lists ${symbols.toSorted().join(', ')}`);
  }
}

const withFacts = (words: string, facts: object | undefined): string =>
  forTerminal(facts === undefined ? words : `${words} ${JSON.stringify(facts)}`);

const stops = (io: RunIo): Observable<unknown> =>
  fromEventPattern(
    (handler) => io.onSignal(handler),
    (_, forget: () => void) => {
      forget();
    },
  );

function opened(folder: string, pair: string, barMs: number): BarFile {
  try {
    return new BarFile(folder, pair, barMs);
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('storage', `${join(folder, `${pair}.csv`)} cannot be written: ${why}`, cause);
  }
}

/** The file of a pair. Writes each line in one piece when its bar has ended, and syncs it to disk before writing the next. */
class BarFile {
  readonly #file: number;
  readonly #recorder: BarRecorder;
  /** Message about the bars that the file already has; `undefined` if it has none. */
  readonly said: string | undefined;
  bars = 0;

  constructor(folder: string, pair: string, barMs: number) {
    makeFolders(folder);
    const path = join(folder, `${pair}.csv`);
    this.#file = openSync(path, 'a+');
    const there = readFileSync(this.#file, 'utf8');
    // A power cut can leave an incomplete last line.
    const whole = there.slice(0, there.lastIndexOf('\n') + 1);
    if (whole !== '' && !whole.startsWith(`${SEEN_HEADER}\n`))
      throw new OperatorError(
        'data',
        `${path} exists, but its first line is not "${SEEN_HEADER}": choose another folder`,
      );
    if (whole.length < there.length) ftruncateSync(this.#file, Buffer.byteLength(whole));
    if (whole === '') this.#write(SEEN_HEADER);
    const times = timesOf(whole);
    const gap = commonGap(times);
    if (gap % barMs !== 0 || (gap > barMs && times.length > SURE_ROWS))
      throw new OperatorError(
        'usage',
        `${path} has bars of ${durationText(gap)}: use --bar ${durationText(gap)} or another folder`,
      );
    const last = times.at(-1);
    if (last !== undefined) this.said = `${path}: continues after ${times.length} bars`;
    this.#recorder = new BarRecorder(barMs, systemClock.wall(), last);
  }

  take(...price: Parameters<BarRecorder['take']>): void {
    const bar = this.#recorder.take(...price);
    if (bar === undefined) return;
    this.#write(seenLine(bar));
    fsyncSync(this.#file);
    this.bars += 1;
  }

  /** Writes one line. A partial write ends the recording, so that no line follows it. */
  #write(line: string): void {
    const { why } = writeWhole(this.#file, Buffer.from(`${line}\n`));
    if (why !== undefined) throw why;
  }

  close(): void {
    closeSync(this.#file);
  }
}

function timesOf(whole: string): readonly Instant[] {
  const cells = whole.split('\n').map((line) => line.split(',')[0] ?? '');
  return cells.filter((cell) => /^\d+$/u.test(cell)).map((cell) => instant(Number(cell)));
}

/** Number of rows above which the common gap of a file is taken as the length of its bars. */
const SURE_ROWS = 20;

/** Returns the greatest common divisor of all distances between rows, in ms; 0 with fewer than two rows. */
function commonGap(times: readonly Instant[]): number {
  let common = 0;
  for (const [n, at] of times.entries()) {
    let gap = n === 0 ? 0 : at - (times[n - 1] ?? at);
    while (gap > 0) [common, gap] = [gap, common % gap];
  }
  return common;
}
