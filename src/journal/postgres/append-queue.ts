import type { Client } from 'pg';
import { exhaustMap, firstValueFrom, interval, timer } from 'rxjs';
import type { SchedulerLike, Subscription } from 'rxjs';
import { FencedOut, OperatorError } from '../../core/errors.ts';
import type { RecordBody } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { Line } from '../proof/chain.ts';
import { RENEW, RENEW_EVERY_S } from './lease.ts';
import type { Lease } from './lease.ts';
import { PostgresFault, factsOf, isTransient } from './postgres-errors.ts';

/** Longest time without the server before the journal gives up and the process ends. Nothing leaves meanwhile: records come first. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 500;
/** Records in one statement. */
const BATCH_MAX = 500;

const OWNED = 'SELECT 1 FROM tranche.desk WHERE desk = $1 AND epoch = $2 FOR SHARE';
const LINES =
  'unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[]) AS line (seq, at, kind, body, hash)';
/** One statement: the row lock keeps a takeover out until the records are committed, and a takeover that came first leaves no owner. */
const INSERT = `WITH owner AS (${OWNED})
  INSERT INTO tranche.record (desk, seq, at, kind, body, hash, epoch)
  SELECT $1, line.seq, line.at, line.kind, line.body, line.hash, $2 FROM owner, ${LINES}`;
const INSERT_MISSING = `${INSERT} ON CONFLICT (desk, seq) DO NOTHING`;
/** How many of the lines stand as they were meant. `$2` is used so that all three statements take the same values. */
const COUNT_EQUAL = `SELECT count(*) FROM tranche.record AS stored
  JOIN ${LINES} ON stored.seq = line.seq AND stored.hash = line.hash WHERE stored.desk = $1 AND $2::bigint >= 0`;

export interface AppendQueueOptions {
  readonly lease: Lease;
  /** For messages. */
  readonly shown: string;
  /** A new connection to the server of the lease, its settings checked. */
  readonly connect: (onEnd: () => void) => Promise<Client>;
  readonly scheduler: SchedulerLike;
  /** Called with the duration of each commit, milliseconds of `now`. */
  readonly commits?: { now(): number; observe(ms: number): void } | undefined;
}

const EVIDENCE = 'INSERT INTO tranche.evidence (desk, epoch, at, bodies) VALUES ($1, $2, $3, $4)';

