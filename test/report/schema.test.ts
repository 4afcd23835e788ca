import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { headlines, reportTables, withHeadlines, withReportTables } from '../../scripts/document-report.ts';
import { jsonSchema } from '../../src/app/config/schema.ts';
import { HOUR_MS, after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { START, aBench, aStrategy, aTwap } from '../engine/harness.ts';
import { problemsOf } from './validator.ts';

interface Node {
  readonly description?: string;
  readonly type?: string;
  readonly pattern?: string;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Node>>;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
}

/** Every field of the schema with its path: those of named parts once. */
function* fieldsOf(node: Node, path: string): Generator<readonly [path: string, field: Node]> {
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    yield [`${path}.${name}`, field];
    yield* fieldsOf(field, `${path}.${name}`);
  }
  for (const [name, part] of Object.entries(node.$defs ?? {})) yield* fieldsOf(part, name);
  if (node.items !== undefined) yield* fieldsOf(node.items, `${path}[]`);
  if (typeof node.additionalProperties === 'object') {
    yield [`${path}.*`, node.additionalProperties];
    yield* fieldsOf(node.additionalProperties, `${path}.*`);
  }
}

const fields = [...fieldsOf(jsonSchema('report'), 'report')];
const AMOUNT = String.raw`^-?\d+(\.\d+)?$`;
const BPS = String.raw`^-?\d+\.\d{4}$`;

function aReport(): ReturnType<typeof reportOf> {
  const bench = aBench({
    strategies: [
      aTwap('buys', { slices: 6, duration: 'PT30M' }),
      aTwap('dear', { slices: 3, duration: 'PT30M', limit_price: '1' }),
      aStrategy('halves', 'rebalance', {
        target_weights: { btc: '0.5', usd: '0.5' },
        drift_threshold: '0.02',
        valuation_tolerance: '1',
        schedule: { cron: '5 * * * *' },
      }),
    ],
  });
  bench.start();
  bench.clock.run(after(START, HOUR_MS));
  return reportOf(figuresOf(bench.records(), { version: 't' }));
}

describe('the schema of report.json', () => {
  it('describes every field', () => {
    expect(fields.length).toBeGreaterThan(150);
    expect(fields.filter(([, { description = '' }]) => description.length < 5)).toEqual([]);
  });

  it('states the unit of every amount and the sign of every cost', () => {
    const unit =
      /base currency|quote currency|quote per base|cash|USD|currency that|that currency|currency of the limits/u;
    const amounts = fields.filter(([, { pattern }]) => pattern === AMOUNT);
    expect(amounts.length).toBeGreaterThan(30);
    expect(amounts.filter(([, { description = '' }]) => !unit.test(description))).toEqual([]); // prettier-ignore
    const inBps = fields.filter(([, { pattern }]) => pattern === BPS);
    expect(inBps.length).toBeGreaterThan(12);
    const signed = /positive is bad|POSITIVE IS GOOD|[Tt]he same/u;
    expect(inBps.filter(([, { description = '' }]) => !/[Bb]asis points/u.test(description) || !signed.test(description))).toEqual([]); // prettier-ignore
    const costs = fields.filter(([path, { pattern }]) => pattern === AMOUNT && /cost|timing|execution|delay|opportunity|trading$/u.test(path)); // prettier-ignore
    expect(costs.length).toBeGreaterThan(10);
    expect(costs.filter(([path, { description = '' }]) => !signed.test(description) && !/paper|fees/u.test(path))).toEqual([]); // prettier-ignore
  });

  it('states the unit of every duration', () => {
    const inMs = fields.filter(([path]) => path.endsWith('_ms'));
    expect(inMs.filter(([, { description = '' }]) => !/\bms\b/u.test(description))).toEqual([]);
  });

  it('accepts a valid report, and rejects changed ones', () => {
    const report = aReport();
    expect(problemsOf(report)).toEqual([]);
    expect(report.parents.some(({ slices }) => slices.some(({ missed_cost: cost }) => cost !== undefined))).toBe(true); // prettier-ignore
    const [group] = report.groups;
    const others = [
      { ...report, format: 2 },
      { ...report, surprise: 1 },
      { ...report, fills: -1 },
      { ...report, fills: '3' },
      { ...report, period: { from: '2026-01-05', until: '2026-01-06' } },
      { ...report, groups: [{ ...group, traded: 1 }] },
      { ...report, groups: [{ ...group, traded: '1e5' }] },
      { ...report, groups: [{ ...group, side: 'both' }] },
      { ...report, groups: [{ ...group, costs: { ...group?.costs, arrival_slippage_bps: '1.23' } }] },
      { ...report, quoting: { ...report.quoting, hits: 3 } },
      Object.fromEntries(Object.entries(report).filter(([key]) => key !== 'signs')),
    ];
    for (const other of others) expect(problemsOf(other)).not.toEqual([]);
  });
});

describe('docs/report.md', () => {
  /** Without what a formatter may change: spaces and the dashes of a table's ruler. */
  const plain = (text: string): string => text.replaceAll(/[ -]+/gu, ' ');
  const page = readFileSync(new URL('../../docs/report.md', import.meta.url), 'utf8');

  it('has the tables of fields that npm run docs writes from the schema', () => {
    expect(plain(page)).toContain(plain(reportTables()));
    expect(plain(withReportTables(page))).toBe(plain(page));
  });

  it('has a formula, a unit and a sign for each headline figure, which docs/backtest.md lists', () => {
    const backtests = readFileSync(new URL('../../docs/backtest.md', import.meta.url), 'utf8');
    expect(plain(withHeadlines(backtests))).toBe(plain(backtests));
    for (const [words, , description] of headlines()) {
      expect([words, description]).toEqual([
        words,
        expect.stringMatching(/(?:cash|currency|USD|fraction|ratio|basis points)/u),
      ]);
      expect([words, description]).toEqual([
        words,
        expect.stringMatching(/(?:positive|POSITIVE|negative|0 or more)/u),
      ]);
      expect([words, description]).toEqual([words, expect.stringMatching(/[Σ·√Π−/+]|Mean|Maximum|Largest/u)]);
    }
  });
});
