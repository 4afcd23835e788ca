import { describe, expect, it } from 'vitest';
import { money } from '../../src/core/money.ts';
import type { RecordBody, SettingsRecord } from '../../src/core/record.ts';
import { settingChanges, settingsHash, withChanges } from '../../src/core/risk/setting-changes.ts';
import type { SettingTexts } from '../../src/core/risk/setting-changes.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import type { Limits } from '../../src/core/risk/limits.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { aPolicy, aTwap } from './harness.ts';
import type { Bench } from './harness.ts';
import { running } from './strategy-files.ts';
import type { Running } from './strategy-files.ts';

const { limits: base } = aPolicy();
const withOrderMax = (max: string): Limits => ({ ...base, orderNotionalMax: money(max) });
const SETTINGS: SettingTexts = {
  desk: 'main',
  'retry.budget': 'PT1M',
  'operate.tokens.ann': 'approver, person',
};

/** A desk that has run for a minute, with files whose limits are those of its start. */
function begun(policy: Partial<DeskSettings> = {}, before?: Bench): Running {
  const settled = { areLimitsKept: true, settings: SETTINGS, startedBy: 'cli:ops', ...policy };
  const desk = running([aTwap('t')], { policy: settled }, before);
  desk.files.limits = policy.limits ?? base;
  desk.bench.run(MINUTE_MS);
  return desk;
}

const settingsIn = (bench: Bench): readonly SettingsRecord[] => bench.bodies('settings');
const startsIn = (bench: Bench) => bench.bodies('started');
const folded = (bench: Bench): SettingTexts =>
  settingsIn(bench).reduce<SettingTexts>((settings, { changes }) => withChanges(settings, changes), {});

function person(bench: Bench, record: Partial<RecordBody & { kind: 'person' }>): void {
  bench.tell({
    do: 'person',
    record: {
      kind: 'person',
      person: 'eve',
      step: 'invited',
      role: 'approver',
      by: 'cli:ops',
      why: 'new',
      ...record,
    },
  });
}

describe('the difference between settings', () => {
  it('compares decimals by value, lists as sets, and names as written', () => {
    const before = {
      'controls.max_order_notional': '1000',
      'controls.pairs': 'btcusd, ethusd',
      'pts.max_credit': '10.50 usd',
      'people.1': 'viewer, 1.0',
      'operate.approvals.for': 'limits, rearm',
      gone: 'x',
    };
    const now = {
      'controls.max_order_notional': '1000.00',
      'controls.pairs': 'ethusd, btcusd',
      'pts.max_credit': '10.5 usd',
      'people.1': 'viewer, 1',
      'operate.approvals.for': 'rearm',
      added: 'y',
    };
    expect(settingChanges(before, now)).toEqual([
      { path: 'added', after: 'y' },
      { path: 'gone', before: 'x' },
      { path: 'operate.approvals.for', before: 'limits, rearm', after: 'rearm' },
      { path: 'people.1', before: 'viewer, 1.0', after: 'viewer, 1' },
    ]);
    expect(withChanges(before, settingChanges(before, now))).toMatchObject({
      added: 'y',
      'pts.max_credit': '10.50 usd',
    });
  });
});

describe('settings in force', () => {
  it('are recorded in full at the first start, and only as a hash at an unchanged start', () => {
    const first = begun();
    const [whole] = settingsIn(first.bench);
    expect(whole).toMatchObject({ cause: 'start', by: 'cli:ops', why: 'first settings of this journal' });
    expect(folded(first.bench)).toMatchObject({
      ...SETTINGS,
      'controls.currency': 'usd',
    });
    const { bench } = begun({}, first.bench);
    expect(settingsIn(bench)).toHaveLength(1);
    expect(startsIn(bench).map(({ by, settings }) => [by, settings])).toEqual([
      ['cli:ops', whole?.hash],
      ['cli:ops', whole?.hash],
    ]);
    expect(settingsHash(folded(bench))).toBe(whole?.hash);
  });

  it('are recorded with the difference and who started the process, if the config changed while it was stopped', () => {
    const { bench: before } = begun({ limits: withOrderMax('900000') });
    const settings = { ...SETTINGS, 'retry.budget': 'PT2M' };
    const { bench } = begun({ limits: withOrderMax('800000'), settings, startedBy: 'cli:mallory' }, before);
    expect(settingsIn(bench).at(-1)).toEqual({
      kind: 'settings',
      cause: 'start',
      changes: [
        { path: 'controls.max_order_notional', before: '900000', after: '800000' },
        { path: 'retry.budget', before: 'PT1M', after: 'PT2M' },
      ],
      hash: settingsHash(folded(bench)),
      by: 'cli:mallory',
      why: 'changed while the desk was stopped',
    });
  });

  it('are recorded right after a reload, with its author', () => {
    const { bench, files, reload } = begun();
    files.limits = withOrderMax('7');
    expect(reload({ token: { name: 'ann', kind: 'person' } }).isDone).toBe(true);
    const kinds = bench.records().map(({ body }) => body.kind);
    expect(kinds.indexOf('settings', kinds.indexOf('reload'))).toBe(kinds.indexOf('reload') + 1);
    expect(settingsIn(bench).at(-1)).toMatchObject({
      cause: 'reload',
      changes: [{ path: 'controls.max_order_notional', after: '7' }],
      by: 'ann',
      token: { name: 'ann', kind: 'person' },
    });
  });

  it('are recorded when people are invited, enrol and are removed, not when they sign in', () => {
    const { bench } = begun();
    const passkey = { id: 'k1', public_key: 'pem', counter: 0 };
    person(bench, {});
    person(bench, { step: 'enrolled', passkey });
    person(bench, { step: 'signed_in', passkey: { id: 'k1', counter: 3 } });
    person(bench, { step: 'removed', why: 'left' });
    const path = 'people.eve';
    expect(settingsIn(bench).slice(1)).toMatchObject([
      { cause: 'person', changes: [{ path, after: 'approver, invited' }], by: 'cli:ops', why: 'new' },
      { changes: [{ path, before: 'approver, invited', after: 'approver' }] },
      { changes: [{ path, before: 'approver' }], why: 'left' },
    ]);
    expect(settingsIn(begun({}, bench).bench)).toHaveLength(4);
  });
});
