import { OperatorError } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Columns } from '../tape/tape.ts';
import { plainSymbol } from './plan.ts';
import type { Plan, Role } from './plan.ts';
import { Cells, NO_NUMBER } from './scan.ts';
import { shown } from './values.ts';

/** The rows of one file as they stand there: not yet in order, not yet checked against one another. */
export interface Rows {
  /** As messages name it. */
  readonly name: string;
  readonly columns: Columns;
  /** Line (of JSON and tables: the element or row), counted from 1, of each row. */
  readonly lines: Uint32Array;
  readonly counts: RowCounts;
}

export interface RowCounts {
  /** Rows without prices, which were left out. */
  empty: number;
  /** Prices and volumes of more digits than a double holds. */
  roundedPrices: number;
  roundedVolumes: number;
  /** Line of the first price that lost digits. */
  roundedAt: number | undefined;
  /** Times that were finer than a millisecond. */
  cutTimes: number;
}

export const noCounts = (): RowCounts => ({
  empty: 0,
  roundedPrices: 0,
  roundedVolumes: 0,
  roundedAt: undefined,
  cutTimes: 0,
});

const TIME = 1;
const MORE_TIME = 2;
const OPEN = 3;
const CLOSE = 6;
const VOLUME = 7;
const ASK = 8;
const SYMBOL = ASK + 4;
const kindOf: Readonly<Record<Role, number>> = { time: TIME, moreTime: MORE_TIME, open: OPEN, high: 4, low: 5, close: CLOSE, volume: VOLUME, symbol: SYMBOL }; // prettier-ignore
const DELIMITERS = { ',': 44, ';': 59, '\t': 9 } as const;
const LINES_MIN = 1_024;

/**
 * Reads delimited text by its plan.
 *
 * @throws OperatorError (`data`) that names the file and the line that is wrong.
 */
export function readRows(name: string, bytes: Uint8Array, plan: Plan): Rows {
  return new RowReader(name, bytes, plan).read();
}

class RowReader {
  readonly #name: string;
  readonly #plan: Plan;
  readonly #cells: Cells;
  readonly #kinds: Uint8Array;
  readonly #counts = noCounts();
  /** Values of the row at hand by kind. */
  readonly #values = new Float64Array(ASK + 4).fill(Number.NaN);
  #line = 0;
  #hasNoPrice = false;
  #text = '';
  #textFrom = 0;
  #symbol = '';
  /** Another symbol of the row at hand, told when nothing else is wrong with the row. */
  #otherSymbol: string | undefined;
  /** Where the cell stands that named the symbol last. */
  #symbolAt = { from: 0, until: 0 };

  constructor(name: string, bytes: Uint8Array, plan: Plan) {
    this.#name = name;
    this.#plan = plan;
    this.#cells = new Cells(bytes, DELIMITERS[plan.delimiter]);
    this.#kinds = kindsOf(plan);
  }

