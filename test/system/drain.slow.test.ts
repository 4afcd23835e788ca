import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { anEvent, mover, twapOf, watched } from './support/drill.ts';
import { expectNoToken, expectWholeJournal, openIntents } from './support/checks.ts';
import { aDesk } from './support/desk.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import { anOlderNode, start } from './support/program.ts';
import { until } from './support/until.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-drain-93b1f6aa';

describe('a daemon that receives a signal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'waits for the responses to its orders, closes its journal and exits with code 0: %s',
    async (signal) => {
      const seen = watched();
      const venue = await aServedVenue(TOKEN, { orderLatencyMs: 2_000 }, seen.hooks);
      // Two strategies on two pairs: two orders are open at the same time.
      const desk = aDesk({
        venue,
        strategies: [twapOf({ id: 'btc', slices: 20, everyMs: 3_000 }), mover('eth')],
      });
      const daemon = desk.run('--json');
      await seen.orders(3);
      daemon.signal(signal);
      expect(await daemon.ended()).toEqual({ code: 0, signal: null });

      const fills = await desk.fills();
      expect(fills).toHaveLength(seen.orderCount());
      expectSameStory(fills, await readTrades(venue));
      await expectWholeJournal(desk);
      expect((await desk.records()).at(-1)).toMatchObject({ kind: 'stopped', why: signal, open_doubts: 0 });
      expect(daemon.stderr).toBe('');
      expect(daemon.events().every(anEvent)).toBe(true);
      expectNoToken(desk);
    },
  );

  it('continues to trade after SIGHUP and reports that nothing has changed', async () => {
    const seen = watched();
    const venue = await aServedVenue(TOKEN, {}, seen.hooks);
    const desk = aDesk({ venue, strategies: [twapOf({ id: 'btc', slices: 20, everyMs: 2_000 })] });
    const daemon = desk.run();
    await seen.orders(1);
    daemon.signal('SIGHUP');
    await daemon.said('SIGHUP: nothing has changed');
    await seen.orders(3);
    daemon.signal('SIGTERM');
    expect(await daemon.ended()).toEqual({ code: 0, signal: null });
  });

  it('exits at once at the second Ctrl-C, and the next start resolves the open order', async () => {
    const seen = watched();
    const venue = await aServedVenue(TOKEN, { orderLatencyMs: 7_000 }, seen.hooks);
    const plan = twapOf({ id: 'btc', slices: 2, everyMs: 20_000 });
    const desk = aDesk({ venue, strategies: [plan] });
    const daemon = desk.run();
    await seen.orders(1);
    daemon.signal('SIGINT');
    await daemon.said('press Ctrl-C again');
    daemon.signal('SIGINT');
    expect(await daemon.ended()).toEqual({ code: 130, signal: null });
    expect(openIntents(await desk.records())).toHaveLength(1);

    expect(await desk.run('--json', '--until-done').ended(120_000)).toEqual({ code: 0, signal: null });
    const fills = await desk.fills();
    expect(fills.map(({ slice }) => slice)).toEqual(['0', '1']);
    expectSameStory(fills, await readTrades(venue));
    await expectWholeJournal(desk);
    expectNoToken(desk);
  });
});

/** A module that is loaded before a daemon: it sends the signal when only the entry point has run. */
function early(signal: NodeJS.Signals, times = 1): string {
  const url = pathToFileURL(join(import.meta.dirname, 'support/hooks/early.ts'));
  url.search = String(new URLSearchParams({ signal, times: String(times) }));
  return url.href;
}

