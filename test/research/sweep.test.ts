import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  edgesOf,
  expectedMaximum,
  luckOf,
  normalQuantile,
  paretoFront,
  ranked,
} from '../../src/research/sweep/sweep-figures.ts';
import type { SweepFigures } from '../../src/research/sweep/sweep-figures.ts';
import { heatMapOf, shades } from '../../src/research/sweep/heat-map.ts';
import { readVaries, settingsOf, valueAt, valuesOf, withValue } from '../../src/research/sweep/vary.ts';
import { walkForward, windowsOf } from '../../src/research/sweep/walk-forward.ts';
import { HOUR_MS, MINUTE_MS, instant } from '../../src/core/time.ts';
import { normalAt } from '../../src/simulator/market/random.ts';

const settings = (
  texts: readonly string[],
  sampling: { readonly samples?: number; readonly seed?: string } = {},
): readonly (readonly string[])[] => settingsOf(readVaries(texts), { seed: '1', ...sampling }).settings;

const costs = (...values: readonly (string | undefined)[]): readonly SweepFigures[] =>
  values.map((cost_bps) => (cost_bps === undefined ? {} : { cost_bps }));

describe('the fields of a sweep', () => {
  it('have exact values in a range: 0.01..0.10/0.01 has ten, and none of them is 0.09999', () => {
    expect(settings(['drift_threshold=0.01..0.10/0.01']).flat()).toEqual(
      ['0.01', '0.02', '0.03', '0.04', '0.05', '0.06', '0.07', '0.08', '0.09', '0.1'], // prettier-ignore
    );
    expect(settings(['a=-1..1/0.5']).flat()).toEqual(['-1', '-0.5', '0', '0.5', '1']);
    expect(settings(['a=1..10/4']).flat()).toEqual(['1', '5', '9']);
    expect(settings(['a=5..5/1']).flat()).toEqual(['5']);
  });

  it('stay within a range for any number of decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 9 }), (from, more, step) => {
        const cent = (n: number): string => (n / 1_000).toFixed(3);
        const values = settings([`a=${cent(from)}..${cent(from + more)}/${cent(step)}`]).flat();
        expect(values.map((value) => Math.round(Number(value) * 1_000))).toEqual(
          Array.from({ length: Math.floor(more / step) + 1 }, (_, i) => from + i * step),
        );
      }),
      { numRuns: 200 },
    ); // prettier-ignore
  });

  it('are combined in all ways, and the last field varies fastest', () => {
    expect(settings(['slices=12,24', 'id-1.side=buy,sell'])).toEqual([
      ['12', 'buy'],
      ['12', 'sell'],
      ['24', 'buy'],
      ['24', 'sell'],
    ]);
  });

  it('vary together if they are joined, and need a value for each joined field', () => {
    expect(settings(['w.btc + w.usd = 0.6+0.4, 0.5 + 0.5', 'slices=1,2']).map(([both, slices]) => `${both} ${slices}`)).toEqual([
      '0.6+0.4 1', '0.6+0.4 2', '0.5 + 0.5 1', '0.5 + 0.5 2',
    ]); // prettier-ignore
    expect(valuesOf({ field: 'w.btc+w.usd' }, '0.5 + 0.5')).toEqual(['0.5', '0.5']);
    expect(valuesOf({ field: 'note' }, 'a+b')).toEqual(['a+b']);
    for (const [text, why] of [
      ['a+b=1+2,3', '"3" is not a value for each of the 2 fields'],
      ['a+b=1+2+3', '"1+2+3" is not a value for each of the 2 fields'],
      ['a+b=1..2/1', 'fields that change together need a list, not a range'],
      ['a+a=1+2', 'a is given twice'],
      ['a+=1+2', 'expected a field of a strategy and its values'],
    ] as const)
      expect(() => readVaries([text])).toThrow(why);
    expect(() => readVaries(['a+b=1+2', 'b=1'])).toThrow('b is given twice');
  });

  it('are drawn identically for the same seed, within their bounds and decimals, for each point of the grid', () => {
    const texts = ['limit_price=random(58000.0..62000.0)', 'slices=12,24'];
    const drawn = settings(texts, { samples: 50 });
    expect(drawn).toEqual(settings(texts, { samples: 50 }));
    expect(drawn).not.toEqual(settings(texts, { samples: 50, seed: '2' }));
    const of = (slices: string): readonly string[] =>
      drawn.filter((one) => one[1] === slices).map(([price]) => price ?? '');
    expect(of('12')).toEqual(of('24'));
    for (const value of of('12')) {
      expect(value).toMatch(/^\d{5}(?:\.\d)?$/u);
      expect(Number(value)).toBeGreaterThanOrEqual(58_000);
      expect(Number(value)).toBeLessThanOrEqual(62_000);
    }
    expect(new Set(of('12')).size).toBeGreaterThan(40);
  });

  it('run a repeated draw once and count it', () => {
    const { settings: all, repeated } = settingsOf(readVaries(['a=random(1..3)']), {
      samples: 20,
      seed: '1',
    });
    expect(all.length + repeated).toBe(20);
    expect(all.flat().toSorted()).toEqual(['1', '2', '3']);
  });

  it('are drawn without repetition from a grid without random values', () => {
    const drawn = settings(['a=1..100/1', 'b=1..100/1'], { samples: 300 });
    expect(new Set(drawn.map(String)).size).toBe(300);
    expect(settings(['a=1..4/1'], { samples: 4 }).flat().toSorted()).toEqual(['1', '2', '3', '4']);
  });

  it.each([
    [[], 'no field varies'],
    [['slices'], 'expected a field of a strategy and its values'],
    [['=1'], 'expected a field'],
    [['slices='], 'a value is empty'],
    [['slices=12,,24'], 'a value is empty'],
    [['slices=12,12'], 'listed twice'],
    [['a=1..10'], 'has no step: write 1..10/STEP'],
    [['a=1..10/0'], 'must be above zero'],
    [['a=1..10/-1'], 'must be above zero'],
    [['a=10..1/1'], 'ends below its start'],
    [['a=1..x/1'], 'is not a range'],
    [['a=1..2..3/1'], 'is not a range'],
    [['a=1..2/'], 'is not a range'],
    [['a=0..1/0.00001'], 'has more than 10000 values'],
    [['a=1..200/1', 'b=1..200/1'], '40000 settings exceed the limit of 10000'],
    [['a=random(1..9)'], '--samples N'],
    [['a=1,2', 'a=3'], 'a is given twice'],
  ])('are refused as %j: %s', (texts, why) => {
    expect(() => settings(texts)).toThrow(why);
  });

  it('are refused if more draws are requested than there are settings', () => {
    expect(() => settings(['a=1..4/1'], { samples: 5 })).toThrow('the grid has only 4 settings');
  });
});

