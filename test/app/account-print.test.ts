import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  column,
  figure,
  hidden,
  printOne,
  printRows,
  sparkline,
} from '../../src/app/commands/account/account-print.ts';
import { amountInWords, inWords } from '../../src/app/commands/account/account-text.ts';
import { quantity } from '../../src/core/money.ts';

interface Row {
  readonly name: string;
  readonly size: string;
}
const columns = [
  column<Row>('the_name', ({ name }) => name),
  figure<Row>('size', ({ size }) => size),
  hidden<Row>('code', ({ name }) => name.length),
];

function printed(rows: readonly Row[], options: { json?: boolean; csv?: boolean } = {}): string {
  let text = '';
  printRows(rows, columns, { ...options, none: 'Nothing.', out: { write: (part) => (text += part) } });
  return text;
}

describe('a printed list', () => {
  const rows = [
    { name: 'a', size: '10' },
    { name: 'longer', size: '2.5' },
  ];

  it('is a table for people: right-aligned figures, no trailing spaces, no hidden columns', () => {
    expect(printed(rows)).toBe('the name  size\na           10\nlonger     2.5\n');
    expect(printed([])).toBe('Nothing.\n');
  });

  it('is one JSON object per line, or CSV, for programs', () => {
    expect(printed(rows, { json: true })).toBe('{"the_name":"a","size":"10","code":1}\n{"the_name":"longer","size":"2.5","code":6}\n'); // prettier-ignore
    expect(printed(rows, { csv: true })).toBe('the_name,size,code\r\na,10,1\r\nlonger,2.5,6\r\n');
    expect(printed([], { csv: true })).toBe('the_name,size,code\r\n');
    expect(printed([], { json: true })).toBe('');
  });

  it('has one line per row whatever text the venue sends', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const text = printed([{ name, size: '1' }]);
        expect(text.split('\n')).toHaveLength(3);
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_C}]/u);
        expect(JSON.parse(printed([{ name, size: '1' }], { json: true }))).toMatchObject({ the_name: name });
      }),
    );
  });

  it('contains no CSV cell that a spreadsheet interprets as a formula', () => {
    for (const name of ['=1+1', '+1+cmd', '-cmd', '@sum', '\tx'])
      expect(printed([{ name, size: '-1.5' }], { csv: true }).split('\r\n')[1]).toMatch(/^"?'/u);
    expect(printed([{ name: '-1.5', size: '1' }], { csv: true })).toContain('\r\n-1.5,1,4\r\n');
  });

  it('shows a single item with one line per field', () => {
    let text = '';
    printOne({ name: 'x', size: '' }, columns, { out: { write: (part) => (text += part) } });
    expect(text).toBe('the name  x\ncode      1\n');
  });
});

describe('a sparkline', () => {
  it('scales its bars from the lowest to the highest value', () => {
    expect(sparkline([1, 2, 3, 4, 5, 6, 7, 8])).toBe('▁▂▃▄▅▆▇█');
    expect(sparkline([5, 5, 5])).toBe('▄▄▄');
    expect(sparkline([3])).toBe('▄');
    expect(sparkline([])).toBe('');
  });

  it('has at most 80 characters and keeps both ends', () => {
    const line = sparkline(Array.from({ length: 1_000 }, (_, at) => at));
    expect(line).toHaveLength(80);
    expect(line.startsWith('▁')).toBe(true);
    expect(line.endsWith('█')).toBe(true);
  });
});

describe('an amount in words', () => {
  it.each([
    ['0', 'zero'],
    ['0.05', 'zero point zero five'],
    ['13', 'thirteen'],
    ['40', 'forty'],
    ['99', 'ninety-nine'],
    ['100', 'one hundred'],
    ['1001', 'one thousand one'],
    ['1250.05', 'one thousand two hundred fifty point zero five'],
    ['1000000', 'one million'],
    ['12345678', 'twelve million three hundred forty-five thousand six hundred seventy-eight'],
    ['-2.5', 'minus two point five'],
    ['1000000000000000', '1000000000000000'],
  ])('spells %s as %s', (digits, words) => {
    expect(inWords(quantity(digits))).toBe(words);
  });

  it('differs for different amounts', () => {
    const amount = fc.tuple(fc.bigInt(0n, 10n ** 15n - 1n), fc.nat(9_999)).map(([whole, part]) => quantity(`${whole}.${String(part).padStart(4, '0')}`)); // prettier-ignore
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(inWords(a) === inWords(b)).toBe(a.eq(b));
      }),
    );
  });

  it('follows the digits in parentheses', () => {
    expect(amountInWords(quantity('1.50'), 'btc')).toBe('1.5 btc (one point five btc)');
  });
});
