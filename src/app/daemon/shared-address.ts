import { randomUUID } from 'node:crypto';
import { lastValueFrom } from 'rxjs';
import { SECOND_MS } from '../../core/time.ts';
import type { Observer } from '../../engine/observer.ts';
import type { AddressBudgetPort } from '../../engine/rate-limit/address-budget.ts';
import { PostgresBudget } from '../../journal/postgres/address-budget.ts';
import { PostgresConnections } from '../../journal/postgres/address-connections.ts';
import { readPostgresUrl } from '../../journal/postgres/postgres-url.ts';
import { ServerSession } from '../../journal/postgres/server-session.ts';
import type { FeedConnectionsPort } from '../../venue/socket.ts';
import type { Config } from '../config/config.ts';
import { REQUESTS_PER_TEN_SECONDS } from '../config/desk-settings.ts';
import { systemClock } from './clock.ts';

/** Requests per ten seconds that only orders and doubts may use, because a read of one desk must not delay an order of another. */
const RESERVED = 5;
/** Limits of the feeds. Source: the public documentation of the venue, "WebSocket rate limits". */
const MESSAGES_PER_MINUTE = 40;
const CONNECTIONS = 10;
/** Longest wait for the store; after that, a request waits for the next attempt. */
const TIMEOUT_MS = 5 * SECOND_MS;

/** The limits that the desks behind one network address share. */
export interface SharedAddress {
  readonly budget: AddressBudgetPort;
  readonly connections: FeedConnectionsPort;
  /** Releases everything that this process holds, once its requests have ended. */
  close(): Promise<void>;
}

/** Returns `undefined` if this desk shares its address with no other, as always in paper mode, because each desk has its own embedded venue. */
export function sharedAddressOf(
  { address, journal, mode, desk, pacing }: Config,
  warn: Observer['warn'],
): SharedAddress | undefined {
  if (address === undefined || mode === 'paper') return undefined;
  const { connectionString, shown } = readPostgresUrl(journal);
  const session = new ServerSession({ connectionString, shown, timeoutMs: TIMEOUT_MS });
  const of = { address, holder: `${desk} ${randomUUID()}` };
  const budget = new PostgresBudget(session, {
    ...of,
    kind: 'requests',
    max: REQUESTS_PER_TEN_SECONDS,
    reserved: RESERVED,
    perMs: 10 * SECOND_MS + pacing.guardMs,
    onAway(why) {
      if (why === undefined) warn('the store of the address is reachable again; requests resume');
      else warn('the store of the address is unreachable; requests wait', { address, why });
    },
  });
  const messages = new PostgresBudget(session, {
    ...of,
    kind: 'feed_messages',
    max: MESSAGES_PER_MINUTE,
    perMs: 60 * SECOND_MS + pacing.guardMs,
  });
  const { scheduler } = systemClock;
  return {
    budget,
    connections: new PostgresConnections(session, { ...of, max: CONNECTIONS, messages, scheduler }),
    async close() {
      // Permits that cannot be released become free some seconds later.
      await lastValueFrom(budget.release()).catch(() => undefined);
      session.close();
    },
  };
}
