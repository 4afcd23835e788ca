import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import { PriceBook } from '../../src/report/figures/prices.ts';
import type { PriceColumns } from '../../src/report/figures/prices.ts';
import { hash32 } from '../../src/simulator/market/random.ts';

const uniform = (seed: string): number => hash32(seed) / 2 ** 32;

function columnsOf(closes: readonly number[], times: readonly number[]): PriceColumns {
  const close = Float64Array.from(closes);
  return { pair: 'btcusd', barMs: MINUTE_MS, rows: closes.length, times: Float64Array.from(times), high: close, low: close, close, volume: close, hash: '' }; // prettier-ignore
}

describe('prices of a tape', () => {
  it('are the decimals in which the numbers are written, whatever their size', () => {
    const odd = [0.1 + 0.2, 1 / 3, 1e-9, 1.5e-7, 123456789.12345678, 9007199254740991, 4.35, 1.005, 0.000012345678, 2 ** 40 + 0.5]; // prettier-ignore
    const random = Array.from({ length: 20_000 }, (_, i) => {
      const size = 10 ** (uniform(`size ${i}`) * 14 - 6);
      return Number((size * (1 + uniform(`price ${i}`))).toPrecision(1 + (i % 17)));
    });
    const closes = [...odd, ...random];
    const book = new PriceBook([columnsOf(closes, closes.map((_, i) => i * MINUTE_MS))]); // prettier-ignore
    const plain = (close: number): string => {
      const [digits = '', exponent = '0'] = close.toExponential().split('e');
      const [whole = '', part = ''] = digits.split('.');
      const point = Number(exponent) + whole.length;
      const all = whole + part;
      const shown = point <= 0 ? `0.${'0'.repeat(-point)}${all}` : point >= all.length ? all.padEnd(point, '0') : `${all.slice(0, point)}.${all.slice(point)}`; // prettier-ignore
      return shown.includes('.') ? shown.replace(/\.?0+$/u, '') : shown;
    };
    for (const [i, close] of closes.entries()) {
      const seen = book.tapeAt('btcusd', instant((i + 1) * MINUTE_MS));
      expect(seen === undefined ? '' : text(seen.price)).toBe(plain(close));
    }
  });

  it('are those of the last completed bar, whatever the order of the requests', () => {
    const times = Array.from({ length: 500 }, (_, i) => i).filter((i) => uniform(`kept ${i}`) > 0.1).map((i) => i * MINUTE_MS); // prettier-ignore
    const tape = columnsOf(times.map((_, i) => 100 + i), times); // prettier-ignore
    const book = new PriceBook([tape]);
    let none = 0;
    for (let ask = 0; ask < 5_000; ask++) {
      const near = ask % 3 === 0;
      const at = Math.floor((near ? ask / 5_000 : uniform(`ask ${ask}`)) * 540 * MINUTE_MS) - 10 * MINUTE_MS;
      const row = times.findLastIndex((time) => time + MINUTE_MS <= at);
      const isFresh = row >= 0 && at - (times[row] ?? 0) - MINUTE_MS <= 15 * MINUTE_MS;
      if (!isFresh) none++;
      expect(book.tapeAt('btcusd', instant(at))?.price.toFixed()).toBe(isFresh ? String(100 + row) : undefined); // prettier-ignore
    }
    expect(none).toBeGreaterThan(100);
  });
});
