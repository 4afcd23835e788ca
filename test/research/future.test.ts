import { describe, expect, it } from 'vitest';
import { presetModel } from '../../src/research/run/model.ts';
import type { PresetName } from '../../src/research/run/model.ts';
import { solvedOver } from '../../src/research/run/wake-index.ts';
import { columnNames, tapeOf } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { hash32, normalAt } from '../../src/simulator/market/random.ts';
import { START } from '../engine/harness.ts';
import { aRun, closesTape, walkTape } from './bench.ts';
import { everyKind } from './every-kind.ts';

/** Bars of a minute, bars of five minutes that begin within a minute, and trades: their rows become known at different instants. */
const trades = (rows: number): Tape => {
  const key = hash32('ethbtc trades');
  let [at, logarithm] = [START + 1_000, Math.log(0.05)];
  const [times, closes]: [number[], number[]] = [[], []];
  for (let row = 0; row < rows; row++) {
    logarithm += 0.0005 * normalAt(key, 0, row);
    times.push(at);
    closes.push(Number(Math.exp(logarithm).toPrecision(7)));
    at += Math.round(100 + 20_000 * Math.abs(normalAt(key, 1, row)));
  }
  return closesTape('ethbtc', { barMs: 0, times, closes });
};
const tapes: readonly Tape[] = [
  walkTape({ pair: 'btcusd', rows: 180, startPrice: 60_000, volatility: 0.0015 }),
  walkTape({
    pair: 'ethusd',
    rows: 36,
    startPrice: 3_000,
    volatility: 0.003,
    barMs: 5 * MINUTE_MS,
    startsAt: START + 20_000,
  }),
  trades(700),
];

type Alter = (tape: Tape, turn: number) => Tape;
const knownFrom = ({ times, barMs }: Tape, at: number): number => {
  const row = times.findIndex((time) => time + barMs >= at);
  return row < 0 ? times.length : row;
};
const changed = (tape: Tape, from: number, change: (columns: Tape, row: number) => void): Tape => {
  const columns = { ...tape };
  for (const name of columnNames) columns[name] = tape[name].slice();
  for (let row = from; row < tape.rows; row++) change(columns, row);
  return tapeOf({ pair: tape.pair, barMs: tape.barMs, columns });
};
const priced = (columns: Tape, row: number, price: number): void => {
  for (const name of ['open', 'high', 'low', 'close'] as const) columns[name][row] = price;
};
const cut = (tape: Tape, rows: number): Tape => {
  const columns = { ...tape };
  for (const name of columnNames) columns[name] = tape[name].slice(0, rows);
  return tapeOf({ pair: tape.pair, barMs: tape.barMs, columns });
};

/** Changes of the rows that are not known yet at `turn`. */
const futures: Readonly<Record<string, Alter>> = {
  'a crash': (tape, turn) =>
    changed(tape, knownFrom(tape, turn), (columns, row) => {
      priced(columns, row, (tape.close[row] ?? 1) / (50 + (row % 7)));
    }),
  'a small rise': (tape, turn) =>
    changed(tape, knownFrom(tape, turn), (columns, row) => {
      priced(columns, row, (tape.close[row] ?? 1) * 1.004);
    }),
  'a hole': (tape, turn) => {
    const from = knownFrom(tape, turn);
    const kept = (row: number): boolean => row < from || row > from + tape.rows / 16;
    const columns = { ...tape };
    for (const name of columnNames) columns[name] = tape[name].filter((_, row) => kept(row));
    return tapeOf({ pair: tape.pair, barMs: tape.barMs, columns });
  },
  // Some bars are incomplete at the turn: their open, high, low and volume depend on a close that is not known yet.
  'other bars under way': (tape, turn) =>
    changed(tape, knownFrom(tape, turn), (columns, row) => {
      priced(columns, row, (tape.close[row] ?? 1) * (row % 2 === 0 ? 1.01 : 0.99));
      columns.high[row] = (columns.high[row] ?? 1) * 3;
      columns.low[row] = (columns.low[row] ?? 1) / 3;
      columns.volume[row] = 1_000_000;
    }),
  'an early end': (tape, turn) => cut(tape, Math.max(knownFrom(tape, turn) + 1, 2)),
};

