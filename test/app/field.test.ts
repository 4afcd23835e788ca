import { describe, expect, it, vi } from 'vitest';
import { expectRan, runLine, validated } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder } from '../support/folder.ts';
import { bars } from './support/backtest.ts';
import { NOON } from './support/look.ts';

/** Inputs as they come from the field: what people and their tools write into files and environments. */

const twap = (start: string): string =>
  `id: t1\nkind: twap\npair: btcusd\nside: buy\nstart_time: "${start}"\nduration: PT4H\nslices: 4\ntotal_quantity: { amount: "1.5", currency: btc }\n`;
const recurring = (cron: string): string =>
  `id: c1\nkind: recurring\npair: btcusd\nside: buy\neach_notional: { amount: "1000", currency: usd }\nschedule: { cron: "${cron}" }\n`;

/** Validates one strategy file, with a config or alone. */
const judged = (strategy: string, config?: string, env = {}): Ran =>
  validated(
    aFolder({ 's.yaml': strategy, 'c.yaml': config ?? '' }),
    config === undefined ? { files: ['s.yaml'] } : { config: 'c.yaml' },
    { env, now: NOON },
  );

describe('what is written in the field', () => {
  it.each(['05-06-2027', '05/06/2027 09:00Z', '01-12-2026', 'June-2027', '2027-02-29T09:00:00Z', '2027-04-31T09:00:00Z', '2027-02-29T09:00:00[Europe/London]'])(
    'a date that is day first or does not exist is refused: %s',
    (start) => {
      expect(judged(twap(start))).toMatchObject({ code: 78, err: expect.stringContaining(start) as string });
    },
  ); // prettier-ignore

  it('a calendar of 29 February runs in the next leap year', () => {
    expect(judged(recurring('0 9 29 2 *')).out).toContain('2028-02-29T09:00:00Z');
  });

  it.each([
    ['0 9 13 * 5', 'runs on days of the month 13 and, besides, on weekdays 5'],
    ['0 9 13 * *', 'on a calendar in UTC, next'],
  ])('days of the month and weekdays together mean "or": %s', (cron, said) => {
    expect(judged(recurring(cron)).out).toContain(said);
  });

  it.each(['', 'Nowhere/Else'])('a time zone of the machine that is not known means UTC: TZ=%j', (zone) => {
    vi.stubEnv('TZ', zone);
    expect(judged(twap('2027-06-01T09:00:00Z'))).toMatchObject({ code: 0, err: '' });
  });

  it.each([{}, { DATA: '' }, { DATA: ' ' }])('a variable without a value is refused: %j', (env) => {
    const config = 'mode: paper\njournal: "sqlite:./${DATA}.db"\nstrategies: ./s.yaml\n';
    expect(judged(twap('2027-06-01T09:00:00Z'), config, env)).toMatchObject({
      code: 78,
      err: expect.stringContaining('the environment variable DATA is') as string,
    });
  });

  it.each([
    ['dogeusd', 'usd'],
    ['pepeusd', 'usd'],
    ['maticusdt', 'usdt'],
    ['btccad', 'cad'],
    ['btcbrl', 'brl'],
  ])('a pair with prices trades in a backtest, whatever its currencies: %s', async (pair, quote) => {
    const cwd = aFolder({
      'p.csv': bars(120, (n) => 100 + (n % 7)),
      's.yaml': `id: s1\nkind: twap\npair: ${pair}\nside: buy\nstart_time: "2026-01-05T00:30:00Z"\nduration: PT1H\nslices: 3\ntotal_notional: { amount: "1000", currency: ${quote} }\n`,
    });
    const rates = quote === 'usd' ? [] : ['--data', `${quote}usd=p.csv`];
    const line = ['backtest', 's.yaml', '--data', `${pair}=p.csv`, ...rates, '--holdings', `${quote}=250000`];
    const ran = await runLine(line, { cwd, now: NOON, config: 'config/paper.yaml' });
    expectRan(ran, 0, `249,000 ${quote}`);
  });
});
