import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { written } from '../docs/module-guide.ts';
import { aDesk, aFolder } from './support/desk.ts';
import { finish, start } from './support/program.ts';
import { aServedVenue } from './support/venue.ts';

/** A folder outside of the program's, with the two files of the guide and a paper config; nothing is installed there. */
function aFolderOfOnesOwn(over: Readonly<Record<string, string>>, more: object = {}): string {
  const cwd = aFolder();
  const { folder } = written(over);
  mkdirSync(join(cwd, 'strategies'));
  for (const name of ['dip-buyer.ts', 'dip-buyer.yaml'])
    copyFileSync(join(folder, name), join(cwd, 'strategies', name));
  const config = {
    mode: 'paper',
    journal: 'sqlite:./journal.db',
    operate: { listen: '127.0.0.1:0' },
    strategies: './strategies',
    // A check every second needs a new price more often than twice a minute.
    reference: { max_age: 'PT2S' },
    venue: { simulated: { seed: 'dips', speed: 3600 } },
    ...more,
  };
  writeFileSync(join(cwd, 'desk.yaml'), JSON.stringify(config));
  return cwd;
}

const QUICK = {
  "'10000'": "'1500'",
  "'0.02'": "'0.002'",
  PT1M: 'PT1S',
  // A market this fast may fall three times within a minute.
  'side: buy': 'side: buy\nmax_intents_per_minute: 30',
};

describe('the kernel from the guide', () => {
  it('runs in paper mode from a separate folder until its total has traded', async () => {
    const cwd = aFolderOfOnesOwn(QUICK);
    expect(await finish(['validate', '--config', 'desk.yaml'], { cwd })).toMatchObject({
      code: 0,
      stderr: '',
    });
    const daemon = start(['run', '--until-done', '--json', '--config', 'desk.yaml'], { cwd });
    expect(await daemon.ended(300_000)).toEqual({ code: 0, signal: null });
    expect(daemon.eventsOf('fill').map(({ strategy, amount }) => [strategy, Number(amount)])).toEqual([
      ['dip-buyer', 500],
      ['dip-buyer', 500],
      ['dip-buyer', 500],
    ]);
    expect(daemon.stderr).toBe('');
    const begun = daemon
      .eventsOf('strategy')
      .map(({ document }) => (document as { source: { file: string } }).source.file);
    expect(begun).toEqual(['./dip-buyer.ts']);
    expect(await finish(['journal', 'verify', 'sqlite:./journal.db'], { cwd })).toMatchObject({ code: 0 });
  });

  it('continues in another process and counts earlier trades towards its total', async () => {
    const venue = await aServedVenue('canary-module-7720cc', { speed: 3600, seed: 'dips' });
    const desk = aDesk({ venue, strategies: [] });
    const { folder } = written(QUICK);
    for (const name of ['dip-buyer.ts', 'dip-buyer.yaml'])
      copyFileSync(join(folder, name), join(desk.folder, 'strategies', name));
    const first = desk.run('--json');
    await first.event('fill', { withinMs: 120_000 });
    await first.kill();
    const second = desk.run('--until-done', '--json');
    expect(await second.ended(300_000)).toEqual({ code: 0, signal: null });
    expect((await desk.fills()).map(({ amount }) => Number(amount))).toEqual([500, 500, 500]);
    expect(second.eventsOf('strategy')).toEqual([]);
  });

  it('is paused with an alert to the operator if it wants more than the document allows', async () => {
    const cwd = aFolderOfOnesOwn({ ...QUICK, "each: '500'": "each: '500', more: 'x'" });
    const { code, stderr } = await finish(['validate', '--config', 'desk.yaml'], { cwd });
    expect([code, stderr]).toEqual([78, expect.stringMatching(/dip-buyer\.yaml:\d+:\d+ {2}params[^]*more/u)]);
    const wild = aFolderOfOnesOwn({ ...QUICK, 'side: buy': 'side: sell' });
    const daemon = start(['run', '--config', 'desk.yaml'], { cwd: wild });
    await daemon.said('it wants to buy, and its side is sell');
    await daemon.said('critical: a strategy is paused');
    const { stdout } = await finish(['status', '--config', 'desk.yaml'], { cwd: wild });
    expect(stdout).toContain('(tranche resume --strategy dip-buyer)');
    expect(daemon.hasEnded).toBe(false);
  });
});
