import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { figureNames } from '../../research/sweep/sweep-figures.ts';
import type { FigureName } from '../../research/sweep/sweep-figures.ts';
import { OperatorError } from '../../core/errors.ts';
import { escapeMarks } from '../../core/text/escape.ts';
import { createPrivate, syncFolderOf } from '../../journal/sqlite/files.ts';
import { takeLock } from '../../journal/sqlite/lock.ts';
import { notWritten } from '../research/parquet.ts';
import type { SweepOutcome } from './sweep-run.ts';

/**
 * Everything that the results in a folder depend on, by name: hashes and settings. If one of them differs, the folder
 * belongs to another sweep.
 */
export type SweepInputs = Readonly<Record<string, string>>;

/** Results of a sweep on disk, open in one process at a time. */
export interface SweepStore {
  /** Results of earlier runs, by key. */
  readonly known: ReadonlyMap<string, SweepOutcome>;
  /** Adds an outcome, which is durable when this returns. */
  append(key: string, values: Readonly<Record<string, string>>, outcome: SweepOutcome): void;
  close(): void;
}

/** File with the inputs of the results. */
export const INPUTS_FILE = 'sweep.json';
/** File with one line for each setting, in order of completion. */
export const SETTINGS_FILE = 'settings.jsonl';
const FORMAT = 1;

const inputsSchema = z.object({ format: z.literal(FORMAT), inputs: z.record(z.string(), z.string()) });
const nameSchema = z.enum(figureNames as readonly [FigureName, ...FigureName[]]); // oxlint-disable-line typescript/no-unsafe-type-assertion -- there is at least one
const spreadSchema = z.object({ level: z.number(), parts: z.array(z.tuple([z.number(), z.number()])) });
/** Schema of an outcome in JSON. */
export const outcomeSchema = z.union([
  z.strictObject({ figures: z.partialRecord(nameSchema, z.string()), spreads: z.partialRecord(nameSchema, spreadSchema), control: z.string(), records: z.number(), head: z.string() }), // prettier-ignore
  z.strictObject({ refused: z.string() }),
]);
const lineSchema = z.object({ key: z.string(), outcome: outcomeSchema });

/**
 * Opens the folder of a sweep, creates it if it is missing, and reads its results.
 *
 * @throws OperatorError `usage` if it contains results with other inputs, `again` if another process writes to it, `data` if it is damaged,
 * `storage` if it cannot be written.
 */
export function openSweep(folder: string, inputs: SweepInputs): SweepStore {
  const file = join(folder, SETTINGS_FILE);
  const lock = locked(folder, file);
  if (lock === undefined)
    throw new OperatorError('again', `${folder}: another sweep is writing to this folder`);
  try {
    refuseOthers(join(folder, INPUTS_FILE), inputs);
    createPrivate(file);
    const known = readLines(file);
    const handle = openSync(file, 'a', 0o600);
    return {
      known,
      append(key, values, outcome) {
        try {
          // `writeFileSync` writes all bytes or throws; on an almost full disk, a plain write may write only some.
          writeFileSync(handle, `${escapeMarks(JSON.stringify({ key, values, outcome }))}\n`);
          fsyncSync(handle);
        } catch (cause) {
          throw notWritten(file, cause);
        }
      },
      close() {
        closeSync(handle);
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function locked(folder: string, file: string): ReturnType<typeof takeLock> {
  try {
    return takeLock(file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('storage', `--out: ${folder} cannot be written: ${why}`, cause);
  }
}

function refuseOthers(file: string, inputs: SweepInputs): void {
  if (!existsSync(file)) {
    writeWhole(file, `${JSON.stringify({ format: FORMAT, inputs }, undefined, 2)}\n`);
    return;
  }
  const read = inputsSchema.safeParse(parsed(readFileSync(file, 'utf8')));
  if (!read.success)
    throw new OperatorError(
      'data',
      `${file} is damaged or from another version. Sweep folders from older versions cannot be resumed: name another folder`,
    );
  const before = read.data.inputs;
  const changed = [...new Set([...Object.keys(before), ...Object.keys(inputs)])].filter(
    (name) => before[name] !== inputs[name],
  );
  if (changed.length > 0)
    throw new OperatorError(
      'usage',
      `${file}: the results there have other inputs (${changed.join(', ')}) and cannot be combined with these: name another folder with --out`,
    );
}

/** Reads the results. Removes an incomplete last line, so that its setting runs again. */
function readLines(file: string): ReadonlyMap<string, SweepOutcome> {
  const bytes = readFileSync(file);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) truncateSync(file, whole);
  const lines = bytes.subarray(0, whole).toString('utf8').split('\n').slice(0, -1);
  return new Map(
    lines.map((line, i) => {
      const read = lineSchema.safeParse(parsed(line));
      if (!read.success)
        throw new OperatorError(
          'data',
          `${file}: line ${i + 1} is damaged: remove the line to run its setting again`,
        );
      return [read.data.key, read.data.outcome];
    }),
  );
}

/**
 * Writes a file that only its owner can read, and replaces an existing one once the new one is complete.
 *
 * @throws OperatorError `storage`.
 */
export function writeWhole(file: string, content: string): void {
  const part = `${file}.part`;
  try {
    createPrivate(part);
    const handle = openSync(part, 'w', 0o600);
    try {
      writeFileSync(handle, content);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(part, file);
    syncFolderOf(file);
  } catch (cause) {
    throw notWritten(file, cause);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
