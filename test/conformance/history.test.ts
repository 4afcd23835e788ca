import { describe, expect, it } from 'vitest';
import { fieldsOf, listOf, numberOf } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { aNumber, aTimestamp, expectShape } from './support/shapes.ts';
import { expectError, expectGood, leversOf, useVenue } from './support/target.ts';

const HOUR_MS = 3_600_000;
const venue = useVenue();
const path = '/v1/account/balance/history';
const days = (count: number): number => Date.now() - count * 24 * HOUR_MS;

async function points(query: string): Promise<readonly Fields[]> {
  return listOf(fieldsOf(expectGood(await venue.get(`${path}?${query}`), 200).body)['data']);
}
const times = (all: readonly Fields[]): readonly number[] =>
  all.map(({ timestamp }) => Number(numberOf(timestamp)));

describe('GET /v1/account/balance/history', () => {
  it('answers 200 with only data', async () => {
    const { body } = expectGood(await venue.get(`${path}?start_date=${days(10)}`), 200);
    expect(Object.keys(fieldsOf(body))).toStrictEqual(['data']);
  });

  it('writes timestamp of every point as Unix milliseconds', async () => {
    const all = await points(`start_date=${days(10)}`);
    expect(all.length).toBeGreaterThan(0);
    for (const point of all) expectShape(point, 'timestamp', aTimestamp);
  });

  it('writes usd_value of every point as a number', async () => {
    const all = await points(`start_date=${days(10)}`);
    expect(all.length).toBeGreaterThan(0);
    for (const point of all) expectShape(point, 'usd_value', aNumber);
  });

  it('writes no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    const [point = {}] = await points(`start_date=${days(10)}`);
    expect(Object.keys(point).toSorted()).toStrictEqual(['timestamp', 'usd_value']);
  });

  it('returns the value of the account in USD', async (context) => {
    leversOf(venue, context, 'needs an account whose worth is known');
    const [point = {}] = await points(`start_date=${days(10)}`);
    // 1 000 000 usd, 25 btc at 60 000 and 400 eth at 3 000.
    expect(numberOf(point['usd_value'])).toBe('3700000');
  });

  it('requires start_date', async () => {
    expectError(await venue.get(path), [400, 422]);
  });

  it('refuses a start_date that is not a timestamp', async () => {
    expectError(await venue.get(`${path}?start_date=yesterday`), [400, 422]);
  });

  it('refuses an end_date that is not a timestamp', async () => {
    expectError(await venue.get(`${path}?start_date=${days(10)}&end_date=today`), [400, 422]);
  });

  it.each(['60', '7200', 'hour'])('refuses the interval %s', async (interval) => {
    expectError(await venue.get(`${path}?start_date=${days(10)}&interval=${interval}`), [400, 422]);
  });

  it.each(['3600', '86400'])('accepts the interval %s', async (interval) => {
    expect((await venue.get(`${path}?start_date=${days(10)}&interval=${interval}`)).status).toBe(200);
  });

  it('returns no point before start_date', async () => {
    const from = days(3);
    for (const at of times(await points(`start_date=${from}&interval=3600`)))
      expect(at).toBeGreaterThanOrEqual(from);
    expect(await points(`start_date=${Date.now() + 1000 * HOUR_MS}`)).toStrictEqual([]);
  });

  it('returns no point after end_date', async () => {
    const to = days(1);
    const all = times(await points(`start_date=${days(10)}&end_date=${to}&interval=3600`));
    expect(all.filter((at) => at > to)).toStrictEqual([]);
  });

  it('returns one point per hour on request', async (context) => {
    const own = leversOf(venue, context, 'a foreign clock cannot be moved');
    own.pass(3 * HOUR_MS);
    const hourly = times(await points(`start_date=${days(1)}&interval=3600`));
    expect(hourly.length).toBeGreaterThanOrEqual(4);
    expect(hourly.slice(2).map((at, index) => at - (hourly[index + 1] ?? 0))).toStrictEqual(
      hourly.slice(2).map(() => HOUR_MS),
    );
  });

  it('returns one point per day by default', async (context) => {
    const own = leversOf(venue, context, 'a foreign clock cannot be moved');
    own.pass(72 * HOUR_MS);
    const byDefault = times(await points(`start_date=${days(1)}`));
    expect(byDefault).toStrictEqual(times(await points(`start_date=${days(1)}&interval=86400`)));
    expect(byDefault.slice(2).map((at, index) => at - (byDefault[index + 1] ?? 0))).toStrictEqual(
      byDefault.slice(2).map(() => 24 * HOUR_MS),
    );
    expect(byDefault.length).toBeGreaterThanOrEqual(4);
  });
});
