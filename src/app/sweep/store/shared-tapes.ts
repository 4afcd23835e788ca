import { createHash } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { z } from 'zod';
import { OperatorError } from '../../../core/errors.ts';
import { DATA_BYTES_MAX, readRegularFile } from '../../../files/regular-file.ts';
import { delistedTape } from '../../../research/run/delisting.ts';
import { tapeFromArrow, tapeToArrow } from '../../../research/tape/arrow-file.ts';
import type { Tape } from '../../../research/tape/tape.ts';
import { notWritten } from '../../research/parquet.ts';
import type { StoreConnection } from './store-connection.ts';

const tapesSchema = z.array(
  z.object({ pair: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/u), isDelisted: z.boolean() }),
);
/** Tapes of a sweep, with the hashes of their files. */
export type SharedTapes = z.infer<typeof tapesSchema>;
export const readSharedTapes = (text: string): SharedTapes => tapesSchema.parse(JSON.parse(text));

/** Largest tape in the store, because PostgreSQL accepts values of at most 1 GB. */
const STORED_BYTES_MAX = 500_000_000;

const fileOf = (folder: string, sha256: string): string => join(folder, `${sha256}.arrow`);
const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Puts tapes where workers find them: into the folder, if given, or into the store. Existing tapes are kept. */
export async function shareTapes(
  { pool }: StoreConnection,
  tapes: readonly Tape[],
  folder: string | undefined,
): Promise<SharedTapes> {
  const shared: SharedTapes = [];
  for (const tape of tapes) {
    const bytes = tapeToArrow(tape);
    const sha256 = sha256Of(bytes);
    shared.push({ pair: tape.pair, sha256, isDelisted: tape.isDelisted === true });
    if (folder !== undefined) {
      if (!existsSync(fileOf(folder, sha256))) writeShared(fileOf(folder, sha256), bytes);
      continue;
    }
    if (bytes.byteLength > STORED_BYTES_MAX)
      throw new OperatorError(
        'usage',
        `the tape of ${tape.pair} is ${Math.ceil(bytes.byteLength / 1e6)} MB, too large for the store: name a folder that all workers share with --tapes`,
      );
    const { rowCount } = await pool.query('SELECT FROM tranche_sweep.tape WHERE sha256 = $1', [sha256]);
    if (rowCount === 0)
      await pool.query('INSERT INTO tranche_sweep.tape VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        sha256,
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      ]);
  }
  return shared;
}

/** Writes a file atomically, readable by workers of other users. @throws OperatorError `storage` */
function writeShared(file: string, bytes: Uint8Array): void {
  const part = `${file}.${process.pid}.part`;
  try {
    writeFileSync(part, bytes, { mode: 0o644, flush: true });
    renameSync(part, file);
  } catch (cause) {
    throw notWritten(file, cause);
  }
}

/** Loads the tapes. @throws OperatorError `config` if a tape is neither in the folder nor in the store, `data` if it is damaged. */
export async function loadTapes(
  store: StoreConnection,
  tapes: SharedTapes,
  folder: string | undefined,
): Promise<readonly Tape[]> {
  const loaded: Tape[] = [];
  for (const { pair, sha256, isDelisted } of tapes) {
    const { bytes, from } = await bytesOf(store, { pair, sha256 }, folder);
    if (sha256Of(bytes) !== sha256)
      throw new OperatorError('data', `${from} is damaged: it is not the tape of ${pair} with this hash`);
    // A copy, because its columns are views of bytes whose offset must be a multiple of eight.
    const read = tapeFromArrow(new Uint8Array(bytes), from);
    if (read === undefined) throw new OperatorError('data', `${from} is not a tape`);
    loaded.push(isDelisted ? delistedTape(read.tape) : read.tape);
  }
  return loaded;
}

async function bytesOf(
  { pool, shown }: StoreConnection,
  { pair, sha256 }: { readonly pair: string; readonly sha256: string },
  folder: string | undefined,
): Promise<{ readonly bytes: Uint8Array; readonly from: string }> {
  const file = folder === undefined ? undefined : fileOf(folder, sha256);
  if (file !== undefined && existsSync(file))
    return { bytes: readRegularFile(file, { maxBytes: DATA_BYTES_MAX }), from: file };
  const { rows } = await pool.query<{ bytes: Buffer }>(
    'SELECT bytes FROM tranche_sweep.tape WHERE sha256 = $1',
    [sha256],
  );
  const bytes = rows[0]?.bytes;
  if (bytes !== undefined) return { bytes, from: `the tape ${sha256} in ${shown}` };
  throw new OperatorError(
    'config',
    `the tape of ${pair} (${sha256}) is missing: it is neither in the store nor in ${folder ?? 'a folder: this worker was started without --tapes'}. Start the worker with the --tapes folder of the sweep`,
  );
}
