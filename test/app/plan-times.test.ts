import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/command.ts';
import { aDesk, dataOf, expectCheck, twap } from './support/plan.ts';

describe('the times of a plan', () => {
  const daily = (cron: string, schedule = ''): string => `id: daily
kind: recurring
pair: btcusd
side: buy
each_notional: { amount: '100', currency: usd }
schedule: { cron: '${cron}', time_zone: Europe/London${schedule} }
`;

  it('show each closed occurrence with the reason', async () => {
    const { plan } = aDesk({ strategies: daily('0 9 * * *', ', calendar: {}') });
    const ran = await plan('--json', '--from', '2026-11-20');
    const [strategy] = dataOf(ran).strategies;
    expect(strategy?.slots.map(({ local }) => local)).toEqual(
      ['20', '23', '24', '25', '26'].map((day) => `2026-11-${day} 09:00:00`),
    );
    expect(strategy?.times).toMatchObject([
      { local: '2026-11-21 09:00:00', closed: 'weekend (saturday)' },
      { local: '2026-11-22 09:00:00', closed: 'weekend (sunday)' },
    ]);
    expectCheck(ran, 'hours', ['note', '2 of its times are closed: weekend 2']);
  });

  it('show the skipped and the repeated hour at a clock change', async () => {
    const { plan } = aDesk({ strategies: daily('30 1 * * *') });
    const spring = await plan('--json', '--from', '2027-03-27', '--days', '3');
    expect(dataOf(spring).strategies[0]?.slots.map(({ local }) => local)).toEqual([
      '2027-03-27 01:30:00',
      '2027-03-28 02:00:00',
      '2027-03-29 01:30:00',
    ]);
    const forward =
      'the clocks of Europe/London go forward 60 minutes at 2027-03-28T01:00:00.000Z: 1 time lies within';
    expectCheck(spring, 'clock_changes', ['note', forward]);
    const autumn = await plan('--json', '--from', '2027-10-30', '--days', '3');
    expect(dataOf(autumn).strategies[0]?.slots).toHaveLength(3);
    const back = /go back 60 minutes at 2027-10-31T01:00:00.000Z: 1 time lies/u;
    expectCheck(autumn, 'clock_changes', ['note', back]);
  });

  it('include a note if the window of a strategy has passed', async () => {
    const { plan } = aDesk({ strategies: twap() });
    const over = await plan('--json', '--from', '2026-11-30');
    expectRan(over, 0);
    const passed =
      /^its window has passed: all of its \d+ slots lie before 2026-11-30.*; fix: a later start_time$/u;
    expectCheck(over, 'window', ['note', passed]);
  });

  it('make up for slots that have passed, and state the number of later ones', async () => {
    const { plan } = aDesk({ strategies: twap() });
    const during = await plan('--from', '2026-11-23T09:20:00Z');
    expectRan(during, 0, '  2 slots before 2026-11-23 09:20:00 UTC have passed\n', '09:20:00  slice 1   0.33333333 btc\n');
    const before = await plan('--from', '2026-11-20', '--days', '2');
    expectRan(before, 0, '  4 slots come after these 2 days\n');
  }); // prettier-ignore

  it('are shown with the reason for a share of the volume, which a plan does not know', async () => {
    const strategies = `id: share
kind: pov
pair: btcusd
side: buy
total_quantity: { amount: '2', currency: btc }
share: '0.05'
interval: PT15M
start_time: '2026-11-23T09:00:00[Europe/London]'
duration: PT1H
`;
    const blind = await aDesk({ strategies }).plan('--json', '--from', '2026-11-23');
    expect([blind.code, blind.out]).toEqual([78, expect.stringContaining('no source reports the volume')]);
    const { plan } = aDesk({ strategies, config: 'venue: { capabilities: { ticker: true } }\n' });
    const ran = await plan('--json', '--from', '2026-11-23');
    expect(ran.code).toBe(0);
    const [strategy] = dataOf(ran).strategies;
    expect([strategy?.slots, strategy?.times.map(({ local, why }) => [local?.slice(11), why?.split(':')[0]])]).toEqual([
      [],
      ['00', '15', '30', '45'].map((minute) => [`09:${minute}:00`, 'no_volume']),
    ]);
  }); // prettier-ignore
});

describe('the input of a plan', () => {
  it('is rejected with the same problems as in validate, as text and as JSON, if a strategy is invalid', async () => {
    const { plan } = aDesk({ strategies: twap('slicess: 3') });
    expectRan(await plan(), 78, 'did you mean "slices"?');
    const data = await plan('--json');
    expect(JSON.parse(data.out)).toMatchObject({ feasible: false, problems: [{ line: 9 }] });
  });

  it('does not include disabled strategies', async () => {
    const { out } = await aDesk({ strategies: twap('enabled: false') }).plan();
    expect(out).not.toContain('one  twap');
  });
});
