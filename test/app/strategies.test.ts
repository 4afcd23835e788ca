import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/app/config/config.ts';
import type { Config } from '../../src/app/config/config.ts';
import { loadAll, readStrategies } from '../../src/app/strategies/strategies.ts';
import type { LoadedStrategy } from '../../src/app/strategies/strategies.ts';
import { instant } from '../../src/core/time.ts';
import { aFolder, put } from '../support/folder.ts';
import { finish } from '../system/support/program.ts';
import { aTwapText } from './support/texts.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

const now = instant(Date.UTC(2026, 11, 1));
const TWAP = aTwapText();

const read = (yaml: string, config?: Config): ReturnType<typeof readStrategies> => {
  put(folder, { 'x.yaml': yaml });
  return readStrategies([join(folder, 'x.yaml')], config, { env: { LIMIT: '70000' }, cwd: folder });
};
const only = (yaml: string): LoadedStrategy | undefined => read(yaml).strategies[0];
const messages = (yaml: string, config?: Config): readonly string[] =>
  read(yaml, config).problems.map(({ path, message }) => `${path}: ${message}`);
function configOf(yaml: string, mode: 'paper' | 'dry_run' = 'paper'): Config {
  put(folder, { 'desk.yaml': `${yaml}\nstrategies: []\n` });
  return loadConfig('desk.yaml', { env: { TRANCHE_TOKEN: 'x' }, cwd: folder, now, mode }).config;
}

describe('readStrategies', () => {
  it('returns each document bound to its kind, with its file and line', () => {
    const { strategies, problems } = read(
      `${TWAP}---\n${TWAP.replace('id: a', 'id: b').replace('side: buy', 'side: sell\nenabled: false')}`,
    );
    expect(problems).toEqual([]);
    expect(strategies.map(({ id, kind, enabled, file, line }) => [id, kind, enabled, file, line])).toEqual([
      ['a', 'twap', true, 'x.yaml', 1],
      ['b', 'twap', false, 'x.yaml', 9],
    ]);
    expect(strategies[0]?.bound.pairs).toEqual(['btcusd']);
  });

  it('adds a strategy that keeps pts.min_headroom in the pairs of the others', () => {
    const config = configOf(
      'pts: { use: when_enabled, min_headroom: "0.05" }\nvenue: { sell_path: /v1/orders/sell }',
    );
    const added = read(TWAP, config);
    expect(added.problems).toEqual([]);
    expect(added.strategies.map(({ id, kind, document }) => [id, kind, document['pairs']])).toEqual([
      ['a', 'twap', undefined],
      ['min-headroom', 'settle', ['btcusd']],
    ]);
    const own = `---\n{ id: min-headroom, kind: settle, pairs: [ethusd], min_headroom: 0.1 }\n`;
    expect(read(`${TWAP}${own}`, config).strategies.map(({ bound }) => bound.pairs)).toEqual([
      ['btcusd'],
      ['ethusd'],
    ]);
    expect(read(TWAP, configOf('')).strategies).toHaveLength(1);
  });

  it('reports an emptied file as a problem, not as the removal of its strategies', () => {
    for (const nothing of ['', '# only a remark\n', '---\n'])
      expect(messages(nothing)).toEqual([expect.stringContaining('the file contains no strategy')]);
  });

  it('computes a hash of the content that ignores order, comments and enabled', () => {
    const reordered = `# same\nslices: 48\n${TWAP.replace('slices: 48\n', '')}enabled: false\n`;
    expect(only(TWAP)?.hash).toMatch(/^[0-9a-f]{64}$/u);
    expect(only(reordered)?.hash).toBe(only(TWAP)?.hash);
    expect(only(TWAP.replace('48', '47'))?.hash).not.toBe(only(TWAP)?.hash);
  });

  it('substitutes variables before it computes the hash', () => {
    expect(only(`${TWAP}limit_price: "\${LIMIT}"\n`)?.hash).toBe(only(`${TWAP}limit_price: "70000"\n`)?.hash);
  });

  it('includes the calendar files of a schedule, relative to the strategy file, in the document and its hash', () => {
    const daily = `id: d
kind: recurring
pair: btcusd
side: buy
each_quantity: { amount: "1", currency: btc }
schedule: { cron: "0 9 * * *", calendar: { holidays: [centres/london.yaml] } }
`;
    const write = (days: string): void => {
      put(folder, { 'centres/london.yaml': `centre: London\ndays: [${days}]\n` });
    };
    write('"2026-12-25"');
    const before = only(daily);
    const list = { centre: 'London', days: ['2026-12-25'], every_year: [] };
    expect(before?.document).toMatchObject({ schedule: { calendar: { holidays: [list] } } });
    const christmas = instant(Date.UTC(2026, 11, 24, 12));
    expect(before?.bound.occurrences(christmas, 1)?.map(({ at }) => at)).toEqual([Date.UTC(2026, 11, 28, 9)]);
    write('"2026-12-25", "2026-12-28"');
    const after = only(daily);
    expect(after?.hash).not.toBe(before?.hash);
    expect(after?.bound.occurrences(christmas, 1)?.map(({ at }) => at)).toEqual([Date.UTC(2026, 11, 29, 9)]);
  });

  it('includes the calendar files of the hours of a rebalancing', () => {
    put(folder, { 'centres/tokyo.yaml': 'centre: Tokyo\ndays: ["2026-11-23"]\n' });
    const loaded = only(`id: r
kind: rebalance
target_weights: { btc: "0.5", usd: "0.5" }
drift_threshold: "0.02"
schedule: { calendar: { holidays: [centres/tokyo.yaml] } }
`);
    expect(loaded?.document).toMatchObject({
      schedule: { calendar: { holidays: [{ centre: 'Tokyo', days: ['2026-11-23'] }] } },
    });
  });

  it('applies the minimums of the config', () => {
    const config = configOf('venue: { minimums: { pairs: { btcusd: { quantity: "0.1" } } } }');
    expect(messages(TWAP, config)).toEqual([expect.stringMatching(/^slices: .*at most 15 slices/u)]);
    const notional = TWAP.replace(
      'total_quantity: { amount: "1.5", currency: btc }',
      'total_notional: { amount: "100", currency: usd }',
    );
    expect(messages(notional, configOf(''))).toEqual([
      expect.stringMatching(/^slices: .*5 usd.*at most 20 slices/u),
    ]);
  });

  it('checks pairs and sides against the controls', () => {
    const config = configOf(
      'venue: { base_url: "https://v.example" }\ncontrols: { pairs: [ethusd], sides: [sell] }',
      'dry_run',
    );
    expect(messages(TWAP, config)).toEqual([
      'pair: controls.pairs in the config does not list btcusd: it lists ethusd',
      'side: controls.sides in the config does not list buy',
    ]);
  });

  it('leaves the check of unknown pairs to a real venue', () => {
    const config = configOf('venue: { base_url: "https://v.example" }', 'dry_run');
    expect(
      messages(TWAP.replace('btcusd', 'zzzxyz').replace('currency: btc', 'currency: zzz'), config),
    ).toEqual([]);
  });

  it('takes the base and quote currency from the simulated venue if it names them', () => {
    const config = configOf(
      'venue: { simulated: { pairs: { abcdef: { base: abc, quote: def, start_price: "1" } } } }',
    );
    expect(messages(TWAP.replace('btcusd', 'abcdef'), config)).toEqual([
      expect.stringContaining('must be in abc, not btc'),
    ]);
  });

  it('rejects a document without settings, id or kind', () => {
    expect(messages('- a\n- b\n')).toEqual([': expected settings such as id: and kind:']);
    expect(messages('slices: 1\n')).toEqual([
      expect.stringMatching(/^id: "id" is missing/u),
      expect.stringMatching(/^kind: "kind" is missing/u),
    ]);
  });
});

