import { describe, expect, it } from 'vitest';
import { noPostgres } from '../journal/postgres-server.ts';
import { aFleet, killOwner } from './support/fleet.ts';
import { jsonLines } from './support/program.ts';
import { until } from './support/until.ts';

const missing = noPostgres();

describe.skipIf(missing !== undefined)(
  `limits of the firm over the desks of a fleet${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('reject invalid values with an explanation and set nothing', async () => {
      const fleet = await aFleet(['a']);
      for (const [args, problem] of [
        [['--max-day-notional', '5000'], /give an amount and its currency/u],
        [['--max-day-notional', '-5 USD'], /give a plain decimal number above 0/u],
        [['--max-open-doubts', '0'], /give a whole number above 0/u],
        [['--max-position', 'btc'], /give a currency and an amount/u],
        [['--max-position', 'btc=1', '--max-position', 'BTC=2'], /btc already has a limit/u],
        [['--mode', 'real', '--max-open-doubts', '1'], /give live, dry_run, paper/u],
      ] as const) {
        const { code, stderr } = await fleet.tried('limits', ...args);
        expect(code).toBe(64);
        expect(stderr).toMatch(problem);
      }
      expect((await fleet.command('limits')).stdout).toMatch(/the firm has no limits/u);
    });

    it('apply to desks that trade together, and to the next owner of a desk whose machine has died', async () => {
      const fleet = await aFleet(['a', 'b']);
      // A paper limit that would refuse everything: live desks do not see it.
      await fleet.command('limits', '--mode', 'paper', '--max-day-notional', '0.01 USD');
      await fleet.command('limits', '--max-position', 'btc=0.000001', '--why', 'nothing yet', '--by', 'ann');
      const one = fleet.daemon('one');
      await fleet.tradesAt(['a', 'b'], one);
      const refusals = async (desk: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
        (await fleet.records(desk, 'attempt')).filter(({ reason }) => reason === 'firm_limit');
      for (const desk of ['a', 'b']) {
        await until(
          () =>
            one
              .eventsOf('alert')
              .some((event) => event['alert'] === 'limit_refused' && event['desk'] === desk),
          () => `desk ${desk} was refused nothing: ${one.lastWords()}`,
        );
        const [first] = await refusals(desk);
        expect(first).toMatchObject({ result: 'discarded' });
        expect(first?.['detail']).toMatch(/^position of the firm in btc: limit=0\.000001 value=/u);
      }
      expect(fleet.seen.orderCount()).toBe(0);

      // With other limits, both desks trade.
      await fleet.command('limits', '--max-day-notional', '100000000 USD', '--max-open-doubts', '5');
      await fleet.seen.orders(4);
      const owners = (await fleet.desksOf('one')).map(({ owner }) => owner);
      one.signal('SIGKILL');
      for (const owner of owners) killOwner(owner);
      await one.ended();
      const two = fleet.daemon('two');
      await fleet.tradesAt(['a', 'b'], two);
      const before = fleet.seen.orderCount();
      await fleet.seen.orders(before + 3);
      two.signal('SIGTERM');
      await two.ended();
      await fleet.noLeaseIsLeft();
      await fleet.everyOrderOnce();
      // The limits count exactly what the desks traded.
      const [{ limits } = { limits: [] }] = jsonLines((await fleet.command('limits', '--json')).stdout);
      const fills = [...(await fleet.records('a', 'fill')), ...(await fleet.records('b', 'fill'))];
      const total = fills.reduce((sum, { quantity }) => sum + Number(quantity), 0);
      const live = (limits as readonly { mode: string; used: { positions: Record<string, string> } }[]).find(
        ({ mode }) => mode === 'live',
      );
      expect(Number(live?.used.positions['btc'])).toBeCloseTo(total, 10);
      expect((await fleet.command('status')).stdout).toMatch(/day notional {2}[\d,.]+ of 100,000,000 usd/u);
    });
  },
);
