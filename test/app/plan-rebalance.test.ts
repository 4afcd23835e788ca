import { describe, expect, it } from 'vitest';
import { aDesk, dataOf, ofCheck } from './support/plan.ts';
import type { Data } from './support/plan.ts';

const rebalance = (over = ''): string => `id: weights
kind: rebalance
target_weights: { btc: '0.25', eth: '0.5', usd: '0.25' }
drift_threshold: '0.02'
${over}`;
/** A portfolio of 150000 usd, which sells 62500 usd of btc and buys 35000 usd of eth. */
const NOW = [
  '--offline', '--holdings', 'usd=10000,btc=2,eth=16', '--price', 'btcusd=50000', '--price', 'ethusd=2500', '--from', '2026-11-24T09:00:00Z',
]; // prettier-ignore
const limits = (order: string, day = '1000000', more = ''): string => `controls:
  max_order_notional: { amount: '${order}', currency: usd }
  max_day_notional: { amount: '${day}', currency: usd }
${more}`;

interface Estimated {
  readonly estimate?: {
    readonly slots?: readonly Readonly<Record<string, unknown>>[];
    readonly missing?: string;
    readonly why?: string;
  };
}
const estimateOf = (data: Data): Estimated['estimate'] =>
  data.strategies.map((one: Data['strategies'][number] & Estimated) => one.estimate)[0];
const slots = (data: Data): readonly string[] =>
  (estimateOf(data)?.slots ?? []).map(
    ({ at, side, quantity, pair, in_pieces: isSplit }) =>
      `${String(at).slice(11, 16)} ${String(side)} ${String(quantity)} ${String(pair)}${isSplit === true ? ' in pieces' : ''}`,
  );

describe('the plan of a rebalancing', () => {
  it('estimates its trades from the current balances and prices, sells first', async () => {
    const { plan } = aDesk({ strategies: rebalance(), config: limits('100000') });
    const ran = await plan('--json', ...NOW);
    expect(ran.code).toBe(0);
    expect(slots(dataOf(ran))).toEqual(['09:00 sell 1.25 btcusd', '09:00 buy 14 ethusd']);
    expect((await plan(...NOW)).out).toContain(
      'with the current balances and prices it trades: sell 1.25 btc, buy 14 eth\n',
    );
  });

  it('splits trades above the limit of one order into pieces and is feasible', async () => {
    const { plan } = aDesk({ strategies: rebalance(), config: limits('20000') });
    const ran = await plan('--json', ...NOW);
    expect([ran.code, slots(dataOf(ran))]).toEqual([
      0,
      ['09:00 sell 1.25 btcusd in pieces', '09:00 buy 14 ethusd in pieces'],
    ]);
  });

  it('shows the slices of trades that are spread over time', async () => {
    const { plan } = aDesk({
      strategies: rebalance('legs: { slices: 2, duration: PT1H }\n'),
      config: limits('100000'),
    });
    expect(slots(dataOf(await plan('--json', ...NOW)))).toEqual([
      '09:00 sell 0.625 btcusd',
      '09:30 sell 0.625 btcusd',
      '09:30 buy 7 ethusd',
      '10:00 buy 7 ethusd',
    ]);
  });

  it('is refused if a trade needs more pieces than allowed', async () => {
    const { plan } = aDesk({ strategies: rebalance(), config: limits('1000') });
    const ran = await plan('--json', ...NOW);
    expect(ran.code).toBe(78);
    expect(ofCheck(ran, 'limits')).toMatchObject([
      {
        verdict: 'refused',
        strategy: 'weights',
        says: expect.stringContaining('above controls.max_order_notional of 1000 usd') as unknown,
        fix: 'legs: { slices: 2, duration: … }, or more; or a larger limit',
      },
    ]);
  });

  it('is feasible with the number of slices that the refusal suggests', async () => {
    const { plan } = aDesk({
      strategies: rebalance('legs: { slices: 2, duration: PT1H }\n'),
      config: limits('1000'),
    });
    expect((await plan('--json', ...NOW)).code).toBe(0);
  });

  it('is refused if the trades of one day exceed the limit of a day', async () => {
    const { plan } = aDesk({ strategies: rebalance(), config: limits('100000', '90000') });
    const ran = await plan('--json', ...NOW);
    expect(ran.code).toBe(78);
    expect(ofCheck(ran, 'day')).toMatchObject([{ verdict: 'refused', strategy: 'weights' }]);
  });

  it('states the reason if it would not trade', async () => {
    const { plan } = aDesk({ strategies: rebalance(), config: limits('100000') });
    const within = ['--offline', '--holdings', 'usd=25,btc=0.0005,eth=0.02', '--price', 'btcusd=50000', '--price', 'ethusd=2500']; // prettier-ignore
    const ran = await plan('--json', ...within);
    expect([ran.code, estimateOf(dataOf(ran))]).toEqual([
      0,
      { slots: [], why: expect.stringMatching(/^inside_band: /u) as unknown },
    ]);
  });

  it('names the missing input if neither balances nor prices are known', async () => {
    const config = `mode: dry_run\nvenue: { base_url: "http://127.0.0.1:9", sell_path: /v1/orders/sell }\n${limits('100000')}`;
    const ran = await aDesk({ strategies: rebalance(), config }).plan('--json', '--offline');
    expect(estimateOf(dataOf(ran))).toEqual({ missing: '--offline was given: also give --holdings' });
    expect(ran.code).toBe(0);
  });

  it('decides at the next open time of a schedule', async () => {
    const scheduled = rebalance("schedule: { cron: '30 12 * * *' }\n");
    const { plan } = aDesk({ strategies: scheduled, config: limits('100000') });
    expect(slots(dataOf(await plan('--json', ...NOW)))).toEqual([
      '12:30 sell 1.25 btcusd',
      '12:30 buy 14 ethusd',
    ]);
  });
});
