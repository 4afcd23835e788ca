import { OperatorError } from '../../core/errors.ts';
import { journalFileOf } from '../sqlite/files.ts';

/** Where the key of the desk lies: beside its journal. @throws OperatorError `config` for a journal in memory. */
export function keyFileOf(url: string): string {
  const file = journalFileOf(url);
  if (file === undefined) throw new OperatorError('config', 'a journal in memory has no key of the desk');
  return `${file}.key`;
}
