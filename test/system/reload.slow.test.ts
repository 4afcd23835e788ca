import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectWholeJournal } from './support/checks.ts';
import { aDesk } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { mover, twapOf } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-reload-51c7d02e';

const path = (desk: DeskFolder, id: string): string => join(desk.folder, 'strategies', `${id}.yaml`);
const write = (desk: DeskFolder, document: Readonly<Record<string, unknown>>): void => {
  writeFileSync(path(desk, String(document['id'])), JSON.stringify(document));
};
const reloads = async (desk: DeskFolder): Promise<readonly unknown[]> =>
  (await desk.records()).filter(({ kind }) => kind === 'reload');
const long = twapOf({ id: 'btc', slices: 60, everyMs: 2_000 });

describe('a daemon that reloads its strategies', () => {
  it('starts new strategies at SIGHUP, keeps running ones, and reports and records both', async () => {
    const venue = await aServedVenue(TOKEN);
    const desk = aDesk({ venue, strategies: [long] });
    const daemon = desk.run();
    await daemon.said(/btc {2}buy \d/u);
    write(desk, { ...long, limit_price: '90000' });
    write(desk, mover('eth'));
    daemon.signal('SIGHUP');
    await daemon.said('SIGHUP: reloaded:');
    // The last line of the message: the lines may arrive separately.
    await daemon.said(/eth begins \(\w+\)/u);
    expect(daemon.stderr).toMatch(/btc is NOT changed \(\w+ → \w+\): its parent is running/u);
    expect(daemon.stderr).toContain('limit_price: (nothing) → 90000');
    await daemon.said(/eth {2}sell \d/u);
    daemon.signal('SIGTERM');
    expect(await daemon.ended()).toEqual({ code: 0, signal: null });

    expect(await reloads(desk)).toMatchObject([
      { by: 'signal', why: 'SIGHUP', result: 'applied', changes: [{ strategy: 'btc', what: 'kept' }, { strategy: 'eth', what: 'begins' }] },
    ]);
    // The next process continues with the old text.
    const next = desk.run('--json');
    await next.event('fill', { withinMs: 60_000 });
    expect(next.eventsOf('strategy')).toEqual([]);
    next.signal('SIGTERM');
    expect(await next.ended()).toEqual({ code: 0, signal: null });
    expectSameStory(await desk.fills(), await readTrades(venue));
    await expectWholeJournal(desk);
  }); // prettier-ignore

  it('shows the difference for tranche reload --dry-run, and applies it for tranche reload', async () => {
    const venue = await aServedVenue(TOKEN);
    const desk = aDesk({ venue, strategies: [long] });
    const daemon = desk.run('--json');
    await daemon.event('fill');
    write(desk, mover('eth'));
    const dry = await desk.command('reload', '--config', 'desk.yaml', '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([
      0,
      expect.stringMatching(/^a reload would apply these changes:\n {2}eth begins/u),
    ]);
    expect(await reloads(desk)).toEqual([]);
    const told = await desk.command(
      'reload',
      '--config',
      'desk.yaml',
      '--why',
      'eth too',
      '--by',
      'ann',
      '--json',
    );
    expect(JSON.parse(told.stdout)).toMatchObject({
      done: true,
      changes: [{ strategy: 'eth', what: 'begins' }],
    });
    await daemon.event('strategy', { count: 2 });
    expect(await reloads(desk)).toMatchObject([{ by: 'local (ann)', why: 'eth too', result: 'applied' }]);
    writeFileSync(path(desk, 'eth'), 'id: eth\nkind: twapp\n');
    const broken = await desk.command('reload', '--config', 'desk.yaml');
    expect([broken.code, broken.stdout]).toEqual([75, expect.stringContaining('did you mean "twap"?')]);
    const { stdout } = await desk.command('journal', 'show', '--kind', 'reload', desk.journal);
    expect(stdout).toContain('reload applied, requested by local (ann): eth too');
  });
});
