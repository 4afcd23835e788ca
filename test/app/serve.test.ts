import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/app/config/secret.ts';
import { notReady } from '../../src/app/daemon/readiness.ts';
import { bearersOf } from '../../src/app/daemon/serve.ts';
import { VenueError } from '../../src/core/errors.ts';
import { MINUTE_MS, after } from '../../src/core/time.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';
import { aFolder } from '../support/folder.ts';

const down = new VenueError({
  code: 'connect',
  applied: 'no',
  attempt: 'GET /v1/account/transactions',
});

describe('the readiness of a desk', () => {
  it('ends with a pause or a halt and returns with a resume', () => {
    const bench = aBench({ strategies: [aTwap()] });
    bench.start();
    bench.clock.run(after(START, MINUTE_MS));
    expect(notReady(bench.desk)).toEqual([]);
    bench.operator$.next({ do: 'pause', isReducing: false, by: 'ann', why: 'lunch' });
    expect(notReady(bench.desk)).toEqual(['paused: lunch']);
    bench.operator$.next({ do: 'resume', isReducing: false, by: 'ann', why: 'back' });
    expect(notReady(bench.desk)).toEqual([]);
    bench.operator$.next({ do: 'halt', by: 'ann', why: 'smoke' });
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
    bench.clock.run(after(START, 10 * MINUTE_MS));
    expect(notReady(bench.desk)).toEqual([]);
    isDown = true;
    bench.clock.run(after(START, 20 * MINUTE_MS));
    expect(notReady(bench.desk)).toEqual([
      expect.stringMatching(/^the venue has not responded for \d+ s: /u),
      expect.stringMatching(/^the account was last read \d+ s ago; the limit is 180 s$/u),
    ]);
    isDown = false;
    bench.clock.run(after(START, 25 * MINUTE_MS));
    expect(notReady(bench.desk)).toEqual([]);
  });

  it('ends while the venue does not quote, and returns once no strategy requests quotes', () => {
    const none = { kind: 'error', status: 503, error: 'quotes temporarily unavailable. please try again later.' } as const;
    const bench = aBench({
      strategies: [aTwap('t', { slices: 1, duration: 'PT5M' })],
      wrap: faultyVenue({ quote: ({ clientId }) => (clientId === undefined ? undefined : none) }),
    });
    bench.start();
    bench.clock.run(after(START, 3 * MINUTE_MS));
    expect(notReady(bench.desk)).toEqual([expect.stringContaining('venue is not quoting btcusd')]);
    bench.clock.run(after(START, 60 * MINUTE_MS));
    expect(bench.desk.state.slices.size).toBe(0);
    expect(notReady(bench.desk)).toEqual([]);
  }); // prettier-ignore

  it('ends if the venue does not even give reference quotes, and returns when it quotes again', () => {
    const none = { kind: 'error', status: 503, error: 'quotes temporarily unavailable. please try again later.' } as const;
    let isAway = true;
    const bench = aBench({
      strategies: [aTwap('t', { slices: 4, duration: 'PT40M' })],
      wrap: faultyVenue({ quote: () => (isAway ? none : undefined) }),
    });
    bench.start();
    bench.clock.run(after(START, 5 * MINUTE_MS));
    expect(notReady(bench.desk)).toEqual([expect.stringContaining('venue is not quoting btcusd')]);
    isAway = false;
    bench.clock.run(after(START, 8 * MINUTE_MS));
    expect(notReady(bench.desk)).toEqual([]);
  }); // prettier-ignore
});

describe('bearer tokens', () => {
  it('must differ between callers and from the token of the venue, and must not use the reserved name local', () => {
    const folder = aFolder();
    const file = (name: string, token: string): string => {
      writeFileSync(join(folder, name), `${token}\n`, { mode: 0o600 });
      return join(folder, name);
    };
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
});
