import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { edgesOf } from '../../src/research/sweep/edges.ts';
import { combined, spreadOf, standardError, tQuantile } from '../../src/research/sweep/standard-error.ts';
import { paretoFront, ranked } from '../../src/research/sweep/sweep-figures.ts';
import type { SweepFigures } from '../../src/research/sweep/sweep-figures.ts';
import { heatMapOf, shades } from '../../src/research/sweep/heat-map.ts';
import { readVaries, settingsOf, valueAt, valuesOf, withValue } from '../../src/research/sweep/vary.ts';
import { walkForward, windowsOf } from '../../src/research/sweep/walk-forward.ts';
import { verdictOf } from '../../src/app/sweep/verdict.ts';
import type { Verdict } from '../../src/app/sweep/verdict.ts';
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
    expect(verdictOf({ figures: [all], spreads: [], by: 'cost_bps' })).toMatchObject({
      best: 2,
      compared: 2,
    });
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
});

describe('the notes of a sweep', () => {
  it('name every field whose best value is the lowest or highest tried: numbers, durations, times, and fields that vary together', () => {
    const edges = (field: string, values: readonly string[], best: number): unknown =>
      edgesOf([field], values.map((value) => [value]), best).map((edge) => [edge.field, edge.value, edge.end]);
    for (const values of [['96', '12', '24'], ['P1D', 'PT20M', 'PT4H'], ['2026-03-02T00:00:00Z', '2026-03-01T09:00:00[Europe/London]', '2026-03-01T10:00:00Z']]) {
      expect(edges('a', values, 0)).toEqual([['a', values[0], 'highest']]);
      expect(edges('a', values, 1)).toEqual([['a', values[1], 'lowest']]);
      expect(edges('a', values, 2)).toEqual([]);
    }
    expect(edges('a', ['1', '2'], 1)).toEqual([['a', '2', 'highest']]);
    expect(edges('a', ['none', '10', '20'], 1)).toEqual([['a', '10', 'lowest']]);
    expect(edges('a', ['none', '10', '20'], 0)).toEqual([]);
    expect(edges('a', ['buy', 'sell'], 0)).toEqual([]);
    expect(edges('w.btc+w.usd', ['0.6+0.4', '0.5+0.5'], 0)).toEqual([['w.btc', '0.6', 'highest'], ['w.usd', '0.4', 'lowest']]);
    expect(edgesOf(['a'], [['1'], ['2']], undefined)).toEqual([]);
  }); // prettier-ignore
});

describe('the standard error of a figure', () => {
  const window = { from: instant(0), until: instant(4_096) };
  const noise = (key: number, count: number): readonly number[] => Array.from({ length: count }, (_, i) => normalAt(key, 0, i)); // prettier-ignore
  const spreadBy = (values: readonly number[]) =>
    spreadOf(values.map((over, i) => ({ at: (4_096 / values.length) * (i + 0.5), over, of: 1 })), window); // prettier-ignore
  const errorOf = (values: readonly number[]): number | undefined => {
    const spread = spreadBy(values);
    return spread && standardError(spread);
  };

  it('is the deviation divided by the root of the number, and that of differences when two settings share their prices', () => {
    const [own, shared] = [noise(1, 30), noise(2, 30)];
    const mean = own.reduce((all, value) => all + value, 0) / 30;
    const deviation = Math.sqrt(own.reduce((all, value) => all + (value - mean) ** 2, 0) / 29);
    expect(errorOf(own)).toBeCloseTo(deviation / Math.sqrt(30), 5);
    const [one, other] = [shared, shared.map((value, i) => value + 0.01 * (own[i] ?? 0))].map(spreadBy);
    expect(one && other && standardError(combined(other, one, -1))).toBeCloseTo(
      0.01 * (errorOf(own) ?? 0),
      5,
    );
    expect([errorOf([1]), errorOf([])]).toEqual([undefined, undefined]);
  });

  it('is about right if many observations share a cell, and if they are rare', () => {
    for (const count of [5_000, 8]) {
      const squares = Array.from({ length: 300 }, (_, key) => (errorOf(noise(key, count)) ?? 0) ** 2);
      const expected = 1 / count;
      expect(Math.abs(squares.reduce((a, b) => a + b, 0) / 300 / expected - 1)).toBeLessThan(0.12);
    }
  });

  it('has the quantiles of the distribution of Student, as in its table', () => {
    for (const [p, freedom, value] of [[0.95, 4, 2.132], [0.95, 31, 1.696], [0.99, 10, 2.764], [0.9995, 5, 6.869], [0.975, 1e6, 1.96]] as const)
      expect(Math.abs(tQuantile(p, freedom) / value - 1)).toBeLessThan(0.015);
  }); // prettier-ignore
});

