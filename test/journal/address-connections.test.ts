import { VirtualTimeScheduler, of } from 'rxjs';
import type { Subscription } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BlockingClient } from '../../src/journal/postgres/blocking-client.ts';
import { PostgresConnections } from '../../src/journal/postgres/address-connections.ts';
import { preparePostgres } from '../../src/journal/postgres/prepare.ts';
import { readPostgresUrl } from '../../src/journal/postgres/postgres-url.ts';
import { blockingSession } from '../../src/journal/postgres/session.ts';
import { noPostgres, startPostgres } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

const missing = noPostgres();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;

/** What a process was told about its connection. */
interface Held {
  readonly heard: string[];
  readonly subscription: Subscription;
}

describe.skipIf(missing !== undefined)(`the connections of an address in PostgreSQL${because}`, () => {
  let server: PostgresServer;
  let client: BlockingClient;
  let addresses = 0;
  beforeAll(async () => {
    server = await startPostgres();
    preparePostgres(server.url('any'));
    client = new BlockingClient(readPostgresUrl(server.url('any')).connectionString, 5_000);
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  /** Processes behind one address with two connections. */
  const anAddress = (
    permits = 2,
  ): {
    readonly address: string;
    readonly scheduler: VirtualTimeScheduler;
    readonly hold: (holder: string) => Held;
  } => {
    const address = `address-${(addresses += 1)}`;
    const scheduler = new VirtualTimeScheduler();
    const messages = { exchange: () => of({ block: 1, permits, retryMs: 0, taken: 0 }) };
    return {
      address,
      scheduler,
      hold(holder) {
        const heard: string[] = [];
        const connections = new PostgresConnections(blockingSession(client), {
          address,
          holder,
          max: 2,
          messages,
          scheduler,
        });
        const subscription = connections.hold().subscribe({
          next: () => heard.push('may connect'),
          error: (error: unknown) => heard.push(error instanceof Error ? error.message : String(error)),
        });
        onTestFinished(() => {
          subscription.unsubscribe();
        });
        return { heard, subscription };
      },
    };
  };
  const pass = (scheduler: VirtualTimeScheduler, ms: number): void => {
    scheduler.maxFrames = scheduler.frame + ms;
    scheduler.flush();
  };
  const end = (address: string): void => {
    client.query("UPDATE tranche.address_connection SET until = '-infinity' WHERE address = $1", [address]);
  };

  it('are given out up to the limit of the venue, and given out again after they are returned', () => {
    const { hold, address } = anAddress();
    const [first, second] = [hold('a'), hold('b')];
    expect([first.heard, second.heard]).toEqual([['may connect'], ['may connect']]);
    expect(hold('c').heard).toEqual([`all 2 connections of the address ${address} are in use`]);
    first.subscription.unsubscribe();
    expect(hold('c').heard).toEqual(['may connect']);
  });

  it('pass to another process after their lease has ended; only the holder that lost one is notified', () => {
    const { hold, address, scheduler } = anAddress();
    const [first, second] = [hold('a'), hold('b')];
    end(address);
    const third = hold('c');
    expect(third.heard).toEqual(['may connect']);
    pass(scheduler, 11_000);
    expect(first.heard).toEqual([
      'may connect',
      `the connection of the address ${address} was lost to another process`,
    ]);
    // No other process has taken its connection, so it keeps it.
    expect(second.heard).toEqual(['may connect']);
    expect(third.heard).toEqual(['may connect']);
  });

  it('are refused to a process if the address connects too often', () => {
    const { hold, address } = anAddress(1);
    expect(hold('a').heard).toEqual([`the feeds of the address ${address} connect too often`]);
  });
});
