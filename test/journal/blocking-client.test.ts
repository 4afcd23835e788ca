import { expect, it, onTestFinished, vi } from 'vitest';
import { BlockingClient } from '../../src/journal/postgres/blocking-client.ts';
import { readPostgresUrl } from '../../src/journal/postgres/postgres-url.ts';
import { describePostgres } from './describe-postgres.ts';

describePostgres('a blocking connection to PostgreSQL', (server) => {
  const aClient = (): BlockingClient => {
    const client = new BlockingClient(readPostgresUrl(server().url('any')).connectionString, 5_000);
    onTestFinished(() => {
      client.close();
    });
    return client;
  };
  const backendOf = (client: BlockingClient): unknown => client.query('SELECT pg_backend_pid()')[0]?.[0];

  it('closes after ten seconds without a query and reopens at the next query', async () => {
    const other = aClient();
    const isConnected = (backend: unknown): boolean =>
      other.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [Number(backend)]).length > 0;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const client = aClient();
    const first = backendOf(client);
    vi.advanceTimersByTime(9_000);
    expect(backendOf(client), 'while it is used').toBe(first);
    vi.advanceTimersByTime(9_000);
    expect(isConnected(first), 'nine seconds after the last question').toBe(true);

    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    await vi.waitFor(() => {
      expect(isConnected(first)).toBe(false);
    }, 10_000);

    expect(backendOf(client)).not.toBe(first);
  });

  it('refuses queries after it was closed', () => {
    const client = aClient();
    backendOf(client);
    client.close();
    expect(() => backendOf(client)).toThrow('the connection is closed');
  });
});
