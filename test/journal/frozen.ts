import type { RecordBody } from '../../src/core/record.ts';
import type { Journal } from '../../src/journal/journal.ts';

/**
 * The same journal; what is appended to it is frozen. Whoever changes a record after it was appended, or what it was made of, is
 * stopped by a TypeError: a journal that makes its text late would tell something else.
 */
export function frozen(journal: Journal): Journal {
  return {
    ...journal,
    append: (bodies, at) => journal.append(freeze(bodies), at),
  };
}

/** To the last member, those of frozen objects too: who froze them may have stopped at the first. */
export function freeze(bodies: readonly RecordBody[]): readonly RecordBody[] {
  freezeAll(bodies);
  return bodies;
}

function freezeAll(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freezeAll(member);
}
