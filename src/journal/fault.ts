import { OperatorError } from '../core/errors.ts';
import { damage } from './chain.ts';

const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** Primary result code of SQLite; `undefined` when the error is not SQLite's. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

export const isBusy = (error: unknown): boolean => codeOf(error) === BUSY;

/** Whether the file is at fault, not the disk or a neighbour. Numbers that no journal holds arrive as RangeError. */
export const isDamage = (error: unknown): boolean =>
  error instanceof RangeError || codeOf(error) === CORRUPT || codeOf(error) === NOT_A_DATABASE;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What the operator is told when SQLite fails on `file` at record `seq`. */
export function faultOf(file: string, seq: number, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  if (isDamage(error)) return damage(file, seq, messageOf(error), error);
  return new OperatorError(
    'storage',
    `journal ${file} cannot be used: ${messageOf(error)}. Check that this user may write to its folder and that the disk has room.`,
    error,
  );
}