const bodies = (found: Iterable<{ readonly at: number; readonly body: object }>): readonly string[] =>
  [...found].map(({ at, body }) => `${at} ${JSON.stringify(body)}`);
const before = (lines: readonly string[], turn: number): readonly string[] =>
  lines.filter((line) => Number(line.slice(0, line.indexOf(' '))) < turn);

interface Told {
  readonly name: string;
  readonly model: PresetName;
  readonly isJumping: boolean;
}

function run(over: readonly Tape[], { name, model, isJumping }: Told): readonly string[] {
  const desk = everyKind[name];
  if (desk === undefined) throw new Error(`no desk ${name}`);
  const { pts, ...shape } = desk;
  const ran = aRun({
    ...shape,
    tapes: over,
    policy: { ...shape.policy, minimumOf: () => ({}) },
    model: { ...presetModel(model), ...(pts === undefined ? {} : { pts }), unavailableShare: 0.01 },
    nextPossible: isJumping ? solvedOver(over) : undefined,
  });
  return bodies(ran.journal.read());
}

const cases = Object.keys(everyKind).flatMap(
  (name) =>
    [
      { name, model: 'tight', isJumping: true, minutes: 61 },
      { name, model: 'normal', isJumping: false, minutes: 92.5 },
      { name, model: 'stressed', isJumping: true, minutes: 133.25 },
    ] as const,
);

describe('a backtest of every kind', () => {
  it.each(cases)(
    'does not depend on later prices: $name with a $model venue at minute $minutes',
    { timeout: 300_000 },
    ({ minutes, ...told }) => {
      const past = run(tapes, told);
      const turn = START + minutes * MINUTE_MS;
      const was = before(past, turn);
      expect(was.length).toBeGreaterThan(10);
      const others = Object.entries(futures).map(([what, alter]) => {
        const found = run(
          tapes.map((tape) => alter(tape, turn)),
          told,
        );
        return { what, was: before(found, turn), isOther: found.join('\n') !== past.join('\n') };
      });
      // A future that changes nothing would prove nothing.
      expect(others.find(({ what }) => what === 'a crash')?.isOther).toBe(true);
      expect(others.map(({ what, was: found }) => ({ what, found }))).toEqual(
        others.map(({ what }) => ({ what, found: was })),
      );
    },
  );

  it.each(Object.keys(everyKind))(
    'depends only on the close and the volume of each bar: %s',
    { timeout: 300_000 },
    (name) => {
      const wild = tapes.map((tape) =>
        tape.barMs === 0
          ? tape
          : changed(tape, 0, (columns, row) => {
              columns.open[row] = (tape.close[row] ?? 1) * (row % 3 === 0 ? 2 : 0.5);
              columns.high[row] = (tape.close[row] ?? 1) * 2.5;
              columns.low[row] = (tape.close[row] ?? 1) / 2.5;
            }),
      );
      const told = { name, model: 'normal', isJumping: true } as const;
      expect(run(wild, told)).toEqual(run(tapes, told));
      expect(run(tapes, { ...told, isJumping: false })).toEqual(run(tapes, told));
    },
  );

  it('trades with every strategy of these tests', () => {
    const traded = Object.keys(everyKind).flatMap((name) =>
      run(tapes, { name, model: 'normal', isJumping: true }).flatMap((line) =>
        line.includes('"kind":"fill"') ? (/"strategy":"(\w+)"/u.exec(line)?.[1] ?? []) : [],
      ),
    );
    const all = Object.values(everyKind).flatMap(({ strategies }) => strategies.map(({ id }) => id));
    expect(new Set(traded)).toEqual(new Set(all));
  });
});