describe('a value in a document', () => {
  const document = { id: 'x', total: { amount: '1', currency: 'btc' }, list: [1, { deep: 2 }] };

  it('is set at its path without changing other values', () => {
    expect(withValue(document, ['total', 'amount'], '2')).toEqual({
      ...document,
      total: { amount: '2', currency: 'btc' },
    });
    expect(withValue(document, ['list', '1', 'deep'], 3)).toEqual({ ...document, list: [1, { deep: 3 }] });
    expect(withValue(document, ['new', 'group'], 1)).toEqual({ ...document, new: { group: 1 } });
    expect(document.total.amount).toBe('1');
    expect(valueAt(document, ['list', '1', 'deep'])).toBe(2);
    expect(valueAt(document, ['list', 'length', 'x'])).toBeUndefined();
  });

  it.each([
    [['id', 'x'], 'a single value'],
    [['list', '2'], 'has 2 values'],
    [['list', 'x'], 'has 2 values'],
    [['__proto__', 'x'], 'cannot be the name'],
    [['total', 'constructor'], 'cannot be the name'],
  ])('is refused at the path %j', (path, why) => {
    expect(() => withValue(document, path, 1)).toThrow(why);
  });
});

describe('the results of a sweep', () => {
  it('are ranked by a figure in its better direction, without results that lack it', () => {
    expect(ranked(costs('3', '-1', undefined, '2', '-1'), 'cost_bps')).toEqual([1, 4, 3, 0]);
    expect(ranked([{ gain_usd: '1' }, { gain_usd: '5' }, { gain_usd: '-9' }], 'gain_usd')).toEqual([1, 0, 2]);
  });

  it('are excluded from every ranking and choice if they traded no slices', () => {
    const idle = { cost_bps: '-128.7', risk_bps: '0', fills: '0', value_usd: '9999999' };
    const traded = ['5', '3', '4'].map((cost) => ({ cost_bps: cost, risk_bps: cost, fills: '1', value_usd: cost })); // prettier-ignore
    const all = [idle, ...traded];
    expect(ranked(all, 'cost_bps')).toEqual([2, 3, 1]);
    expect(ranked(all, 'value_usd')).toEqual([1, 3, 2]);
    expect(paretoFront(all, ['cost_bps', 'risk_bps'])).toEqual([[2]]);
    expect(luckOf(all, 'cost_bps')).toMatchObject({ trials: 3, best: 3 });
    const windows = [0, 1].map((k) => ({ from: instant(k), until: instant(k + 1) }));
    expect(walkForward(windows, [all, all], 'cost_bps')).toMatchObject([{ chosen: 2, rank: 1, of: 3 }]);
  });

  it('have the Pareto front that a pairwise comparison gives', () => {
    const figure = fc.integer({ min: 0, max: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(figure, figure), { maxLength: 30 }), (points) => {
        const all = points.map(([cost, gain]) => ({ cost_bps: String(cost), gain_usd: String(gain) }));
        const beaten = ([cost, gain]: readonly [number, number]): boolean =>
          points.some(([c, g]) => c <= cost && g >= gain && (c < cost || g > gain));
        const naive = points.flatMap((point, i) => (beaten(point) ? [] : [i]));
        expect(
          paretoFront(all, ['cost_bps', 'gain_usd'])
            .flat()
            .toSorted((a, b) => a - b),
        ).toEqual(naive);
      }),
    );
  });

  it('include the result that is expected of the best one by luck', () => {
    expect(normalQuantile(0.975)).toBeCloseTo(1.959_963_984_540_054, 10);
    expect(normalQuantile(0.5)).toBeCloseTo(0, 10);
    expect(expectedMaximum(100)).toBeCloseTo(2.53, 2);
    // Compared with simulation: the mean of the largest of `count` normal numbers.
    for (const count of [5, 20, 200]) {
      let sum = 0;
      for (let round = 0; round < 2_000; round++) {
        let largest = Number.NEGATIVE_INFINITY;
        for (let i = 0; i < count; i++) largest = Math.max(largest, normalAt(count, round, i));
        sum += largest;
      }
      expect(Math.abs(expectedMaximum(count) - sum / 2_000)).toBeLessThan(0.06);
    }
    expect(luckOf(costs('1', '2', '3'), 'cost_bps')).toMatchObject({
      trials: 3,
      median: 2,
      best: 1,
    });
    const gains = luckOf([{ gain_usd: '1' }, { gain_usd: '2' }, { gain_usd: '3' }], 'gain_usd');
    expect(gains).toMatchObject({ median: 2, best: 3 });
    expect(gains?.expectedBest).toBeGreaterThan(2);
    expect(luckOf(costs('1', '1', '1'), 'cost_bps')).toBeUndefined();
    expect(luckOf(costs('1', '2'), 'cost_bps')).toBeUndefined();
  });
});

