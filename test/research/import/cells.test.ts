import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExact, parseNumber, parseUnixTime } from '../../../src/research/import/numbers.ts';
import { textTime } from '../../../src/research/import/times.ts';

describe('the parser of cells', () => {
  const number = (text: string): number | undefined => parseNumber(text)?.value;

  it('parses every decimal as Number does', () => {
    const digits = fc.stringMatching(/^\d{1,25}$/u);
    const decimal = fc.tuple(digits, fc.option(digits), fc.option(fc.integer({ min: -20, max: 20 })));
    fc.assert(
      fc.property(decimal, ([whole, part, exponent]) => {
        const text = `${whole}${part === null ? '' : `.${part}`}${exponent === null ? '' : `e${exponent}`}`;
        expect(number(text)).toBe(Number(text));
        expect(!isExact(text) || parseNumber(text)?.loss === 'none').toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses every other notation', () => {
    for (const text of [
      '',
      '-1',
      '+1',
      '1.2.3',
      'x',
      '1x',
      '0x10',
      '1e',
      'Infinity',
      '1 2',
      '.5',
      '1e999',
      '1_0',
      '１',
    ])
      expect([text, number(text), isExact(text)]).toEqual([text, undefined, false]);
  });

  it('reports lost digits if and only if digits were lost', () => {
    const rounded = (text: string): boolean => parseNumber(text)?.loss !== 'none';
    expect(
      [
        '0.1',
        '123456789.123456',
        '5.800000000000000000',
        '0.000000000000000000000001234',
        '1e21',
        '33.35399601000002',
      ].map(rounded),
    ).toEqual([false, false, false, false, false, false]);
    expect(['0.12345678901234567', '9007199254740993', '33.353996010000021'].map(rounded)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('parses Unix times of every unit to whole milliseconds', () => {
    const unix = (text: string, unit: 's' | 'ms' | 'us' | 'ns' | 'mixed') => {
      const time = parseUnixTime(text, unit);
      return [time?.ms, time?.wasCut];
    };
    expect(unix('1700000000', 's')).toEqual([1_700_000_000_000, false]);
    expect(unix('1700000000.5', 's')).toEqual([1_700_000_000_500, false]);
    expect(unix('1700000000.0004', 's')).toEqual([1_700_000_000_000, true]);
    expect(unix('1700000000000.0', 'ms')).toEqual([1_700_000_000_000, false]);
    expect(unix('1700000000000.5', 'ms')).toEqual([1_700_000_000_000, true]);
    expect(unix('1700000000000123', 'us')).toEqual([1_700_000_000_000, true]);
    expect(unix('1723161253937085768', 'ns')).toEqual([1_723_161_253_937, true]);
    expect(unix('1700000000', 'mixed')).toEqual(unix('1700000000000', 'mixed'));
    expect(unix('17x', 's')[0]).toBeUndefined();
  });
});

describe('times as text', () => {
  it('are parsed in every notation of the supported files', () => {
    const at = Date.UTC(2018, 11, 31, 23);
    for (const text of [
      '2018-12-31 11-PM',
      '2018-12-31 23:00:00',
      '20181231 23:00',
      '2018-12-31T23:00:00.0000000Z',
      '2018-12-31 23:00:00+00:00',
      '2019-01-01T00:00:00+01:00',
      '2018-12-31 23:00:00 UTC',
      '2018-12-31D23:00:00.000000000',
    ])
      expect([text, textTime(text)]).toEqual([text, at]);
    expect(textTime('2018-12-31 12-AM')).toBe(Date.UTC(2018, 11, 31));
    expect(textTime('2018-12-31 12-PM')).toBe(Date.UTC(2018, 11, 31, 12));
  });

  it('are refused if they are invalid', () => {
    for (const text of [
      '2018-02-30',
      '2018-13-01',
      '2018-12-31 24:00',
      '2018-12-31 13-PM',
      '31.12.2018',
      '2018-12-31T23:00:00.0000001Z',
      'soon',
      '',
    ])
      expect([text, textTime(text)]).toEqual([text, undefined]);
  });
});
