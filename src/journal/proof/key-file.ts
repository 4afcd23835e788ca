import { OperatorError } from '../../core/errors.ts';
import { placeOfJournal } from '../journal-place.ts';

/** Path of the desk's key, which is beside the desk's journal. @throws OperatorError `config` for a journal in memory. */
export function keyFileOf(url: string): string {
  const file = placeOfJournal(url);
  if (file === undefined) throw new OperatorError('config', 'an in-memory journal has no desk key');
  return `${file}.key`;
}