describe('loadAll', () => {
  it('reports the problems of the config and of all strategies at once', () => {
    put(folder, {
      'desk.yaml': 'desk: Main\nstrategies: [x.yaml, y.yaml]\n',
      'x.yaml': TWAP.replace('side: buy', 'side: but'),
      'y.yaml': TWAP.replace('48', '"48"'),
    });
    const run = (): unknown => loadAll('desk.yaml', { env: {}, cwd: folder, now });
    expect(run).toThrow(
      /desk\.yaml:1:7 {2}desk[^]*x\.yaml:4:7 {2}side[^]*y\.yaml:1:5 {2}id[^]*y\.yaml:7:9 {2}slices[^]*4 problems/u,
    );
  });
});

describe('a strategy with possible sells', () => {
  const DRY_RUN = 'venue: { base_url: "https://venue.example" }';
  const off = 'it may have to sell, but selling is off: set venue.sell_path in the config to the path at which your venue accepts sell orders'; // prettier-ignore
  const rebalance = `id: r
kind: rebalance
target_weights: { btc: "0.5", usd: "0.5" }
drift_threshold: "0.05"
`;
  const sell = TWAP.replace('side: buy', 'side: sell');

  it('is rejected if the config has no sell path', () => {
    const config = configOf(DRY_RUN, 'dry_run');
    expect(messages(rebalance, config)).toEqual([`kind: ${off}`]);
    expect(messages(sell, config)).toEqual([`side: ${off}`]);
    expect(messages(TWAP, config)).toEqual([]);
  });

  it('is accepted with venue.sell_path, and in paper mode, which has a default path', () => {
    const known = configOf(
      'venue: { base_url: "https://venue.example", sell_path: /v1/orders/sell }',
      'dry_run',
    );
    for (const config of [known, configOf('mode: paper')])
      for (const strategy of [rebalance, sell]) expect(messages(strategy, config)).toEqual([]);
    expect(configOf('mode: paper').venue.sellPath).toBe('/v1/orders/sell');
  });

  it.each(['plan', 'run'])('is rejected by tranche %s with the same message', async (command) => {
    put(folder, {
      'r.yaml': rebalance,
      'desk.yaml': `mode: dry_run\n${DRY_RUN}\njournal: "memory:"\nstrategies: ./r.yaml\n`,
    });
    const env = { TRANCHE_TOKEN: 'a-token-of-the-desk' };
    const { code, stdout, stderr } = await finish([command, '--config', 'desk.yaml'], { cwd: folder, env });
    expect(code).toBe(78);
    expect(stdout + stderr).toContain('r.yaml:2:7  kind');
    expect(stdout + stderr).toContain(off);
  });
});
