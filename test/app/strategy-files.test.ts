import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import { strategyFiles } from '../../src/app/strategies/strategy-files.ts';
import { loadAll, reviveStrategy } from '../../src/app/strategies/strategies.ts';
import type { NotifyConfig } from '../../src/app/notify/notify-config.ts';
import { instant } from '../../src/core/time.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import type { StrategiesPort } from '../../src/engine/ports.ts';
import { guideCode } from '../docs/module-guide.ts';
import { aView, NINE } from '../strategy/views.ts';
import { aFolder, put } from '../support/folder.ts';
import { aLiveText, aTwapText } from './support/texts.ts';

const TWAP = aTwapText();
const PAPER = 'mode: paper\nstrategies: ./strategies\n';

let folder = '';
const write = (name: string, text: string): void => {
  put(folder, { [name]: text });
};
const configure = (...lines: readonly string[]): void => {
  write('desk.yaml', ['mode: paper', ...lines, 'strategies: ./strategies', ''].join('\n'));
};
beforeEach(() => {
  folder = aFolder({ 'desk.yaml': PAPER, 'strategies/a.yaml': TWAP });
});

function files(
  env: Readonly<Record<string, string>> = {},
  useChannels?: (notify: NotifyConfig | undefined) => void,
): StrategiesPort {
  const options = { env, cwd: folder, now: instant(Date.UTC(2026, 11, 1)) };
  const { config, sections } = loadAll('desk.yaml', options);
  return strategyFiles({
    configFile: 'desk.yaml',
    options,
    config,
    sections,
    useChannels,
  });
}

type Read = Exclude<ReturnType<StrategiesPort['read']>, { readonly problems: string }>;
function readOf(port: StrategiesPort): Read {
  const read = port.read();
  if ('problems' in read) throw new Error(read.problems);
  return read;
}
const problem = (says: RegExp): object => ({ problems: expect.stringMatching(says) as string });