describe('what the figures of a sweep support', () => {
  const window = { from: instant(0), until: instant(4_096) };
  /** A verdict on settings that have these observations in one window. */
  const oneWindow = (all: readonly (readonly number[])[]): Verdict | undefined =>
    verdictOf({
      figures: [costs(...all.map((values) => String(values.reduce((a, b) => a + b, 0) / values.length)))],
      spreads: all.map((values) => spreadOf(values.map((over, i) => ({ at: 128 * i, over, of: 1 })), window)),
      by: 'cost_bps',
    }); // prettier-ignore
  const scattered = (key: number, mean: number, deviation: number): readonly number[] =>
    Array.from({ length: 32 }, (_, i) => mean + deviation * normalAt(key, 1, i));

  it('is no setting whose lead is within the error, and the best one if the lead is not', () => {
    const noisy = oneWindow([scattered(1, -5.38, 77), scattered(2, 0, 77), scattered(3, 2, 77)]);
    expect(noisy).toMatchObject({ isSupported: false, compared: 2 });
    expect(noisy?.tied).toHaveLength(2);
    const clear = oneWindow([scattered(1, 1.6, 0.05), scattered(2, 1.5, 0.05), scattered(3, 1.7, 0.05)]);
    expect(clear).toMatchObject({ best: 1, isSupported: true, tied: [], next: { index: 0 } });
    // Equal settings are one: there must be another to compare with.
    expect(oneWindow([[1, 2, 3], [1, 2, 3]])).toBeUndefined();
    expect(oneWindow([[3, 1, 3, 1, 3], [1, 2, 1, 2, 1], [1, 2, 1, 2, 1]].map((values) => values.map((value, i) => value + i / 99)))).toMatchObject({ best: 1, equal: [2], compared: 1 });
    expect(oneWindow([[1], [5]])).toMatchObject({ isSupported: false, tied: [1], next: { error: undefined } });
    expect(oneWindow([[1]])).toBeUndefined();
  }); // prettier-ignore

  it('is wrong about equal settings in at most 5 % of sweeps', () => {
    let wrong = 0;
    for (let seed = 0; seed < 400; seed++)
      if (oneWindow(Array.from({ length: 10 }, (_, k) => scattered(1_000 * seed + k, 0, 1)))?.isSupported === true) wrong++; // prettier-ignore
    expect(wrong / 400).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / 400));
  });

  it('is a setting that is first in 5 of 5 windows, of two settings or of twenty, but not one that is first in 3', () => {
    const windows = (...wins: readonly boolean[]) =>
      wins.map((isWon) => costs(isWon ? '1' : '2.5', '2'));
    expect(verdictOf({ figures: windows(true, true, true, true, true), spreads: [], by: 'cost_bps' })).toMatchObject({
      best: 0, isSupported: true, firsts: { count: 5, of: 5, chance: 2 * 0.5 ** 5 },
    });
    const noisy = [900, 20, 400, 3, 70].map((lead, k) => costs(String(1_000 * k - lead), ...Array.from({ length: 19 }, (_, i) => String(1_000 * k + i))));
    expect(verdictOf({ figures: noisy, spreads: [], by: 'cost_bps' })).toMatchObject({ best: 0, isSupported: true, firsts: { count: 5 } });
    expect(verdictOf({ figures: windows(true, true, true, false, false), spreads: [], by: 'cost_bps' })).toMatchObject({ best: 0, isSupported: false, tied: [1] });
    // A setting without the figure in one window is not compared.
    expect(verdictOf({ figures: [costs('1', '2', '3'), costs(undefined, '2', '3')], spreads: [], by: 'cost_bps' })).toMatchObject({ best: 1, compared: 1 });
  }); // prettier-ignore
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
      across: { field: 'duration', values: ['PT1H', 'PT2H'] },
      cells: [
        [undefined, 3],
        [5, 7],
      ],
      over: ['limit'],
    });
    expect(map && shades(map)).toEqual([
      [undefined, 0],
      [0.5, 1],
    ]);
  });

  it('is omitted with fewer than two fields or with too many values', () => {
    expect(heatMapOf(['a'], settings(['a=1,2']), costs('1', '2'), 'cost_bps')).toBeUndefined();
    const grid = settings(['a=1..41/1', 'b=1,2']);
    expect(heatMapOf(['a', 'b'], grid, costs(), 'cost_bps')).toBeUndefined();
  });
});