interface Waiting {
  readonly lines: readonly Line[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes records durable in their order, without blocking. What waits while a statement is under way goes into the next one together.
 *
 * A connection that breaks leaves open whether its statement took effect. The same records are then written again under the same
 * numbers: those that stand with the same hash are ours, and the renewal of the lease in the same transaction makes the server confirm,
 * with its synchronous standby if it has one, everything before it.
 */
export class AppendQueue {
  readonly #options: AppendQueueOptions;
  readonly #waiting: Waiting[] = [];
  #client: Promise<Client> | undefined;
  readonly #renewals: Subscription;
  #isRunning = false;
  #isDoubtful = false;
  #failure: { readonly cause: unknown } | undefined;
  #isClosed = false;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
    this.#renewals = interval(RENEW_EVERY_S * 1000, options.scheduler)
      .pipe(
        exhaustMap(async () => {
          await this.#renew();
        }),
      )
      .subscribe();
  }

  /** Resolves when the lines are durable. Rejects when they may not be: nothing is written any more then. */
  async append(lines: readonly Line[]): Promise<void> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ lines, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Keeps what an owner learnt after it was replaced; what cannot be kept is lost: the account shows what traded. */
  async keepEvidence(bodies: readonly RecordBody[], at: Instant): Promise<void> {
    const { desk, epoch } = this.#options.lease;
    try {
      const client = await this.#connected();
      await client.query(EVIDENCE, [desk, epoch, at, JSON.stringify(bodies)]);
    } catch {
      // The server is away.
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#renewals.unsubscribe();
    this.#drop();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        if (this.#failure !== undefined) throw this.#failure.cause;
        await this.#commit(batch.flatMap(({ lines }) => lines));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#failure ??= { cause: error };
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }

  #nextBatch(): readonly Waiting[] {
    let count = 0;
    let size = 0;
    for (const { lines } of this.#waiting) {
      if (count > 0 && size + lines.length > BATCH_MAX) break;
      size += lines.length;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #commit(lines: readonly Line[]): Promise<void> {
    const { lease, commits } = this.#options;
    const values = [
      lease.desk,
      lease.epoch,
      lines.map(({ seq }) => seq),
      lines.map(({ at }) => at),
      lines.map(({ kind }) => kind),
      lines.map(({ body }) => body),
      lines.map(({ hash }) => hash),
    ];
    const startedAt = commits?.now() ?? 0;
    await this.#withPatience(async (client) => {
      if (this.#isDoubtful) await this.#commitAgain(client, values, lines.length);
      else {
        const { rowCount } = await client.query({ name: 'append', text: INSERT, values });
        if (rowCount !== lines.length) throw new FencedOut(lease.desk);
      }
      this.#isDoubtful = false;
    });
    commits?.observe(commits.now() - startedAt);
  }

  async #commitAgain(client: Client, values: readonly unknown[], count: number): Promise<void> {
    const { lease } = this.#options;
    await client.query('BEGIN');
    const renewed = await client.query(RENEW, [lease.desk, lease.epoch]);
    if (renewed.rowCount !== 1) throw new FencedOut(lease.desk);
    await client.query(INSERT_MISSING, [...values]);
    const { rows } = await client.query<{ count: number }>(COUNT_EQUAL, [...values]);
    if (rows[0]?.count !== count)
      throw new PostgresFault({ code: '23505', message: 'other records stand in the place of ours' });
    await client.query('COMMIT');
  }

  /** Tries until it succeeds, fails for good, or the patience is over. */
  async #withPatience(attempt: (client: Client) => Promise<void>): Promise<void> {
    const { scheduler } = this.#options;
    let isOver = false;
    const patience = timer(PATIENCE_MS, scheduler).subscribe(() => {
      isOver = true;
    });
    try {
      for (;;) {
        try {
          await attempt(await this.#connected());
          return;
        } catch (error) {
          if (error instanceof OperatorError || !isTransient(factsOf(error))) throw error;
          if (this.#isClosed || isOver) throw error;
          this.#isDoubtful = true;
          this.#drop();
          await firstValueFrom(timer(RETRY_MS, scheduler));
        }
      }
    } finally {
      patience.unsubscribe();
    }
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) void endQuietly(client);
  }

  /** One connection for all, made when it is needed. */
  async #connected(): Promise<Client> {
    if (this.#client !== undefined) return await this.#client;
    const connecting = this.#options.connect(() => {
      if (this.#client === connecting) this.#client = undefined;
    });
    this.#client = connecting;
    try {
      return await connecting;
    } catch (error) {
      if (this.#client === connecting) this.#client = undefined;
      throw error;
    }
  }

  /** Between appends, so that the lease outlives a quiet time. A failure shows with the next append. */
  async #renew(): Promise<void> {
    const { lease } = this.#options;
    if (this.#failure !== undefined) return;
    try {
      const client = await this.#connected();
      const { rowCount } = await client.query(RENEW, [lease.desk, lease.epoch]);
      if (rowCount !== 1) this.#failure = { cause: new FencedOut(lease.desk) };
    } catch (error) {
      if (!isTransient(factsOf(error))) this.#failure ??= { cause: error };
    }
  }
}

/** A connection in an unknown state is not used again; what its end says is of no interest. */
async function endQuietly(connecting: Promise<Client>): Promise<void> {
  try {
    const client = await connecting;
    await client.end();
  } catch {
    // It is gone.
  }
}
