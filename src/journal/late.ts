import { Observable } from 'rxjs';
import type { RecordBody, StoredRecord } from '../core/record.ts';
import type { Instant } from '../core/time.ts';
import { OperatorError, invariant } from '../core/errors.ts';
import { EMPTY, tie, verify } from './chain.ts';
import type { Head, Line } from './chain.ts';
import type { Journal } from './journal.ts';

/**
 * A journal in memory whose records are checked, spelled and tied to the chain when somebody looks: for backtests, of which
 * there are thousands in a sweep, and whose records nobody can lose. Same text and same hashes as in every other journal.
 *
 * What is appended is frozen to its last member, so that its text is the same whenever it is made. A body that is no
 * record is therefore found late, and then everything that looks at the chain throws.
 */
export function lateJournal(): Journal {
  const records: LateRecord[] = [];
  const lines: Line[] = [];
  let isClosed = false;
  const lineAt = (seq: number): Line => {
    for (const { at, body } of records.slice(lines.length, seq)) {
      for (const { line } of tie(lines.at(-1) ?? EMPTY, [body], at)) lines.push(line);
    }
    const line = lines[seq - 1];
    invariant(line !== undefined, `record ${seq} is not in this journal`);
    return line;
  };
  const tied = (): readonly Line[] => {
    if (records.length > 0) lineAt(records.length);
    return lines;
  };
  const append = (bodies: readonly RecordBody[], at: Instant): readonly StoredRecord[] => {
    if (isClosed) throw new OperatorError('storage', 'journal memory: is closed');
    invariant(Number.isSafeInteger(at), `the time of a record is whole milliseconds, got ${at}`);
    return bodies.map((body) => {
      freeze(body);
      const record = new LateRecord({ seq: records.length + 1, at, body }, lineAt);
      records.push(record);
      return record;
    });
  };
  return {
    append: (bodies, at) =>
      new Observable((subscriber) => {
        subscriber.next(append(bodies, at));
        subscriber.complete();
      }),
    read(after = 0) {
      tied();
      return records.slice(after);
    },
    close() {
      isClosed = true;
    },
    head(): Head {
      const { seq, hash } = tied().at(-1) ?? EMPTY;
      return { seq, hash };
    },
    lines: () => tied().slice(),
    verify: () => verify(tied()),
  };
}

/** A record whose hash is known when it is asked for. */
class LateRecord implements StoredRecord {
  readonly seq: number;
  readonly at: Instant;
  readonly body: RecordBody;
  readonly #lineAt: (seq: number) => Line;

  constructor({ seq, at, body }: Omit<StoredRecord, 'hash'>, lineAt: (seq: number) => Line) {
    this.seq = seq;
    this.at = at;
    this.body = body;
    this.#lineAt = lineAt;
  }

  get hash(): string {
    return this.#lineAt(this.seq).hash;
  }
}

/** To the last member, those of frozen objects too: who froze them may have stopped at the first. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (const element of value) freeze(element);
    return;
  }
  const members = value as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- read by its own keys
  for (const key in members) freeze(members[key]);
}
