import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { instant } from '../../src/core/time.ts';
import { certainSkew } from '../../src/venue/certain-skew.ts';
import { answering, client, http, systemClock } from './servers.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const DATE = 'Mon, 05 Jan 2026 12:00:00 GMT';

describe('the clock of the venue', () => {
  it.each([
    ['agrees', 0, 0, 0],
    ['agrees within the second to which a date is truncated', 999, 0, 0],
    ['agrees within the round trip', 1_400, 400, 0],
    ['is behind by the difference less one second and the round trip', 2_500, 400, -1_100],
    ['is ahead by the whole difference', -3_000, 400, 3_000],
    ['is ahead by a day', -86_400_000, 10, 86_400_000],
  ])('%s', (_, oursAheadMs, roundTripMs, skewMs) => {
    expect(certainSkew(DATE, { wall: instant(NOON + oursAheadMs), roundTripMs })).toBe(skewMs);
  });

  it.each([
    [undefined],
    ['now'],
    ['2026-01-05T12:00:00Z'],
    [['a', 'b']],
    ['Mon, 99 Jan 2026 12:00:00 GMT'],
    [''],
  ])('is not derived from the date %s', (date) => {
    expect(certainSkew(date, { wall: instant(NOON), roundTripMs: 0 })).toBeUndefined();
  });

  it('is known after a response with a date', async () => {
    const said = new Date(Date.now() + 60_000).toUTCString();
    const dated = await answering(http('200 OK', '[]', `date: ${said}`));
    const venue = client(dated.url, { clock: systemClock });
    expect(venue.skewMs()).toBeUndefined();
    await firstValueFrom(venue.exchange({ method: 'GET', path: '/v1/currency', timeoutMs: 5_000 }));
    expect(venue.skewMs()).toBeGreaterThan(50_000);
    expect(venue.skewMs()).toBeLessThanOrEqual(60_000);
  });
});