describe('the notes of a sweep', () => {
  it('estimate luck from the better half, so that very bad settings hardly change it', () => {
    const normal = Array.from({ length: 400 }, (_, i) => 100 + 10 * normalAt(1, 0, i));
    const wrong = Array.from({ length: 20 }, (_, i) => 5_000 + i);
    const [plain, skewed] = [normal, [...normal, ...wrong]].map((all) => luckOf(costs(...all.map(String)), 'cost_bps')); // prettier-ignore
    expect(plain?.deviation).toBeGreaterThan(9);
    expect(plain?.deviation).toBeLessThan(11);
    expect(Math.abs((skewed?.expectedBest ?? 0) - (plain?.expectedBest ?? 0))).toBeLessThan(3);
  });

  it('name the fields whose best value is the lowest or highest of at least three numbers', () => {
    const grid = ['12', '24', '96'].flatMap((slices) => ['buy', 'sell', 'both'].flatMap((side) => ['1', '2'].map((size) => [slices, side, size]))); // prettier-ignore
    const edges = (best: number | undefined): unknown =>
      edgesOf(['slices', 'side', 'size'], grid, best).map(({ field, value, end }) => [field, value, end]);
    expect(edges(0)).toEqual([['slices', '12', 'lowest']]);
    expect(edges(grid.length - 1)).toEqual([['slices', '96', 'highest']]);
    expect(edges(6)).toEqual([]);
    expect(edges(undefined)).toEqual([]);
  });
});

