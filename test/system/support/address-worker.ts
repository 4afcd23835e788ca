import process from 'node:process';
import { defer, from, lastValueFrom } from 'rxjs';
import { systemClock } from '../../../src/app/daemon/clock.ts';
import { RateLimiter } from '../../../src/engine/rate-limit/rate-limiter.ts';
import type { Priority } from '../../../src/engine/rate-limit/rate-limiter.ts';
import { PostgresBudget } from '../../../src/journal/postgres/address-budget.ts';
import { readPostgresUrl } from '../../../src/journal/postgres/postgres-url.ts';
import { ServerSession } from '../../../src/journal/postgres/server-session.ts';

/** A process of the test of a shared address: three desks that always want to send more. Prints how each request ended. */
const [journal = '', baseUrl = '', token = ''] = process.argv.slice(2);
const DESKS = 3;
const EAGER = 8;
const PER_MS = 10_000;
const GUARD_MS = 5;

const { connectionString } = readPostgresUrl(journal);

async function once(limiter: RateLimiter, priority: Priority): Promise<number> {
  const request = defer(() =>
    from(fetch(`${baseUrl}/v1/currency`, { headers: { authorization: `Bearer ${token}` } })),
  );
  const answer = await lastValueFrom(limiter.through({ route: 'read', priority, key: 'a' }, request));
  await answer.arrayBuffer();
  return answer.status;
}

async function goOn(limiter: RateLimiter, priority: Priority): Promise<never> {
  for (;;) {
    const status = await once(limiter, priority);
    process.stdout.write(`${status}\n`);
  }
}

for (let desk = 0; desk < DESKS; desk += 1) {
  const session = new ServerSession({ connectionString, shown: 'the address', timeoutMs: 5_000 });
  const budget = new PostgresBudget(session, {
    address: 'here',
    kind: 'requests',
    holder: `${process.pid} ${desk}`,
    max: 250,
    reserved: 5,
    perMs: PER_MS + GUARD_MS,
  });
  const windows = { quote: undefined, order: undefined, transactions: undefined, read: undefined };
  const all = { max: 250, perMs: PER_MS };
  const limiter = new RateLimiter(
    systemClock,
    { windows: { ...windows, all }, guardMs: GUARD_MS },
    undefined,
    budget,
  );
  for (let i = 0; i < EAGER; i += 1) void goOn(limiter, i === 0 ? 'execute' : 'history');
}
