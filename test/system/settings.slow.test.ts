import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectWholeJournal } from './support/checks.ts';
import { aDesk } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { twapOf } from './support/drill.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-settings-93b1e7f0';
const USER = /^cli:/u;

const file = (desk: DeskFolder): string => join(desk.folder, 'desk.yaml');
const edit = (desk: DeskFolder, change: (config: Record<string, Record<string, unknown>>) => void): void => {
  const config = JSON.parse(readFileSync(file(desk), 'utf8')) as Record<string, Record<string, unknown>>;
  change(config);
  writeFileSync(file(desk), JSON.stringify(config));
};
const setOrderMax = (desk: DeskFolder, amount: string): void => {
  edit(desk, (config) => {
    config['controls'] = { ...config['controls'], max_order_notional: { amount, currency: 'usd' } };
  });
};

describe('a daemon that is restarted and reloaded with an edited config', () => {
  it('records each change with its author, nothing at an unchanged start, and never the token', async () => {
    const venue = await aServedVenue(TOKEN);
    const desk = aDesk({ venue, strategies: [twapOf({ id: 'btc', slices: 600, everyMs: 2_000 })] });
    const settings = async (): Promise<readonly Record<string, unknown>[]> =>
      (await desk.records()).filter(({ kind }) => kind === 'settings');
    const ran = async (during?: (daemon: ReturnType<DeskFolder['run']>) => Promise<unknown>): Promise<void> => {
      const daemon = desk.run('--json');
      await daemon.event('fill', { withinMs: 60_000 });
      await during?.(daemon);
      daemon.signal('SIGTERM');
      expect(await daemon.ended()).toEqual({ code: 0, signal: null });
    };

    await ran(async (daemon) => {
      setOrderMax(desk, '200000');
      const told = await desk.command('reload', '--config', 'desk.yaml', '--why', 'calm', '--by', 'ann');
      expect(told.stdout).toContain('max_order_notional');
      await daemon.event('reload');
    });
    expect(await settings()).toMatchObject([
      { cause: 'start', by: expect.stringMatching(USER) as unknown },
      { cause: 'reload', by: 'local (ann)', why: 'calm', changes: [{ path: 'controls.max_order_notional', after: '200000' }] },
    ]);

    await ran();
    expect(await settings()).toHaveLength(2);

    setOrderMax(desk, '150000');
    edit(desk, (config) => {
      config['pacing'] = { ...config['pacing'], quote_share: 0.5 };
    });
    await ran();
    expect((await settings()).slice(2)).toMatchObject([
      {
        cause: 'start',
        by: expect.stringMatching(USER) as unknown,
        why: 'changed while the desk was stopped',
        changes: [
          { path: 'controls.max_order_notional', before: '200000', after: '150000' },
          { path: 'pacing.quote_share', before: '1', after: '0.5' },
        ],
      },
    ]);

    const { code, stdout } = await desk.command('journal', 'settings', desk.journal, '--changes');
    expect(code).toBe(0);
    expect(stdout).toContain('reload, by local (ann): calm');
    expect(stdout).toContain('controls.max_order_notional 200000 -> 150000');
    const overseen = await desk.command('report', desk.journal, '--oversight');
    expect(overseen.stderr).toMatch(/orders [1-9]\d* within the limits of their time, 0 beyond, /u);
    const records = await desk.records();
    expect(JSON.stringify(records)).not.toContain(TOKEN);
    await expectWholeJournal(desk);
  }); // prettier-ignore
});
