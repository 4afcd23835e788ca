import { readFileSync } from 'node:fs';
import { OperatorError } from '../../core/errors.ts';
import { isAmountText, isAboveZero, price } from '../../core/money.ts';
import { DAY_MS, parseIso } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Valuation } from '../../accounting/roll-forward.ts';

const COLUMNS = ['at', 'currency', 'price', 'source'];
/** How long a price is valid. */
const VALID_MS = DAY_MS;

/** Prices of currencies in the currency of the books, from a CSV file with the columns at, currency, price, source. */
export class PriceList {
  /** By currency, oldest first. */
  readonly #prices = new Map<string, Valuation[]>();

  /** Reads the file. @throws OperatorError `storage`, or `data` with the line at fault. */
  static read(file: string): PriceList {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (cause) {
      throw new OperatorError('storage', `the prices ${file} cannot be read`, cause);
    }
    return new PriceList(file, text);
  }

  constructor(file: string, text: string) {
    const [header = '', ...lines] = text.trimEnd().split(/\r?\n/u);
    if (header !== COLUMNS.join(','))
      throw new OperatorError(
        'data',
        `${file}:1: expected the columns ${COLUMNS.join(',')}, got "${header.slice(0, 80)}"`,
      );
    for (const [n, line] of lines.entries()) this.#add(line, `${file}:${n + 2}`);
    for (const list of this.#prices.values()) list.sort((a, b) => a.at - b.at);
  }

  #add(line: string, place: string): void {
    const fail = (why: string): never => {
      throw new OperatorError('data', `${place}: ${why}`);
    };
    const cells = line.split(',');
    const [when = '', currency = '', amount = '', source = ''] = cells;
    if (cells.length !== COLUMNS.length || line.includes('"'))
      return fail(`expected ${COLUMNS.length} cells without quotation marks`);
    const at = parseIso(when);
    if (at === undefined) return fail(`expected a time such as 2026-01-31T00:00:00Z, got "${when}"`);
    if (!isAmountText(amount) || !isAboveZero(price(amount)))
      return fail(`expected a price above zero, got "${amount}"`);
    if (source === '') return fail('name the source of the price');
    const list = this.#prices.get(currency) ?? [];
    list.push({ at, price: price(amount), source });
    this.#prices.set(currency, list);
  }

  /** Returns the newest price of the 24 hours that end at `at`. */
  at(currency: string, at: Instant): Valuation | undefined {
    const list = this.#prices.get(currency) ?? [];
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((list[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    const found = list[low - 1];
    return found === undefined || at - found.at > VALID_MS ? undefined : found;
  }
}
