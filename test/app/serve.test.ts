import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/app/config/secret.ts';
import { notReady } from '../../src/app/daemon/readiness.ts';
import { bearersOf, rereadTokens } from '../../src/app/daemon/serve.ts';
import { VenueError } from '../../src/core/errors.ts';
import { MINUTE_MS, monotonic } from '../../src/core/time.ts';
import { authenticatorOf } from '../../src/operate/access.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { aBench, aTwap, started } from '../engine/harness.ts';
import { aFolder } from '../support/folder.ts';

const down = new VenueError({ code: 'connect', applied: 'no', attempt: 'GET /v1/account/transactions' });

describe('the readiness of a desk', () => {
  it('ends with a pause or a halt and returns with a resume', () => {
    const bench = started({ strategies: [aTwap()] }, MINUTE_MS);
    expect(notReady(bench.desk)).toEqual([]);
    bench.tell({ do: 'pause', isReducing: false, why: 'lunch' });
    expect(notReady(bench.desk)).toEqual(['paused: lunch']);
    bench.tell({ do: 'resume', isReducing: false });
    expect(notReady(bench.desk)).toEqual([]);
    bench.tell({ do: 'halt', why: 'smoke' });
    expect(notReady(bench.desk)).toEqual(['halted: smoke']);
  });

  it('ends when the last account read is too old, even without a strategy, and returns with the next read', () => {
    let isDown = false;
    const bench = aBench({
      strategies: [],
      policy: { accountAgeMaxMs: 3 * MINUTE_MS },
      wrap: (venue) => ({
        ...venue,
        transactions: (query) => (isDown ? throwError(() => down) : venue.transactions(query)),
      }),
    });
    bench.start();
    bench.until(10 * MINUTE_MS);
    expect(notReady(bench.desk)).toEqual([]);
    isDown = true;
    bench.until(20 * MINUTE_MS);
    expect(notReady(bench.desk)).toEqual([
      expect.stringMatching(/^the venue has not responded for \d+ s: /u),
      expect.stringMatching(/^the account was last read \d+ s ago; the limit is 180 s$/u),
    ]);
    isDown = false;
    bench.until(25 * MINUTE_MS);
    expect(notReady(bench.desk)).toEqual([]);
  });

  const none = {
    kind: 'error',
    status: 503,
    error: 'quotes temporarily unavailable. please try again later.',
  } as const;
  const notQuoting = [expect.stringContaining('venue is not quoting btcusd')];

  it('ends while the venue does not quote, and returns once no strategy requests quotes', () => {
    const wrap = faultyVenue({ quote: ({ clientId }) => (clientId === undefined ? undefined : none) });
    const bench = started({ strategies: [aTwap('t', { slices: 1, duration: 'PT5M' })], wrap }, 3 * MINUTE_MS);
    expect(notReady(bench.desk)).toEqual(notQuoting);
    bench.until(60 * MINUTE_MS);
    expect([bench.desk.state.slices.size, notReady(bench.desk)]).toEqual([0, []]);
  });

  it('ends if the venue does not even give reference quotes, and returns when it quotes again', () => {
    let isAway = true;
    const wrap = faultyVenue({ quote: () => (isAway ? none : undefined) });
    const bench = started(
      { strategies: [aTwap('t', { slices: 4, duration: 'PT40M' })], wrap },
      5 * MINUTE_MS,
    );
    expect(notReady(bench.desk)).toEqual(notQuoting);
    isAway = false;
    bench.until(8 * MINUTE_MS);
    expect(notReady(bench.desk)).toEqual([]);
  });
});

describe('bearer tokens', () => {
  it('must differ between callers and from the token of the venue, and must not use the reserved name local', () => {
    const file = (name: string, token: string): string => join(aFolder({ [name]: `${token}\n` }), name);
    const ann = {
      name: 'ann',
      role: 'approver',
      kind: 'person',
      file: file('ann', 'a-token-that-is-of-ann'),
    } as const;
    const ben = {
      name: 'ben',
      role: 'viewer',
      kind: 'person',
      file: file('ben', 'a-token-that-is-of-ben'),
    } as const;
    expect(bearersOf([ann, ben]).map(({ name, role }) => [name, role])).toEqual([
      ['ann', 'approver'],
      ['ben', 'viewer'],
    ]);
    const copied = { ...ben, file: file('copy', 'a-token-that-is-of-ann') };
    expect(() => bearersOf([ann, copied])).toThrow(/^operate\.tokens: ann and ben have the same token/u);
    const venue = new Secret('a-token-that-is-of-ben');
    expect(() => bearersOf([ann, ben], venue)).toThrow(/^operate\.tokens: ben has the venue's token/u);
    expect(() => bearersOf([{ ...ann, name: 'Local' }])).toThrow(
      /^operate\.tokens: the name Local is already/u,
    );
  });

  it('are replaced when their files are read again, unless one of them cannot be used', () => {
    const path = join(aFolder({ ann: 'a-token-that-is-of-ann\n' }), 'ann');
    const tokens = [{ name: 'ann', role: 'approver' as const, kind: 'person' as const, file: path }];
    const bearers = bearersOf(tokens);
    const callers = authenticatorOf(bearers, () => monotonic(0));
    const asks = (token: string): string | undefined =>
      callers.caller({ authorization: `Bearer ${token}`, cookie: undefined, address: '::1' })?.name;
    writeFileSync(path, 'short');
    expect(rereadTokens(bearers, tokens)).toMatch(/^operate\.tokens, ann: expected one line of 16/u);
    expect(asks('a-token-that-is-of-ann')).toBe('ann');
    writeFileSync(path, 'another-token-of-ann');
    expect(rereadTokens(bearers, tokens)).toBeUndefined();
    expect([asks('a-token-that-is-of-ann'), asks('another-token-of-ann')]).toEqual([undefined, 'ann']);
  });
});