describe('a walk-forward analysis', () => {
  const from = instant(Date.UTC(2026, 0, 5));

  it('divides its time into consecutive windows without gaps', () => {
    const until = instant(from + 10 * HOUR_MS + 1);
    const windows = windowsOf({ from, until }, 6);
    expect(windows).toHaveLength(7);
    expect(windows[0]?.from).toBe(from);
    expect(windows.at(-1)?.until).toBe(until);
    windows.slice(1).forEach((window, k) => {
      expect(window.from).toBe(windows[k]?.until);
      expect((window.from - from) % MINUTE_MS).toBe(0);
    });
    expect(() => windowsOf({ from, until: instant(from + 2 * MINUTE_MS) }, 2)).toThrow(
      'shorter than a minute',
    );
  });

  it('judges the best setting of one window by the next window only', () => {
    const windows = windowsOf({ from, until: instant(from + 3 * HOUR_MS) }, 2);
    const folds = walkForward(windows, [costs('1', '2', '3'), costs('9', '5', '7'), costs('4', '8', undefined)], 'cost_bps');
    expect(folds).toMatchObject([
      { chosen: 0, trained: 1, tested: 9, rank: 3, of: 3, median: 7, best: 5 },
      { chosen: 1, trained: 5, tested: 8, rank: 2, of: 2, median: 6, best: 4 },
    ]);
    expect(folds.map(({ test }) => test)).toEqual(windows.slice(1));
  }); // prettier-ignore

  it('does not rank the first of equal settings above the others', () => {
    const windows = windowsOf({ from, until: instant(from + 2 * HOUR_MS) }, 1);
    expect(walkForward(windows, [costs('1', '1', '1', '1'), costs('3', '3', '3', '2')], 'cost_bps')).toMatchObject([{ chosen: 0, rank: 3, of: 4 }]); // prettier-ignore
  });

  it('chooses no setting if none has the figure', () => {
    const windows = windowsOf({ from, until: instant(from + 2 * HOUR_MS) }, 1);
    expect(walkForward(windows, [costs(undefined), costs('1')], 'cost_bps')).toMatchObject([
      { chosen: undefined, tested: undefined, rank: undefined, of: 1 },
    ]);
  });
});

describe('a heat map', () => {
  it('has the first two varying fields as its axes and the best of the other fields in its cells', () => {
    const fields = ['fixed', 'slices', 'duration', 'limit'];
    const grid = settings(['fixed=1', 'slices=24,12', 'duration=PT2H,PT1H', 'limit=1,2']);
    const figures = costs('8', '7', '6', '5', '4', '3', undefined, undefined);
    const map = heatMapOf(fields, grid, figures, 'cost_bps');
    expect(map).toMatchObject({
      down: { field: 'slices', values: ['12', '24'] },
      across: { field: 'duration', values: ['PT2H', 'PT1H'] },
      cells: [
        [3, undefined],
        [7, 5],
      ],
      over: ['limit'],
    });
    expect(map && shades(map)).toEqual([
      [0, undefined],
      [1, 0.5],
    ]);
  });

  it('is omitted with fewer than two fields or with too many values', () => {
    expect(heatMapOf(['a'], settings(['a=1,2']), costs('1', '2'), 'cost_bps')).toBeUndefined();
    const grid = settings(['a=1..41/1', 'b=1,2']);
    expect(heatMapOf(['a', 'b'], grid, costs(), 'cost_bps')).toBeUndefined();
  });
});
