import { OperatorError } from '../../core/errors.ts';
import { damage } from '../proof/chain.ts';

const BUSY = 5;
const IOERR = 10;
const MISUSED_SCHEMA = 1;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
/** Error codes of SQLite for damage that appears only in the content of a page. */
const MISMATCH = 20;
const FORMAT = 24;
const FULL = 13;
/** Extended codes: a write failed, or the shared index of the log could not grow. No flush was attempted. */
const IOERR_WRITE = 778;
const IOERR_SHMSIZE = 4_874;

/** Primary result code of SQLite; `undefined` for other errors. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

/** Whether the disk is full. The disk's state is then known: nothing was flushed, and the transaction was rolled back. */
export const isNoRoom = (error: unknown): boolean =>
  codeOf(error) === FULL ||
  (error instanceof Error &&
    'errcode' in error &&
    (error.errcode === IOERR_WRITE || error.errcode === IOERR_SHMSIZE));

export const isBusy = (error: unknown): boolean => codeOf(error) === BUSY;

/**
 * Whether the file is damaged, as opposed to a fault of the disk or another process. Numbers outside the range of a
 * journal cause a RangeError.
 */
export const isDamage = (error: unknown): boolean =>
  error instanceof RangeError || DAMAGE.has(codeOf(error) ?? -1);

/** If the schema is no longer ours, our statements fail with these errors. */
const DAMAGE: ReadonlySet<number> = new Set([MISUSED_SCHEMA, CORRUPT, MISMATCH, FORMAT, NOT_A_DATABASE]);

/**
 * Whether the state of the disk is unknown now. A statement that cannot run, or a lock of another process, leaves it
 * unchanged.
 */
export const isDiskFault = (error: unknown): boolean =>
  [IOERR, CORRUPT, NOT_A_DATABASE].includes(codeOf(error) ?? -1) && !isNoRoom(error);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The error for the operator when SQLite fails on `file` at record `seq`. */
export function faultOf(file: string, seq: number, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  if (isDamage(error)) return damage(file, seq, messageOf(error), error);
  return new OperatorError(
    'storage',
    `journal ${file} cannot be used: ${messageOf(error)}. Check the permissions of its folder and the free space on the disk.`,
    error,
  );
}