  read(): Rows {
    const cells = this.#cells;
    for (; this.#line < this.#plan.skip; this.#line++) this.#skipLine();
    // Trades and closes have one price a row.
    const isBars = this.#plan.roles.open !== undefined;
    const values = this.#values;
    let room = LINES_MIN;
    let store = columnsFor(room, isBars);
    let rows = 0;
    const begin = cells.at;
    while (cells.at < cells.bytes.length) {
      this.#line += 1;
      if (cells.isRowEnd() && this.#isBlankToEnd()) break;
      this.#row();
      if (this.#hasNoPrice) this.#counts.empty += 1;
      else {
        if (rows === room) {
          room = Math.ceil((rows * (cells.bytes.length - begin) * 1.02) / (cells.at - begin)) + LINES_MIN;
          store = grown(store, room, rows);
        }
        store.times[rows] = values[TIME] ?? 0;
        store.close[rows] = values[CLOSE] ?? 0;
        store.volume[rows] = values[VOLUME] ?? 0;
        store.lines[rows] = this.#line;
        if (isBars) {
          store.open[rows] = values[OPEN] ?? 0;
          store.high[rows] = values[OPEN + 1] ?? 0;
          store.low[rows] = values[OPEN + 2] ?? 0;
        }
        rows += 1;
      }
      cells.nextRow();
    }
    const { lines, ...columns } = grown(store, rows, rows);
    return { name: this.#name, columns, lines, counts: this.#counts };
  }

  #fail(why: string): never {
    throw new OperatorError('data', `${this.#name}:${this.#line}: ${why}`);
  }

  #skipLine(): void {
    const cells = this.#cells;
    do {
      cells.skip();
      if (cells.isRowEnd()) break;
      cells.at += 1;
    } while (cells.at < cells.bytes.length);
    cells.nextRow();
  }

  #isBlankToEnd(): boolean {
    const { bytes, at } = this.#cells;
    for (let n = at; n < bytes.length; n++)
      if (bytes[n] !== 10 && bytes[n] !== 13) this.#fail('an empty line amid the rows');
    return true;
  }

  #row(): void {
    const cells = this.#cells;
    const kinds = this.#kinds;
    const last = kinds.length - 1;
    this.#hasNoPrice = false;
    for (let place = 0; place <= last; place++) {
      const kind = kinds[place];
      if (kind === 0) cells.skip();
      else if (kind === TIME || kind === MORE_TIME) this.#time(kind);
      else if (kind === SYMBOL) this.#sameSymbol();
      else this.#number(kind ?? 0);
      const isEnd = cells.isRowEnd();
      if (isEnd !== (place === last)) this.#ragged(isEnd ? place + 1 : undefined);
      if (!isEnd) cells.at += 1;
    }
    if (this.#otherSymbol !== undefined) this.#fail(otherSymbol(this.#otherSymbol, this.#symbol));
    if (this.#hasNoPrice) this.#refuseHalf();
    else if (this.#plan.ask !== undefined) this.#toMiddle();
    if (this.#plan.priceScale !== 1) this.#toScale();
  }

  /** A row is empty where a side of it has no price at all: one price less than the others is damage. */
  #refuseHalf(): void {
    for (const side of this.#plan.ask === undefined ? [OPEN] : [OPEN, ASK]) {
      const empty = this.#values.subarray(side, side + 4).filter((value) => Number.isNaN(value)).length;
      if (empty % 4 !== 0) this.#fail(`${empty} of its four prices are empty`);
    }
  }

  #ragged(cells: number | undefined): never {
    return this.#fail(
      `${cells ?? `more than ${this.#kinds.length}`} cells, and each row has ${this.#kinds.length}: is the file whole?`,
    );
  }

  #sameSymbol(): void {
    const cells = this.#cells;
    const { bytes, at: from } = cells;
    const { from: before, until } = this.#symbolAt;
    cells.skip();
    let same = 0;
    if (cells.at - from === until - before)
      while (from + same < cells.at && bytes[from + same] === bytes[before + same]) same += 1;
    if (from + same === cells.at && until > before) return;
    const symbol = plainSymbol(this.#cellFrom(from));
    if (this.#symbol === '') this.#symbol = symbol;
    if (symbol === this.#symbol) this.#symbolAt = { from, until: cells.at };
    else this.#otherSymbol = symbol;
  }

  #number(kind: number): void {
    const cells = this.#cells;
    const from = cells.at;
    const value = cells.number();
    if (value === NO_NUMBER) {
      const isVolume = kind === VOLUME;
      if (!this.#plan.mayBeEmpty || !cells.isEmpty) {
        const cell = this.#cellFrom(from);
        const hint = /^\d+,\d+$/u.test(cell) ? ': write decimals with a point' : '';
        this.#fail(`expected a ${isVolume ? 'volume' : 'price'}, got "${cell}"${hint}`);
      }
      this.#values[kind] = Number.NaN;
      if (!isVolume) this.#hasNoPrice = true;
      return;
    }
    this.#values[kind] = value;
    if (!cells.wasRounded) return;
    if (cells.wasCutShort && kind !== VOLUME)
      this.#fail(`the price ${this.#cellFrom(from)} has lost its last digits, as in a spreadsheet`);
    if (kind === VOLUME) this.#counts.roundedVolumes += 1;
    else {
      this.#counts.roundedPrices += 1;
      this.#counts.roundedAt ??= this.#line;
    }
  }

  #time(kind: typeof TIME | typeof MORE_TIME): void {
    const cells = this.#cells;
    const { time, roles, of } = this.#plan;
    const from = cells.at;
    if (time.as !== 'text') {
      const value = cells.unix(time.as === 'unix' ? time.unit : 'ms');
      if (value === NO_NUMBER) this.#fail(`expected a time, got "${this.#cellFrom(from)}"`);
      if (cells.wasRounded) {
        if (of === 'bars') this.#fail(`a bar begins at a whole millisecond, not at ${this.#cellFrom(from)}`);
        this.#counts.cutTimes += 1;
      }
      if (value < (this.#plan.timeMin ?? 0)) this.#fail(otherUnit(this.#cellFrom(from)));
      if (time.as === 'ofDay' && value >= DAY_MS)
        this.#fail(`expected milliseconds since midnight, got ${this.#cellFrom(from)}`);
      this.#values[TIME] = time.as === 'ofDay' ? time.dayMs + value : value;
      return;
    }
    const text = cells.text();
    // The cell of the time and of the rest of it, in either order.
    if (roles.moreTime !== undefined && this.#textFrom !== this.#line) {
      this.#textFrom = this.#line;
      this.#text = text;
      return;
    }
    const [first, more] =
      kind === MORE_TIME ? [this.#text, text] : [text, roles.moreTime === undefined ? '' : this.#text];
    const value = time.read(first, more);
    if (value === undefined)
      this.#fail(`expected a time, got "${shown(more === '' ? first : `${first} ${more}`)}"`);
    this.#values[TIME] = value;
  }

  #cellFrom(from: number): string {
    const { bytes, at } = this.#cells;
    return Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(at - from, 60)).toString('utf8');
  }

  #toMiddle(): void {
    for (let n = 0; n < 4; n++) {
      const bid = this.#values[OPEN + n] ?? Number.NaN;
      const ask = this.#values[ASK + n] ?? Number.NaN;
      if (ask < bid) this.#fail(`its ask ${ask} is below its bid ${bid}`);
      // The middle of two decimals has a digit more than they: 15 digits hold it and shed the error of the doubles.
      this.#values[OPEN + n] = Number(((bid + ask) / 2).toPrecision(15));
    }
  }

  #toScale(): void {
    for (let kind = OPEN; kind <= CLOSE; kind++)
      this.#values[kind] = (this.#values[kind] ?? Number.NaN) / this.#plan.priceScale;
  }
}

/** Rows of several markets would make one of them, at the price of now this one and now that. */
export const otherSymbol = (symbol: string, before: string): string =>
  `its symbol is ${symbol}, and that of the rows before ${before}: a tape is of one pair, so take the rows of one out of the file`;

export const otherUnit = (cell: string): string =>
  `its time ${cell} is in another unit than the first: mend the file, or say --unit`;

function kindsOf({ width, roles, ask }: Plan): Uint8Array {
  const kinds = new Uint8Array(width);
  for (const role of ['time', 'moreTime', 'open', 'high', 'low', 'close', 'volume', 'symbol'] as const) {
    const place = roles[role];
    if (place !== undefined) kinds[place] = kindOf[role];
  }
  if (ask !== undefined)
    for (const [n, side] of (['open', 'high', 'low', 'close'] as const).entries()) kinds[ask[side]] = ASK + n;
  return kinds;
}

type Store = Columns & { readonly lines: Uint32Array };

function columnsFor(rows: number, isBars: boolean): Store {
  const column = (): Float64Array => new Float64Array(rows);
  const close = column();
  const bars = isBars
    ? { open: column(), high: column(), low: column() }
    : { open: close, high: close, low: close };
  return { times: column(), ...bars, close, volume: column(), lines: new Uint32Array(rows) };
}

function grown(store: Store, room: number, rows: number): Store {
  const grow = (from: Float64Array): Float64Array => {
    if (from.length === room) return from;
    const to = new Float64Array(room);
    to.set(from.subarray(0, rows));
    return to;
  };
  const close = grow(store.close);
  const lines = new Uint32Array(room);
  lines.set(store.lines.subarray(0, rows));
  const isTrades = store.open === store.close;
  const bars = isTrades
    ? { open: close, high: close, low: close }
    : { open: grow(store.open), high: grow(store.high), low: grow(store.low) };
  return { times: grow(store.times), ...bars, close, volume: grow(store.volume), lines };
}
