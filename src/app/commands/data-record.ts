import { closeSync, ftruncateSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  EMPTY,
  finalize,
  fromEventPattern,
  ignoreElements,
  lastValueFrom,
  merge,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { BarRecorder, SEEN_HEADER, seenLine } from '../../backtest/recorder.ts';
import { alerts } from '../../core/alerts.ts';
import { OperatorError } from '../../core/errors.ts';
import { forTerminal } from '../../core/escape.ts';
import { instant, parseDuration } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { systemClock } from '../clock.ts';
import { loadConfig } from '../config.ts';
import type { Mode } from '../config.ts';
import { modes } from '../modes.ts';
import { refuseDangers } from '../surroundings.ts';
import type { RunIo } from './run.ts';

export interface DataRecordOptions {
  readonly config: string;
  readonly mode?: Mode | undefined;
  /** Length of a bar, ISO 8601. */
  readonly bar: string;
  /** Left out: until it is told to stop. */
  readonly for?: string | undefined;
  /** Folder: `PAIR.csv` of each pair, continued where it is there. */
  readonly out: string;
}

/**
 * Writes the reference prices of the venue as bars, each when it is over, until it is told to stop. Asks for prices and nothing else: no
 * quote, no order.
 *
 * @throws OperatorError (`config`, `usage`, `data`, `storage`).
 */
export async function dataRecord(
  pairs: readonly string[],
  options: DataRecordOptions,
  io: RunIo,
): Promise<number> {
  const barMs = durationOf('--bar', options.bar);
  const forMs = options.for === undefined ? undefined : durationOf('--for', options.for);
  const wrong = pairs.find((pair) => !/^[a-z0-9]{2,24}$/u.test(pair));
  if (wrong !== undefined) throw new OperatorError('usage', `"${wrong}" is not a pair, such as btcusd`);
  const settings = { env: io.env, cwd: io.cwd, now: io.now, mode: options.mode };
  const { config } = loadConfig(options.config, settings);
  if (config.mode === 'live') refuseDangers(io, config.allowEnvironment);
  io.forget(config.venue.token);
  const folder = resolve(io.cwd, options.out);
  const files = new Map(pairs.map((pair) => [pair, new BarFile(folder, pair, barMs)]));
  const say = (message: string): void => void io.stderr.write(`${message}\n`);
  for (const { said } of files.values()) if (said !== undefined) say(said);
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
    pastFills: () => [],
    onExtras: () => undefined,
  });
  try {
    if (world.market === undefined)
      throw new OperatorError('config', 'the venue sends no prices here: venue.capabilities.ticker and venue.ws_url are needed'); // prettier-ignore
    say(`recording ${pairs.join(', ')} from ${world.where} into ${folder}; Ctrl-C ends it`);
    const ends = merge(stops(io), forMs === undefined ? EMPTY : timer(forMs, systemClock.scheduler)).pipe(
      take(1),
    );
    const recorded = world.market.prices$.pipe(
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

const withFacts = (words: string, facts: object | undefined): string =>
  forTerminal(facts === undefined ? words : `${words} ${JSON.stringify(facts)}`);

const stops = (io: RunIo): Observable<unknown> =>
  fromEventPattern(
    (handler) => io.onSignal(handler),
    (_, forget: () => void) => {
      forget();
    },
  );

function durationOf(option: string, text: string): number {
  try {
    const ms = parseDuration(text);
    if (ms > 0) return ms;
  } catch (cause) {
    throw new OperatorError(
      'usage',
      `${option}: ${cause instanceof Error ? cause.message : 'unreadable'}`,
      cause,
    );
  }
  throw new OperatorError('usage', `${option} ${text}: expected a length above zero`);
}

/** The file of a pair. A line is written in one piece when its bar is over, and is on the disk before the next. */
class BarFile {
  readonly #file: number;
  readonly #recorder: BarRecorder;
  /** What was found and done to a file that was there, in words. */
  readonly said: string | undefined;
  bars = 0;

  constructor(folder: string, pair: string, barMs: number) {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${pair}.csv`);
    this.#file = openSync(path, 'a+');
    const there = readFileSync(this.#file, 'utf8');
    // A line without its end is what a power cut left.
    const whole = there.slice(0, there.lastIndexOf('\n') + 1);
    if (whole !== '' && !whole.startsWith(`${SEEN_HEADER}\n`))
      throw new OperatorError(
        'data',
        `${path} is there, and its first line is not "${SEEN_HEADER}": take another folder`,
      );
    if (whole.length < there.length) ftruncateSync(this.#file, Buffer.byteLength(whole));
    if (whole === '') writeSync(this.#file, `${SEEN_HEADER}\n`);
    const last = lastTimeOf(whole);
    if (last !== undefined)
      this.said = `${path}: goes on after its ${whole.trimEnd().split('\n').length - 1} bars`;
    this.#recorder = new BarRecorder(barMs, systemClock.wall(), last);
  }

  take(...price: Parameters<BarRecorder['take']>): void {
    const bar = this.#recorder.take(...price);
    if (bar === undefined) return;
    writeSync(this.#file, `${seenLine(bar)}\n`);
    fsyncSync(this.#file);
    this.bars += 1;
  }

  close(): void {
    closeSync(this.#file);
  }
}

function lastTimeOf(whole: string): Instant | undefined {
  const cell = whole.trimEnd().split('\n').at(-1)?.split(',')[0] ?? '';
  return /^\d+$/u.test(cell) ? instant(Number(cell)) : undefined;
}
