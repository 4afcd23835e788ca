import { OperatorError } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Columns } from '../tape/tape.ts';
import { isExact, parseNumber, parseUnixTime } from './numbers.ts';
import { plainSymbol, shown } from './plan.ts';
import type { ReadPlan } from './plan.ts';

/** The rows of one file, unsorted and not yet compared with one another. */
export interface Rows {
  /** Name for messages. */
  readonly name: string;
  readonly columns: Columns;
  /** Line (of JSON and tables: the element or row), counted from 1, of each row. */
  readonly lines: Uint32Array;
  readonly counts: RowCounts;
}

export interface RowCounts {
  /** Dropped rows without prices. */
  empty: number;
  /** Number of prices and volumes with more digits than a double preserves. */
  roundedPrices: number;
  roundedVolumes: number;
  /** Line of the first price that lost digits. */
  roundedAt: number | undefined;
  /** Number of times that were finer than a millisecond. */
  cutTimes: number;
}

export const noCounts = (): RowCounts => ({
  empty: 0,
  roundedPrices: 0,
  roundedVolumes: 0,
  roundedAt: undefined,
  cutTimes: 0,
});

interface Bar {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

const EMPTY = /^(?:nan|null|none|)$/iu;

/**
 * Reads rows of cells by a plan, one after another. Every error is an OperatorError (`data`) that names the file and the
 * line.
 *
 * `isTable`: the rows come from a table with typed columns, in which an unknown volume or symbol is empty.
 */
export class RowReader {
  readonly #name: string;
  readonly #plan: ReadPlan;
  readonly #isTable: boolean;
  /** Trades and closes have one price per row. */
  readonly #hasBars: boolean;
  readonly #counts = noCounts();
  readonly #times = new Column();
  readonly #open = new Column();
  readonly #high = new Column();
  readonly #low = new Column();
  readonly #close = new Column();
  readonly #volume = new Column();
  readonly #lines = new Column();
  #line = 0;
  #symbolCell: string | undefined;
  #symbol = '';

  constructor(name: string, plan: ReadPlan, { isTable = false } = {}) {
    this.#name = name;
    this.#plan = plan;
    this.#isTable = isTable;
    this.#hasBars = plan.roles.open !== undefined;
  }

