import { OperatorError } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Columns } from '../tape/tape.ts';
import { isExact, parseNumber, parseUnixTime } from './numbers.ts';
import { plainSymbol, PRICES, shown } from './plan.ts';
import type { ReadPlan } from './plan.ts';
import { textTime } from './times.ts';

/** The rows of one file, unsorted and not yet compared with one another. */
export interface Rows {
  /** Name for messages. */
  readonly name: string;
  readonly columns: Columns;
  /** Line (of JSON and tables: the element or row), counted from 1, of each row. */
  readonly lines: Float64Array;
  readonly counts: RowCounts;
}

/** What the reader dropped or rounded. */
export interface RowCounts {
  /** Rows without prices. */
  empty: number;
  /** Prices and volumes with more digits than a double preserves. */
  roundedPrices: number;
  roundedVolumes: number;
  /** Line of the first price that lost digits; 0 if none did. */
  roundedAt: number;
  /** Times that were finer than a millisecond. */
  cutTimes: number;
}

export const noCounts = (): RowCounts => ({ empty: 0, roundedPrices: 0, roundedVolumes: 0, roundedAt: 0, cutTimes: 0 }); // prettier-ignore

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
  /** Positions of open, high, low and close; of the close alone for trades and closes. */
  readonly #bidAt: readonly number[];
  readonly #askAt: readonly number[];
  readonly #counts = noCounts();
  readonly #times = new Column();
  readonly #prices: readonly Column[];
  readonly #volume = new Column();
  readonly #lines = new Column();
  readonly #bid: Float64Array;
  readonly #ask: Float64Array;
  #line = 0;
  #symbolCell: string | undefined;
  #symbol = '';

  constructor(name: string, plan: ReadPlan, { isTable = false } = {}) {
    this.#name = name;
    this.#plan = plan;
    this.#isTable = isTable;
    const places = (names: readonly (keyof ReadPlan['roles'])[]): readonly number[] =>
      names.map((role) => plan.roles[role]).filter((place) => place !== undefined);
    this.#bidAt = places(plan.roles.open === undefined ? ['close'] : PRICES);
    this.#askAt = places(PRICES.map((price) => `ask ${price}` as const));
    this.#prices = this.#bidAt.map(() => new Column());
    this.#bid = new Float64Array(this.#bidAt.length);
    this.#ask = new Float64Array(this.#askAt.length);
  }

  /** Reads one row. The number of `cells` must be the width of the plan. */
  read(cells: readonly string[], line: number): void {
    this.#line = line;
    const { roles, priceScale } = this.#plan;
    const at = this.#time(cells[roles.time ?? -1] ?? '');
    const hasBid = this.#fill(this.#bid, cells, this.#bidAt);
    const hasPrices = (this.#askAt.length === 0 || this.#fill(this.#ask, cells, this.#askAt)) && hasBid;
    const volume =
      roles.volume === undefined ? Number.NaN : this.#number('volume', cells[roles.volume] ?? '');
    if (roles.symbol !== undefined) this.#refuseOtherSymbol(cells[roles.symbol] ?? '');
    if (!hasPrices) {
      this.#counts.empty += 1;
      return;
    }
    if (this.#askAt.length > 0) this.#takeMiddle();
    for (let n = 0; n < this.#prices.length; n++) this.#prices[n]?.push((this.#bid[n] ?? 0) / priceScale);
    this.#times.push(at);
    this.#volume.push(volume);
    this.#lines.push(line);
  }

  done(): Rows {
    const [open = new Float64Array(), high = open, low = open, close = open] = this.#prices.map((column) => column.values()); // prettier-ignore
    const [times, volume, lines] = [this.#times.values(), this.#volume.values(), this.#lines.values()];
    return {
      name: this.#name,
      columns: { times, open, high, low, close, volume },
      lines,
      counts: this.#counts,
    };
  }

  #fail(why: string): never {
    throw new OperatorError('data', `${this.#name}:${this.#line}: ${why}`);
  }

  #time(cell: string): number {
    const { time, of, timeMin } = this.#plan;
    if (time.as === 'text')
      return textTime(cell.trim()) ?? this.#fail(`expected a time, got "${shown(cell.trim())}"`);
    const parsed = parseUnixTime(cell, time.as === 'unix' ? time.unit : 'ms');
    if (parsed === undefined) return this.#fail(`expected a time, got "${shown(cell)}"`);
    const { ms, wasCut } = parsed;
    if (wasCut && of === 'bars') this.#fail(`a bar must start at a whole millisecond, not at ${shown(cell)}`);
    if (wasCut) this.#counts.cutTimes += 1;
    if (ms < timeMin)
      this.#fail(`its time ${shown(cell)} is in a different unit from the first: correct the file, or add --unit`); // prettier-ignore
    if (time.as === 'unix') return ms;
    if (ms >= DAY_MS) this.#fail(`expected milliseconds since midnight, got ${shown(cell)}`);
    return time.dayMs + ms;
  }

  /** Reads the prices of a row; `false` if none is present. A single missing price is damage. */
  #fill(prices: Float64Array, cells: readonly string[], places: readonly number[]): boolean {
    let empty = 0;
    for (let n = 0; n < places.length; n++) {
      const value = this.#number('price', cells[places[n] ?? -1] ?? '');
      if (Number.isNaN(value)) empty += 1;
      prices[n] = value;
    }
    if (empty > 0 && empty < places.length) this.#fail(`${empty} of its four prices are empty`);
    return empty === 0;
  }

  /** Returns a price or a volume; NaN when the cell is empty and may be empty. */
  #number(what: 'price' | 'volume', cell: string): number {
    if (isExact(cell)) return Number(cell);
    const text = cell.trim();
    if ((this.#plan.mayBeEmpty || (this.#isTable && what === 'volume')) && EMPTY.test(text))
      return Number.NaN;
    const parsed = parseNumber(text);
    if (parsed === undefined) {
      const hint = /^\d+,\d+$/u.test(cell) ? ': write decimals with a point' : '';
      return this.#fail(`expected a ${what}, got "${shown(cell)}"${hint}`);
    }
    const { value, loss } = parsed;
    if (what === 'volume') this.#counts.roundedVolumes += loss === 'none' ? 0 : 1;
    else if (loss === 'cut short') this.#fail(`the price ${text} has lost digits, as in a spreadsheet`);
    else if (loss === 'rounded') {
      this.#counts.roundedPrices += 1;
      this.#counts.roundedAt ||= this.#line;
    }
    return value;
  }

  /** Rejects a row of another market, because a tape must not mix prices. */
  #refuseOtherSymbol(cell: string): void {
    if (cell === this.#symbolCell) return;
    const symbol = plainSymbol(cell);
    if (symbol === '' && this.#isTable) return;
    if (this.#symbol === '') this.#symbol = symbol;
    if (symbol !== this.#symbol)
      this.#fail(`its symbol is ${symbol}, but the symbol of earlier rows is ${this.#symbol}: a tape holds one pair, so remove the rows of the other pair`); // prettier-ignore
    this.#symbolCell = cell;
  }

  /** Replaces the bid with the mid. */
  #takeMiddle(): void {
    for (let n = 0; n < this.#bid.length; n++) {
      const [bid = 0, ask = 0] = [this.#bid[n], this.#ask[n]];
      if (ask < bid) this.#fail(`its ask ${ask} is below its bid ${bid}`);
      // The middle of two decimals has one more digit than the decimals. Fifteen digits preserve it and drop the error
      // of the doubles.
      this.#bid[n] = Number(((bid + ask) / 2).toPrecision(15));
    }
  }
}

/** A growing list of doubles, outside of the memory that is searched for garbage. */
class Column {
  #room = new Float64Array(1_024);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#room.length) {
      const full = this.#room;
      this.#room = new Float64Array(full.length * 2);
      this.#room.set(full);
    }
    this.#room[this.#length++] = value;
  }

  values = (): Float64Array => this.#room.slice(0, this.#length);
}
