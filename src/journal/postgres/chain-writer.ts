import { from } from 'rxjs';
import type { Observable } from 'rxjs';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import { tie } from '../proof/chain.ts';
import type { Head } from '../proof/chain.ts';
import { appender } from '../sqlite/appender.ts';
import type { Appender } from '../sqlite/appender.ts';
import type { AppendQueue } from './append-queue.ts';
import { storageFault } from './postgres-errors.ts';

export interface ChainWriterOptions {
  /** For messages. */
  readonly shown: string;
  /** Where the chain ends when it is opened. */
  readonly head: Head;
  readonly queue: AppendQueue;
  /** Notes how far the chain has come, in the second place. */
  readonly note: (head: Head) => void;
}

/** Appends between two notes in the second place. */
const NOTE_EVERY = 1_000;

/** Ties records to the chain in the order of the calls, and hands them on to be made durable. */
export class ChainWriter {
  readonly #options: ChainWriterOptions;
  readonly #appender: Appender;
  /** The end of what was tied; records up to `#durable` are also written. */
  #tied: Head;
  #durable: Head;
  #noted: number | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(options: ChainWriterOptions) {
    this.#options = options;
    this.#tied = options.head;
    this.#durable = options.head;
    this.#appender = appender(options.shown, (bodies, at) => {
      const tied = tie(this.#tied, bodies, at);
      this.#tied = tied.at(-1)?.line ?? this.#tied;
      this.#written = options.queue.append(tied.map(({ line }) => line));
      return tied;
    });
  }

  /** The newest durable record. */
  get durable(): Head {
    return this.#durable;
  }

  /** Begins at once; emits the records when they are durable. @throws as a journal that failed before does */
  append(bodies: readonly RecordBody[], at: Instant): Observable<readonly StoredRecord[]> {
    const records = this.#appender.run(bodies, at);
    return from(this.#whenWritten(this.#written, records));
  }

  close(): void {
    if (!this.#appender.isPoisoned() && this.#durable.seq > 0) this.#note();
    this.#appender.close();
  }

  async #whenWritten(
    written: Promise<void>,
    records: readonly StoredRecord[],
  ): Promise<readonly StoredRecord[]> {
    try {
      await written;
    } catch (error) {
      const fault = storageFault(this.#options.shown, error);
      this.#appender.poison(fault);
      throw fault;
    }
    const last = records.at(-1);
    if (last !== undefined) this.#durable = { seq: last.seq, hash: last.hash };
    if (this.#durable.seq - (this.#noted ?? -NOTE_EVERY) >= NOTE_EVERY) this.#note();
    return records;
  }

  #note(): void {
    this.#noted = this.#durable.seq;
    this.#options.note(this.#durable);
  }
}