describe('a signal before the daemon handles signals', () => {
  const begun = async (signal: NodeJS.Signals, times = 1) => {
    const seen = watched();
    const venue = await aServedVenue(TOKEN, {}, seen.hooks);
    const desk = aDesk({ venue, strategies: [twapOf({ id: 'btc', slices: 20, everyMs: 1_000 })] });
    return { seen, desk, daemon: desk.runWith([early(signal, times)]) };
  };

  it('is handled later: SIGHUP reloads the strategies, and the desk trades', async () => {
    const { seen, daemon } = await begun('SIGHUP');
    await daemon.said('SIGHUP: nothing has changed');
    await seen.orders(1);
    daemon.signal('SIGTERM');
    expect(await daemon.ended()).toEqual({ code: 0, signal: null });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops the daemon cleanly: %s', async (signal) => {
    const { seen, desk, daemon } = await begun(signal);
    expect(await daemon.ended()).toEqual({ code: 0, signal: null });
    expect((await desk.records()).map(({ kind, why }) => [kind, why])).toEqual([
      ['started', undefined],
      ['settings', 'first settings of this journal'],
      ['stopped', signal],
    ]);
    expect(seen.orderCount()).toBe(0);
    await expectWholeJournal(desk);
  });

  it('halts the desk: SIGUSR2', async () => {
    const { seen, desk, daemon } = await begun('SIGUSR2');
    await daemon.said('The desk is halted');
    daemon.signal('SIGTERM');
    expect(await daemon.ended()).toEqual({ code: 70, signal: null });
    const control = (await desk.records()).findLast(({ kind }) => kind === 'control');
    expect(control).toMatchObject({ state: 'halted', by: 'signal', why: 'SIGUSR2' });
    expect(seen.orderCount()).toBe(0);
  });

  it('ends the daemon at once if SIGINT comes twice', async () => {
    const { seen, desk, daemon } = await begun('SIGINT', 2);
    const { code } = await daemon.ended();
    expect(seen.orderCount()).toBe(0);
    // With nothing in flight, the first signal may end the daemon cleanly before the second one is handled.
    const stopped = code === 0 ? (await desk.records()).at(-1) : undefined;
    expect([code, stopped?.['why']]).toEqual(code === 0 ? [0, 'SIGINT'] : [130, undefined]);
  });
});

/** Whether the process has a handler for SIGHUP (signal 1), according to the system. */
function catchesHangUp(pid: number): boolean {
  const [, caught = '0'] =
    /^SigCgt:\s*([0-9a-f]+)$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${caught}`) & 1n) === 1n;
}

describe('a daemon that is started by an older Node', () => {
  const older = anOlderNode();

  it.skipIf(older === undefined || process.platform !== 'linux')(
    `receives a signal that came before it was ready, and drains on SIGTERM${older === undefined ? ' (skipped: no older Node is on the PATH)' : ''}`,
    async () => {
      const seen = watched();
      const venue = await aServedVenue(TOKEN, { orderLatencyMs: 1_000 }, seen.hooks);
      const desk = aDesk({ venue, strategies: [twapOf({ id: 'btc', slices: 10, everyMs: 2_000 })] });
      const daemon = start(['run', '--config', 'desk.yaml'], {
        cwd: desk.folder,
        env: { TRANCHE_TOKEN: TOKEN },
        node: older ?? 'none',
      });
      await until(
        () => catchesHangUp(daemon.pid),
        () => daemon.lastWords(),
      );
      daemon.signal('SIGHUP');
      await daemon.said('SIGHUP: nothing has changed');
      await seen.orders(2);
      daemon.signal('SIGTERM');
      expect(await daemon.ended()).toEqual({ code: 0, signal: null });
      // Another order may have arrived before the signal.
      expect(await desk.fills()).toHaveLength(seen.orderCount());
      await expectWholeJournal(desk);
    },
  );
});

describe('a second daemon on one journal', () => {
  it('exits with code 75 and names the process that owns the journal, while the first continues to trade', async () => {
    const seen = watched();
    const venue = await aServedVenue(TOKEN, {}, seen.hooks);
    const desk = aDesk({ venue, strategies: [twapOf({ id: 'btc', slices: 200, everyMs: 2_000 })] });
    const first = desk.run('--json');
    await first.event('ready');
    const second = desk.run();
    expect(await second.ended()).toEqual({ code: 75, signal: null });
    expect(second.stderr).toContain(`in use by process ${first.pid}`);

    await seen.orders(seen.orderCount() + 2);
    first.signal('SIGTERM');
    expect(await first.ended()).toEqual({ code: 0, signal: null });
    expect((await desk.records()).filter(({ kind }) => kind === 'started')).toHaveLength(1);
    expectSameStory(await desk.fills(), await readTrades(venue));
    await expectWholeJournal(desk);
    expectNoToken(desk);
  });
});
