import { version } from '../../version.ts';

/** Schema of the tables of pg-boss. */
export const QUEUE_SCHEMA = 'tranche_sweep_queue';

/** A chunk that this worker holds until it completes or returns the chunk, or dies. */
export interface HeldChunk {
  readonly sweep: string;
  readonly number: number;
  readonly complete: () => Promise<void>;
  readonly handBack: () => Promise<void>;
  /** Reports that this worker is alive. */
  readonly touch: () => Promise<void>;
}

export interface SweepQueue {
  readonly send: (sweep: string, numbers: readonly number[]) => Promise<void>;
  readonly take: () => Promise<HeldChunk | undefined>;
  readonly close: () => Promise<void>;
}

/** Name of the queue. Each version of the program has its own, so that no worker receives a chunk of another version. */
const QUEUE = `sweep-${version.replaceAll(/[^\w.-]/gu, '-')}`;

/** Time without a report after which a worker counts as dead; the shortest that pg-boss accepts. */
const HEARTBEAT_SECONDS = 10;
export const TOUCH_MS = 3_000;

const settings = {
  schema: QUEUE_SCHEMA,
  application_name: 'tranche sweep',
  max: 2,
  schedule: false,
  // Rebuilding indexes and monitoring vacuum require the owner's rights.
  reindex: false,
  monitorVacuum: false,
};

/** Creates or migrates the tables of the queue, as their owner. */
export async function installQueue(connectionString: string): Promise<void> {
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({ ...settings, connectionString, supervise: false, migrate: true });
  boss.on('error', () => undefined); // `start` rejects
  await boss.start();
  await boss.stop({ graceful: false });
}

/** Opens the queue. @param isWorker whether to detect dead workers and pass their chunks on. */
export async function openQueue(
  connectionString: string,
  { isWorker, failed }: { readonly isWorker: boolean; readonly failed: (error: unknown) => void },
): Promise<SweepQueue> {
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({
    ...settings,
    connectionString,
    migrate: false,
    supervise: isWorker,
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
  });
  boss.on('error', failed);
  await boss.start();
  await boss.createQueue(QUEUE, {
    policy: 'standard',
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: 23 * 3_600,
    // The column `attempts` of the table of chunks limits retries of a chunk that kills its workers.
    retryLimit: 1_000,
    retryDelay: 0,
    deleteAfterSeconds: 3_600,
  });
  return {
    async send(sweep, numbers) {
      await boss.insert(
        QUEUE,
        numbers.map((number) => ({ data: { sweep, number } })),
      );
    },
    async take() {
      const [job] = await boss.fetch<{ sweep: string; number: number }>(QUEUE, { batchSize: 1 });
      if (job === undefined) return undefined;
      return {
        ...job.data,
        async complete() {
          await boss.complete(QUEUE, job.id);
        },
        async handBack() {
          await boss.fail(QUEUE, job.id);
        },
        async touch() {
          await boss.touch(QUEUE, job.id);
        },
      };
    },
    async close() {
      await boss.stop({ graceful: false });
    },
  };
}
