import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectWholeJournal } from './support/checks.ts';
import { aDesk } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { twapOf, watched } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import type { Event, Program } from './support/program.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-kill-77c1e0d2';
const CONFIG = ['--config', 'desk.yaml'] as const;
/** Longer than an order can be in transit, and long enough for several slots. */
const QUIET_MS = 2_500;

/** A desk that trades every half second. */
async function aTradingDesk(imports: readonly string[] = []) {
  const seen = watched();
  const venue = await aServedVenue(TOKEN, {}, seen.hooks);
  const strategies = [twapOf({ id: 'btc', slices: 800, everyMs: 500 })];
  const desk = aDesk({ venue, strategies, imports });
  const daemon = desk.run('--json');
  return { seen, venue, desk, daemon, haltFile: join(desk.folder, 'journal.db.halt') };
}

async function orders(venue: Awaited<ReturnType<typeof aServedVenue>>): Promise<number> {
  return (await readTrades(venue)).length;
}

async function stopped(daemon: Program, desk: DeskFolder): Promise<readonly Event[]> {
  daemon.signal('SIGTERM');
  await daemon.ended();
  return await desk.records();
}

describe('a running desk', () => {
  it.each([
    ['tranche halt', async (desk: DeskFolder) => void (await desk.command('halt', ...CONFIG, '--why', 'drill'))],
    ['tranche halt --kill', async (desk: DeskFolder) => void (await desk.command('halt', ...CONFIG, '--kill'))],
    ['SIGUSR2', (_: DeskFolder, daemon: Program) => { daemon.signal('SIGUSR2'); }],
    ['the creation of the halt file', (desk: DeskFolder) => { writeFileSync(join(desk.folder, 'journal.db.halt'), ''); }],
  ] as const)('sends no order after %s', async (_name, trigger) => {
    const { seen, venue, desk, daemon, haltFile } = await aTradingDesk();
    await seen.orders(3);
    await trigger(desk, daemon);
    await daemon.event('control');
    await seen.silence(1_000);
    const before = await orders(venue);
    await sleep(QUIET_MS);
    expect(await orders(venue)).toBe(before);
    expect(existsSync(haltFile)).toBe(true);
    const records = await stopped(daemon, desk);
    expect(records.findLast(({ kind }) => kind === 'control')).toMatchObject({ state: 'halted' });
    expectSameStory(await desk.fills(), await readTrades(venue));
  }); // prettier-ignore

  it('stays halted in the next process after a kill, until it is re-armed', async () => {
    const { seen, venue, desk, daemon, haltFile } = await aTradingDesk();
    await seen.orders(3);
    await desk.command('halt', ...CONFIG, '--kill');
    await stopped(daemon, desk);
    const before = await orders(venue);

    const second = desk.run('--json');
    await second.event('ready');
    await sleep(QUIET_MS);
    expect(await orders(venue)).toBe(before);
    second.signal('SIGTERM');
    await second.ended();

    const third = desk.run('--json', '--rearm', 'the drill is over');
    await third.event('ready');
    await seen.orders(before + 2);
    await stopped(third, desk);
    expect(existsSync(haltFile)).toBe(false);
    expectSameStory(await desk.fills(), await readTrades(venue));
    await expectWholeJournal(desk);
  });

  it('is paused, resumed, halted and re-armed from the command line, and reports its status', async () => {
    const { seen, venue, desk, daemon } = await aTradingDesk();
    await seen.orders(2);
    expect((await desk.command('pause', ...CONFIG, '--why', 'lunch')).code).toBe(0);
    await seen.silence(1_000);
    const before = await orders(venue);
    await sleep(QUIET_MS);
    expect(await orders(venue)).toBe(before);
    expect((await desk.command('status', ...CONFIG)).stdout).toContain('paused');

    expect((await desk.command('resume', ...CONFIG)).code).toBe(0);
    await seen.orders(before + 2);
    expect((await desk.command('pause', ...CONFIG, '--pair', 'btcusd')).code).toBe(0);
    expect((await desk.command('pause', ...CONFIG, '--pair', 'nonsense')).code).toBe(75);
    const status = await desk.command('status', ...CONFIG);
    expect(status.stdout).toContain('tranche resume --pair btcusd');
    expect((await desk.command('resume', ...CONFIG, '--pair', 'btcusd')).code).toBe(0);
    expect((await desk.command('resume', ...CONFIG, '--pair', 'btcusd')).code).toBe(75);

    expect((await desk.command('halt', ...CONFIG, '--why', 'a look')).code).toBe(0);
    expect((await desk.command('resume', ...CONFIG)).code).toBe(75);
    expect((await desk.command('rearm', ...CONFIG, '--why', 'nothing was wrong')).code).toBe(0);
    await seen.orders((await orders(venue)) + 2);
    expect((await desk.command('doubts', ...CONFIG, '--json')).code).toBe(0);
    expect((await desk.command('doubts', 'resolve', 'no-such-id', '--not-executed', '--evidence', 'x', '--by', 'y', '--yes', ...CONFIG)).code).not.toBe(0); // prettier-ignore
    await stopped(daemon, desk);
    expect((await desk.command('status', ...CONFIG)).code).toBe(69);
    expectSameStory(await desk.fills(), await readTrades(venue));
  });

  it('exits at once at an unexpected error, and its next start is halted', async () => {
    const hook = new URL('support/hooks/bug.ts', import.meta.url).href;
    const { venue, desk, daemon, haltFile } = await aTradingDesk([hook]);
    expect(await daemon.ended()).toEqual({ code: 70, signal: null });
    expect(daemon.stderr).toContain('nobody expected this');
    expect(existsSync(haltFile)).toBe(true);

    const next = desk.runWith([], '--json');
    await next.event('ready');
    await sleep(QUIET_MS);
    const records = await stopped(next, desk);
    const control = records.findLast(({ kind }) => kind === 'control');
    expect(control).toMatchObject({ state: 'halted', by: 'tranche' });
    expect(String(control?.['why'])).toContain('bug: TypeError');
    expectSameStory(await desk.fills(), await readTrades(venue));
  });
});
