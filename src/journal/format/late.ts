import type { RecordBody, StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import { OperatorError, invariant } from '../../core/errors.ts';
import { EMPTY, link, textOf, verify } from '../proof/chain.ts';
import type { Line } from '../proof/chain.ts';
import type { Journal } from '../journal.ts';

/**
 * A journal in memory whose records are checked, spelled and tied to the chain when somebody looks: for backtests, of which
 * there are thousands in a sweep, and whose records nobody can lose. Same text and same hashes as in every other journal.
 *
 * What is appended stays as it is, so that its text is the same whenever it is made, and need not be kept: bodies are `readonly`
 * to their last member, and hold nothing that a module of a user can reach. Tests freeze them. A body that is no record is
 * found late, and then everything that looks at the chain throws: a hash, the head, the lines.
 */
export function lateJournal(): Journal {
  const chain = new LateChain();
  let isClosed = false;
  const append = (bodies: readonly RecordBody[], at: Instant): readonly StoredRecord[] => {
    if (isClosed) throw new OperatorError('storage', 'journal memory: is closed');
    invariant(Number.isSafeInteger(at), () => `the time of a record must be whole milliseconds, got ${at}`);
    const [first] = bodies;
    if (bodies.length === 1 && first !== undefined) return [chain.add(first, at)];
    return bodies.map((body) => chain.add(body, at));
  };
  return {
    append,
    // Figures need bodies alone: whoever tells the hash of one of these looks at the chain then.
    read: (after = 0) => chain.records(after),
    close() {
      isClosed = true;
    },
    head: () => ({ seq: chain.length, hash: chain.tie() }),
    lines: () => chain.lines(),
    verify: () => verify(chain.lines()),
  };
}

/** Bodies and their times, and the hashes of those that were tied so far. A record is made of them when somebody wants it. */
class LateChain {
  readonly #bodies: RecordBody[] = [];
  readonly #times: Instant[] = [];
  readonly #hashes: string[] = [];

  get length(): number {
    return this.#bodies.length;
  }

  add(body: RecordBody, at: Instant): StoredRecord {
    this.#times.push(at);
    return new LateRecord(this.#bodies.push(body), at, body, this);
  }

  /** Those after the record `after` that are there when this is called. */
  *records(after: number, until = this.length): Generator<StoredRecord> {
    for (let seq = after + 1; seq <= until; seq++) yield this.#record(seq);
  }

  #record(seq: number): StoredRecord {
    const [body, at] = [this.#bodies[seq - 1], this.#times[seq - 1]];
    invariant(body !== undefined && at !== undefined, () => `record ${seq} is not in this journal`);
    return new LateRecord(seq, at, body, this);
  }

  hashOf(seq: number): string {
    return this.#hashes[seq - 1] ?? this.tie(seq);
  }

  /** Ties the records up to `seq`, all when it is left out, and tells the hash of the last. @throws Error at a body that is no record. */
  tie(seq = this.length): string {
    let hash = this.#hashes.at(-1) ?? EMPTY.hash;
    while (this.#hashes.length < seq) {
      const record = this.#record(this.#hashes.length + 1);
      hash = link(hash, record.seq, record.at, textOf(record.body));
      this.#hashes.push(hash);
    }
    return hash;
  }

  lines(): Iterable<Line> {
    this.tie();
    return linesOf(this.records(0));
  }
}

/** One at a time: all of them together are many times what the records are. */
function* linesOf(records: Iterable<StoredRecord>): Generator<Line> {
  for (const { seq, at, body, hash } of records) yield { seq, at, kind: body.kind, body: textOf(body), hash };
}

/** A record whose hash is known when it is asked for. */
class LateRecord implements StoredRecord {
  readonly seq: number;
  readonly at: Instant;
  readonly body: RecordBody;
  readonly #chain: LateChain;

  constructor(seq: number, at: Instant, body: RecordBody, chain: LateChain) {
    this.seq = seq;
    this.at = at;
    this.body = body;
    this.#chain = chain;
  }

  get hash(): string {
    return this.#chain.hashOf(this.seq);
  }
}
