import { instant } from '../../../src/core/time.ts';
import type { Instant, Monotonic } from '../../../src/core/time.ts';
import type { Transaction } from '../../../src/core/venue.ts';
import type { EngineState } from '../../../src/engine/state/engine-state.ts';
import type { Life } from './life.ts';
import { READ_GAP_MS } from './plan.ts';

const IDLE_POLL_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far a clock may be off when only stamps bound a read: a date that is wrong, and some minutes. */
const SKEW_MAX_MS = 2 * DAY_MS;

/** One whole read: every page came. */
export interface Read {
  readonly startedAt: Monotonic;
  readonly wall: number;
  /** On the venue's clock. */
  readonly from: Instant;
  readonly rows: readonly Transaction[];
}

/** Reads the account again and again, page by page, within its limit: never twice in ten seconds. */
export class AccountReader {
  readonly #life: Life;
  readonly #state: EngineState;
  readonly #isUrgent: () => boolean;
  readonly #told: (read: Read) => void;
  #turn = 0;
  #isReading = false;
  #notBefore: number;
  /** Stamp of the newest row that this process has seen. */
  #newestAt: number | undefined;
  #startedAt: Monotonic | undefined;
  /** The next read goes back to this time, because rows of an old fill may have come under new ids. */
  rereadFrom: number | undefined;
  /** True time at which the last whole read began: for the judge, the desk cannot know it. */
  begunAt = Number.NEGATIVE_INFINITY;

  constructor(life: Life, state: EngineState, isUrgent: () => boolean, told: (read: Read) => void) {
    this.#life = life;
    this.#state = state;
    this.#isUrgent = isUrgent;
    this.#told = told;
    // Another process may have read a moment ago, and what it sent may still be on its way.
    this.#notBefore = life.clock.monotonic() + READ_GAP_MS + 1_000;
  }

  /** Something has changed that may want a read sooner. */
  schedule(): void {
    if (this.#isReading) return;
    const now = this.#life.clock.monotonic();
    const started = this.#startedAt ?? now - IDLE_POLL_MS;
    const due = Math.max(this.#notBefore, started + (this.#isUrgent() ? READ_GAP_MS : IDLE_POLL_MS));
    const turn = ++this.#turn;
    this.#life.later(due - now, () => {
      if (turn === this.#turn && !this.#isReading) this.#read();
    });
  }

  #read(): void {
    const { clock } = this.#life;
    this.#isReading = true;
    const wall = clock.wall();
    const startedAt = clock.monotonic();
    const begunAt = this.#life.world.now;
    const from = Math.min(this.#from(wall), this.rereadFrom ?? wall);
    this.rereadFrom = undefined;
    const rows: Transaction[] = [];
    const page = (offset: number): void => {
      this.#page(from, offset, (told) => {
        // A page begins with the last row of the one before: where it does not, rows have moved meanwhile.
        if (offset > 0 && told[0]?.id !== rows.at(-1)?.id) {
          this.#life.world.probe('rows moved between two pages');
          this.readOn();
          return;
        }
        rows.push(...told);
        if (told.length >= this.#life.work.pageRows) {
          this.#life.world.probe('second page');
          this.#life.later(READ_GAP_MS + 5, () => {
            page(offset + told.length - 1);
          });
          return;
        }
        this.#startedAt = startedAt;
        this.begunAt = begunAt;
        for (const row of rows) this.#newestAt = Math.max(this.#newestAt ?? 0, row.at);
        this.#told({ startedAt, wall, from: instant(from), rows });
      });
    };
    page(0);
  }

  #page(from: number, offset: number, told: (rows: readonly Transaction[]) => void): void {
    const { oracle, network, work, clock, world } = this.#life;
    oracle.reading();
    const answered = (rows: readonly Transaction[] | undefined): void => {
      this.#notBefore = clock.monotonic() + READ_GAP_MS + 5;
      if (rows !== undefined) {
        told(rows);
        return;
      }
      // A failed read says nothing: neither that there is something nor that there is not.
      world.probe('read failed');
      this.readOn();
    };
    network.page(from, { offset, limit: work.pageRows }, this.#life.arriving(answered));
  }

  /** What the last read showed is taken in, or it failed: the next may begin. */
  readOn(): void {
    this.#isReading = false;
    this.schedule();
  }

  /** Rows carry the venue's time, which may be a day from ours; only a row that was seen tells what it is. */
  #from(wall: number): number {
    const { balancesReadAt, attempts } = this.#state;
    let from = Math.min(this.#newestAt ?? wall, balancesReadAt ?? wall - 30 * DAY_MS, wall) - SKEW_MAX_MS;
    for (const { since, quote } of attempts.values()) {
      const earliest = quote?.quoted_at === undefined ? since - DAY_MS : Math.min(since, quote.quoted_at);
      from = Math.min(from, earliest - HOUR_MS);
    }
    return from;
  }
}
