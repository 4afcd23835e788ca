import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aDesk, dataOf, expectCheck } from './support/plan.ts';
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

const planned = async (config: string, over?: string, now = NOW): Promise<Ran> =>
  await aDesk({ strategies: rebalance(over), config }).plan('--json', ...now);
const SPREAD = 'legs: { slices: 2, duration: PT1H }\n';

describe('the plan of a rebalancing', () => {
  it.each<readonly [what: string, orderMax: string, over: string, slots: readonly string[]]>([
    [
      'estimates its trades from the current balances and prices, sells first',
      '100000',
      '',
      ['09:00 sell 1.25 btcusd', '09:00 buy 14 ethusd'],
    ],
    [
      'splits trades above the limit of one order into pieces',
      '20000',
      '',
      ['09:00 sell 1.25 btcusd in pieces', '09:00 buy 14 ethusd in pieces'],
    ],
    [
      'shows the slices of trades that are spread over time',
      '100000',
      SPREAD,
      ['09:00 sell 0.625 btcusd', '09:30 sell 0.625 btcusd', '09:30 buy 7 ethusd', '10:00 buy 7 ethusd'],
    ],
    [
      'decides at the next open time of a schedule',
      '100000',
      "schedule: { cron: '30 12 * * *' }\n",
      ['12:30 sell 1.25 btcusd', '12:30 buy 14 ethusd'],
    ],
  ])('%s', async (_, orderMax, over, expected) => {
    const ran = await planned(limits(orderMax), over);
    expect([ran.code, slots(dataOf(ran))]).toEqual([0, expected]);
  });

  it('says in words what it would trade', async () => {
    const { out } = await aDesk({ strategies: rebalance(), config: limits('100000') }).plan(...NOW);
    expect(out).toContain('with the current balances and prices it trades: sell 1.25 btc, buy 14 eth\n');
  });

  it('is refused if a trade needs more pieces than allowed, but not with the suggested number of slices', async () => {
    const ran = await planned(limits('1000'));
    expectRan(ran, 78);
    const says =
      /above controls\.max_order_notional of 1000 usd.*; fix: legs: \{ slices: 2, duration: … \}, or more; or a larger limit$/u;
    expectCheck(ran, 'limits', ['refused', says]);
    expectRan(await planned(limits('1000'), SPREAD), 0);
  });

  it('is refused if the trades of one day exceed the limit of a day', async () => {
    const ran = await planned(limits('100000', '90000'));
    expectRan(ran, 78);
    expectCheck(ran, 'day', ['refused']);
  });

  it('states the reason if it would not trade, and the missing input if that is unknown', async () => {
    const prices = ['--price', 'btcusd=50000', '--price', 'ethusd=2500'];
    const within = ['--offline', '--holdings', 'usd=25,btc=0.0005,eth=0.02', ...prices];
    const why = expect.stringMatching(/^inside_band: /u) as unknown;
    expect(estimateOf(dataOf(await planned(limits('100000'), '', within)))).toEqual({ slots: [], why });
    const venue = 'mode: dry_run\nvenue: { base_url: "http://127.0.0.1:9", sell_path: /v1/orders/sell }\n';
    const blind = await planned(`${venue}${limits('100000')}`, '', ['--offline']);
    expect(estimateOf(dataOf(blind))).toEqual({ missing: '--offline was given: also give --holdings' });
    expectRan(blind, 0);
  });
});
