import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { StoreSession } from '../../../src/app/fleet/store-session.ts';
import { readPostgresUrl } from '../../../src/journal/postgres/postgres-url.ts';
import { noPostgres, startPostgres } from '../../journal/postgres-server.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';

const CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tranche'";
const missing = noPostgres();

describe.skipIf(missing !== undefined)(
  `a store session${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    }, 60_000);
    afterAll(async () => {
      await server.stop();
    });

    it('sends one statement at a time and continues after one that fails', async () => {
      const warnings: string[] = [];
      const hear = ({ message }: Error): void => {
        warnings.push(message);
      };
      process.on('warning', hear);
      onTestFinished(() => {
        process.off('warning', hear);
      });
      const session = new StoreSession(readPostgresUrl(server.url('main')).connectionString);
      onTestFinished(async () => {
        await session.close();
      });
      await session.rows('SELECT 1');
      const answers = await Promise.allSettled(
        ['SELECT pg_sleep(0.05)::text, 1', 'SELECT 1 / 0', 'SELECT 2', 'SELECT 3'].map(
          async (text) => await session.rows(text),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ]);
      expect(answers[3]).toMatchObject({ value: [[3]] });
      // Node emits warnings after the code that caused them.
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual([]);
    });

    it('opens no connection after it is closed, not even for a waiting statement', async () => {
      const { connectionString } = readPostgresUrl(server.url('main'));
      const session = new StoreSession(connectionString);
      await session.rows('SELECT 1');
      const answers = Promise.allSettled(
        ['SELECT pg_sleep(0.5)::text', 'SELECT 1'].map(async (text) => await session.rows(text)),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      await session.close();
      expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await expect(session.rows('SELECT 1')).rejects.toThrow('the connection is closed');
      const observer = new StoreSession(connectionString);
      onTestFinished(async () => {
        await observer.close();
      });
      await vi.waitFor(async () => {
        expect(await observer.rows(CONNECTIONS)).toEqual([[1]]);
      });
    });
  },
);