  /** Reads one row. The number of `cells` must be the width of the plan. */
  read(cells: readonly string[], line: number): void {
    this.#line = line;
    const { roles, ask: askPlaces, priceScale } = this.#plan;
    const at = this.#time(cells);
    const bid = this.#bar(cells, roles);
    const ask = askPlaces === undefined ? bid : this.#bar(cells, askPlaces);
    const volume = roles.volume === undefined ? Number.NaN : this.#volumeOf(cells[roles.volume] ?? '');
    if (roles.symbol !== undefined) this.#refuseOtherSymbol(cells[roles.symbol] ?? '');
    if (bid === undefined || ask === undefined) {
      this.#counts.empty += 1;
      return;
    }
    const { open, high, low, close } = askPlaces === undefined ? bid : this.#middle(bid, ask);
    this.#times.push(at);
    this.#close.push(close / priceScale);
    this.#volume.push(volume);
    this.#lines.push(line);
    if (!this.#hasBars) return;
    this.#open.push(open / priceScale);
    this.#high.push(high / priceScale);
    this.#low.push(low / priceScale);
  }

  done(): Rows {
    const close = this.#close.values();
    const bars = this.#hasBars
      ? { open: this.#open.values(), high: this.#high.values(), low: this.#low.values() }
      : { open: close, high: close, low: close };
    const columns = { times: this.#times.values(), ...bars, close, volume: this.#volume.values() };
    return {
      name: this.#name,
      columns,
      lines: Uint32Array.from(this.#lines.values()),
      counts: this.#counts,
    };
  }

  #fail(why: string): never {
    throw new OperatorError('data', `${this.#name}:${this.#line}: ${why}`);
  }

  #time(cells: readonly string[]): number {
    const { time, roles, of, timeMin = 0 } = this.#plan;
    const cell = cells[roles.time ?? -1] ?? '';
    if (time.as === 'text') {
      const more = cells[roles.moreTime ?? -1]?.trim() ?? '';
      const at = time.read(cell.trim(), more);
      return at ?? this.#fail(`expected a time, got "${shown(`${cell.trim()} ${more}`.trim())}"`);
    }
    const parsed = parseUnixTime(cell, time.as === 'unix' ? time.unit : 'ms');
    if (parsed === undefined) return this.#fail(`expected a time, got "${shown(cell)}"`);
    const { ms, wasCut } = parsed;
    if (wasCut && of === 'bars') this.#fail(`a bar must start at a whole millisecond, not at ${shown(cell)}`);
    if (wasCut) this.#counts.cutTimes += 1;
    if (ms < timeMin)
      this.#fail(
        `its time ${shown(cell)} is in a different unit from the first: correct the file, or add --unit`,
      );
    if (time.as === 'unix') return ms;
    if (ms >= DAY_MS) this.#fail(`expected milliseconds since midnight, got ${shown(cell)}`);
    return time.dayMs + ms;
  }

  /** Returns the prices of a row; `undefined` if none is present. A single missing price is damage. */
  #bar(cells: readonly string[], places: ReadPlan['roles']): Bar | undefined {
    const close = this.#price(cells[places.close ?? -1] ?? '');
    if (!this.#hasBars)
      return Number.isNaN(close) ? undefined : { open: close, high: close, low: close, close };
    const open = this.#price(cells[places.open ?? -1] ?? '');
    const high = this.#price(cells[places.high ?? -1] ?? '');
    const low = this.#price(cells[places.low ?? -1] ?? '');
    if (!Number.isNaN(open + high + low + close)) return { open, high, low, close };
    const empty = [open, high, low, close].filter((price) => Number.isNaN(price)).length;
    return empty === 4 ? undefined : this.#fail(`${empty} of its four prices are empty`);
  }

  /** Returns a price; NaN when the cell is empty and may be empty. */
  #price(cell: string): number {
    if (isExact(cell)) return Number(cell);
    const text = cell.trim();
    if (this.#plan.mayBeEmpty && EMPTY.test(text)) return Number.NaN;
    const parsed = parseNumber(text) ?? this.#failNumber('price', cell);
    if (parsed.loss === 'cut short') this.#fail(`the price ${text} has lost digits, as in a spreadsheet`);
    if (parsed.loss === 'rounded') {
      this.#counts.roundedPrices += 1;
      this.#counts.roundedAt ??= this.#line;
    }
    return parsed.value;
  }

  #volumeOf(cell: string): number {
    if (isExact(cell)) return Number(cell);
    const text = cell.trim();
    if ((this.#plan.mayBeEmpty || this.#isTable) && EMPTY.test(text)) return Number.NaN;
    const parsed = parseNumber(text) ?? this.#failNumber('volume', cell);
    if (parsed.loss !== 'none') this.#counts.roundedVolumes += 1;
    return parsed.value;
  }

  #failNumber(what: 'price' | 'volume', cell: string): never {
    const hint = /^\d+,\d+$/u.test(cell) ? ': write decimals with a point' : '';
    return this.#fail(`expected a ${what}, got "${shown(cell)}"${hint}`);
  }

  /** Rejects a row of another market, because a tape must not mix prices. */
  #refuseOtherSymbol(cell: string): void {
    if (cell === this.#symbolCell) return;
    const symbol = plainSymbol(cell);
    if (symbol === '' && this.#isTable) return;
    if (this.#symbol === '') this.#symbol = symbol;
    if (symbol !== this.#symbol)
      this.#fail(
        `its symbol is ${symbol}, but the symbol of earlier rows is ${this.#symbol}: a tape holds one pair, so remove the rows of the other pair`,
      );
    this.#symbolCell = cell;
  }

  #middle(bid: Bar, ask: Bar): Bar {
    const middle = (low: number, high: number): number => {
      if (high < low) this.#fail(`its ask ${high} is below its bid ${low}`);
      // The middle of two decimals has one more digit than the decimals. Fifteen digits preserve it and drop the error
      // of the doubles.
      return Number(((low + high) / 2).toPrecision(15));
    };
    return {
      open: middle(bid.open, ask.open),
      high: middle(bid.high, ask.high),
      low: middle(bid.low, ask.low),
      close: middle(bid.close, ask.close),
    };
  }
}

/** A growing list of doubles that takes eight bytes for each, less than an array of numbers. */
class Column {
  #room = new Float64Array(1_024);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#room.length) {
      const wider = new Float64Array(this.#room.length * 2);
      wider.set(this.#room);
      this.#room = wider;
    }
    this.#room[this.#length++] = value;
  }

  values(): Float64Array {
    return this.#room.slice(0, this.#length);
  }
}