describe('the strategies of a running desk', () => {
  it('are read from the current files: enabled, disabled and new', () => {
    const port = files();
    write('strategies/a.yaml', `${TWAP}enabled: false\n`);
    write('strategies/b.yaml', TWAP.replace('id: a', 'id: b'));
    const read = port.read();
    expect(read).toMatchObject({ sources: [{ id: 'b', kind: 'twap' }], off: ['a'], notes: [] });
  });

  it('are not returned if a file is invalid; all problems are reported with their positions', () => {
    const port = files();
    write('strategies/a.yaml', TWAP.replace('side: buy', 'side: bye'));
    write('strategies/b.yaml', 'id: b\nkind: twapp\n');
    expect(port.read()).toEqual(
      problem(/strategies\/a\.yaml:4:7 {2}side[^]*b\.yaml:2:7 {2}kind[^]*2 problems/u),
    );
  });

  it.each([
    ['mode: paper\nstrategy: ./x\n', /unknown setting "strategy"/u],
    ['', /the file is empty/u],
    ['mode: paper\nstrategies: ./nowhere\n', /nowhere cannot be read/u],
    ['mode: [\n', /bracket/u],
    [`mode: paper\nstrategies: [${'x'.repeat(300)}.yaml]\n`, /x\.yaml cannot be read|there is no file/u],
  ])('are not returned if the config cannot be read: %s', (text, why) => {
    const port = files();
    write('desk.yaml', text);
    expect(port.read()).toEqual(problem(why));
  });

  it('are returned with the current limits of the config, and are checked against them', () => {
    const port = files();
    const controls = (text: string): void => {
      configure(`controls: ${text}`);
    };
    controls('{ pairs: [btcusd], max_open_doubts: 1 }');
    expect(port.read()).toMatchObject({
      limits: { openDoubtsMax: 1, pairs: new Set(['btcusd']) },
      notes: [],
    });
    controls('{ pairs: [ethusd] }');
    expect(port.read()).toEqual(problem(/controls\.pairs in the config does not list btcusd/u));
    controls('{ max_order_notional: { amount: "1", currency: eur } }');
    expect(port.read()).toEqual(problem(/must be in the same currency/u));
  });

  it('are checked for feasibility as in validate, under the limits that were read last', async () => {
    const port = files();
    const known = { lives: new Map<string, never>(), now: instant(Date.UTC(2026, 11, 1)) };
    const judged = async (): Promise<readonly string[]> => {
      const faults = await lastValueFrom(toObservable(port.infeasible?.(readOf(port).sources, known) ?? []));
      return faults.map(({ strategy, says }) => `${strategy ?? 'together'}: ${says}`);
    };
    expect(await judged()).toEqual([]);
    configure('controls: { max_executions_per_minute: 1 }');
    write('strategies/a.yaml', TWAP.replace('PT4H', 'PT12M'));
    expect(await judged()).toEqual([
      expect.stringMatching(/^together: the desk would halt .*limit=1 a minute/u),
    ]);
  });

  it('are returned with a note about edited settings that take effect at the next start', () => {
    const port = files();
    configure('controls: { collar_bps: 40, balance_difference: alert }', 'pacing: { quote_share: 0.5 }');
    expect(port.read()).toMatchObject({
      notes: ['the config was edited: controls.balance_difference, pacing take effect at the next start'],
    });
  });

  it('do not change if the config now names another journal and desk', () => {
    const port = files();
    const before = readOf(port);
    configure('journal: sqlite:./other.db', 'desk: other');
    const read = readOf(port);
    expect(JSON.stringify(read.sources)).toBe(JSON.stringify(before.sources));
    expect(read.limits).toEqual(before.limits);
    expect(read.notes).toEqual([
      expect.stringMatching(/^the config was edited: .*desk, journal.* take effect at the next start$/u),
    ]);
  });

  it('are returned with the names of added, removed and changed notification channels', () => {
    const used: unknown[] = [];
    const channel = (name: string, url: string): string =>
      `{ name: ${name}, type: webhook, format: json, url_file: ${url} }`;
    const notify = (...channels: readonly string[]): void => {
      configure(`operate: { listen: "127.0.0.1:0", notify: { channels: [${channels.join(', ')}] } }`);
    };
    const [one, two] = ['one.url', 'two.url'];
    for (const name of [one, two]) write(name, `https://hooks.example/${name}`);
    notify(channel('ops', one), channel('old', one));
    const port = files({}, (now) => used.push(now?.channels.map(({ name }) => name)));
    expect(readOf(port)).toMatchObject({ channels: { changes: [] }, notes: [] });
    notify(channel('ops', two), channel('new', one));
    const changed = readOf(port);
    expect(changed.channels?.changes).toEqual(['new added', 'old removed', 'ops changed']);
    expect(changed.notes).toEqual([]);
    changed.channels?.use();
    expect(used).toEqual([['ops', 'new']]);
    notify(channel('ops', two), channel('new', one));
    expect(readOf(port).channels?.changes).toEqual([]);
    notify(channel('ops', 'no.url'));
    expect(port.read()).toEqual(problem(/there is no such file/u));
  });

  it('are not returned if a live config lacks a required limit', () => {
    const live = aLiveText('base_url: "https://venue.example", token: "${T}"');
    write('desk.yaml', live);
    const port = files({ T: 'a-token' });
    expect(port.read()).toMatchObject({ limits: { sides: new Set(['buy']) }, notes: [] });
    write('desk.yaml', live.replace('  collar_bps: 50\n', ''));
    expect(port.read()).toEqual(problem(/live mode has no default for these limits/u));
  });

  it('are read from the list of an edited config', () => {
    const port = files();
    write('b.yaml', TWAP.replace('id: a', 'id: b'));
    write('desk.yaml', 'mode: paper\nstrategies: [b.yaml]\n');
    expect(port.read()).toMatchObject({ sources: [{ id: 'b' }] });
  });
});

describe('a strategy restored from the journal', () => {
  const begun = () => {
    const [{ id: strategy, kind: type, hash, document } = { id: '', kind: '', hash: '', document: {} }] =
      readOf(files()).sources;
    return { strategy, type, hash, document: JSON.parse(JSON.stringify(document)) as unknown };
  };

  it('is the recorded version, even if its file has changed', () => {
    const life = begun();
    write('strategies/a.yaml', TWAP.replace('48', '24'));
    const revived = reviveStrategy(life);
    expect(revived).toMatchObject({ id: 'a', hash: life.hash });
    expect(revived?.bound.slots(NINE, undefined)).toHaveLength(48);
  });

  it('runs the code that its run started with, even if the module was removed', () => {
    write('strategies/a.yaml', guideCode('dip-buyer.yaml'));
    write('strategies/dip-buyer.ts', guideCode('dip-buyer.ts'));
    const life = begun();
    rmSync(join(folder, 'strategies/dip-buyer.ts'));
    const step = reviveStrategy(life)?.bound.start(NINE, aView());
    expect(step).toMatchObject({ waits: [{ on: 'at', at: NINE + 60_000 }] });
    expect(step?.fault).toBeUndefined();
  });

  it.each([
    ['of an unknown kind', { type: 'nothing' }],
    ['with invalid fields', { document: { id: 'a', kind: 'twap', slices: 'many' } }],
    ['without a document', { document: 'twap' }],
    ['without its code', { type: 'module', document: { id: 'a', kind: 'module', module: './x.ts' } }],
  ])('is not created from a record %s', (_, over) => {
    expect(reviveStrategy({ ...begun(), ...over })).toBeUndefined();
  });
});
