import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { entryLine, lotLine, periodLine } from '../../accounting/closing-text.ts';
import type { Entry, Subledger } from '../../accounting/subledger.ts';
import { OperatorError } from '../../core/errors.ts';
import type { ClosingRecord } from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';

/** A closing with the number of its record. */
export interface Closing extends ClosingRecord {
  readonly seq: number;
}

/** A period's result as computed from the books now. */
export interface PeriodResult {
  readonly from: Instant | undefined;
  readonly until: Instant;
  readonly entries: number;
  readonly hash: string;
  /** Transactions of entries without a record in the journal, ascending. */
  readonly transactions: readonly number[];
  /** Absent for a period that is not closed yet. */
  readonly closing: Closing | undefined;
}

export interface PeriodOptions {
  readonly closings: readonly Closing[];
  /** End of an additional period. */
  readonly until?: Instant | undefined;
  /** Settings of the books, for an additional period. */
  readonly currency: string;
  readonly method: string;
  readonly jurisdiction?: string | undefined;
  /** Whether a period whose hash differs is an error. */
  readonly isStrict: boolean;
  /** Called with each line of the text of each period. */
  readonly onLine?: ((line: string, until: Instant) => void) | undefined;
}

/** Hashes closed periods while their entries pass, and compares the hashes with the journal. */
export class ClosedPeriods {
  readonly results: PeriodResult[] = [];
  readonly #options: PeriodOptions;
  readonly #subledger: Pick<Subledger, 'lots'>;
  /** Hash of the current period; `undefined` after the last one. */
  #hash: Hash | undefined;
  #entries = 0;
  #transactions: number[] = [];

  constructor(options: PeriodOptions, subledger: Pick<Subledger, 'lots'>) {
    this.#options = options;
    this.#subledger = subledger;
    this.#begin();
  }

  /** Closing of the current period; `undefined` when the period is open. */
  get current(): Closing | undefined {
    return this.#options.closings[this.results.length];
  }

  get #until(): Instant | undefined {
    const { closings, until } = this.#options;
    return this.current?.until ?? (this.results.length === closings.length ? until : undefined);
  }

  take(entry: Entry): void {
    if (this.#hash === undefined) return;
    this.#entries += 1;
    if (entry.source !== undefined && 'transactions' in entry.source)
      this.#transactions.push(...entry.source.transactions);
    this.#write(entryLine(entry));
  }

  /**
   * Ends the periods that are over at the date of the next entry; without a date, no entry follows.
   *
   * @throws OperatorError `data` for a period that differs from its closing, if `isStrict`.
   */
  reach(date?: Instant): void {
    for (let until = this.#until; until !== undefined; until = this.#until) {
      if (date !== undefined && date < until) return;
      this.#end(until);
      this.#begin();
    }
  }

  #begin(): void {
    const until = this.#until;
    this.#entries = 0;
    this.#transactions = [];
    this.#hash = until === undefined ? undefined : createHash('sha256');
    if (until === undefined) return;
    const { currency, method, jurisdiction } = this.current ?? this.#options;
    const { hash: before, until: from } = this.results.at(-1) ?? {};
    this.#write(periodLine({ before, from, until, currency, method, jurisdiction }), until);
  }

  #end(until: Instant): void {
    const lots = [...this.#subledger.lots()].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    for (const [currency, lot] of lots) this.#write(lotLine(currency, lot));
    const result: PeriodResult = {
      from: this.results.at(-1)?.until,
      until,
      entries: this.#entries,
      hash: this.#hash?.digest('hex') ?? '',
      transactions: this.#transactions.toSorted((a, b) => a - b),
      closing: this.current,
    };
    this.results.push(result);
    const difference = this.#options.isStrict ? differenceOf(result) : undefined;
    if (difference !== undefined)
      throw new OperatorError('data', `${difference}. tranche accounting verify compares every period`);
  }

  #write(line: string, until = this.#until): void {
    this.#hash?.update(line);
    if (until !== undefined) this.#options.onLine?.(line, until);
  }
}

/** Explains how a period differs from its closing; `undefined` if it does not. */
export function differenceOf({ until, entries, hash, closing }: PeriodResult): string | undefined {
  if (closing === undefined || closing.hash === hash) return undefined;
  const count =
    closing.entries === entries
      ? `its ${entries} entries or its lots have changed`
      : `it had ${closing.entries} entries, and has ${entries} now`;
  return `the period until ${isoOf(until)} differs from the books that record ${closing.seq} closed: ${count}. Entries of a closed period must not change: undo the later changes to the settings, prices or history`;
}
