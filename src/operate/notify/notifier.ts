import { Observable, interval } from 'rxjs';
import type { OutboxPort, OutboxRow } from '../../core/outbox.ts';
import type { StoredRecord } from '../../core/record.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, after } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock, Random } from '../../engine/ports.ts';
import { Undelivered } from './channel.ts';
import type { Channel } from './channel.ts';
import { messageOf } from './message.ts';
import { noticeOf } from './notice-of-record.ts';
import { severityRank } from './notice.ts';
import type { Notice } from './notice.ts';

export interface NotifierOptions {
  readonly desk: string;
  readonly mode: string;
  readonly channels: readonly Channel[];
  readonly outbox: OutboxPort;
  readonly clock: Pick<Clock, 'wall' | 'monotonic' | 'scheduler'>;
  readonly random: Random;
  /** Base URL of the dashboard pages. */
  readonly dashboard: string | undefined;
  /** Whether a quote or an order is in flight, which a disk write could delay. Writes then wait briefly. Default: never. */
  readonly isBusy?: (() => boolean) | undefined;
  /** A channel has not delivered for ten minutes; called once until it delivers again. */
  readonly onFailing: (channel: string, why: string) => void;
  /** A problem that no channel can report. */
  readonly warn: (message: string, facts?: Readonly<Record<string, unknown>>) => void;
}

/** State of a channel for metrics and people. */
export interface ChannelFigures {
  readonly channel: string;
  readonly waiting: number;
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
  /** Time since which no attempt has succeeded. */
  readonly failingSince: Instant | undefined;
}

/** Interval of checks for due messages; new notices are made durable then, in one transaction. */
const TICK_MS = SECOND_MS;
/** Maximum number of consecutive ticks that wait for orders, so that a desk that always trades still notifies. */
const POSTPONED_MAX = 3;
/** Maximum lag of the recorded journal position. */
const NOTE_EVERY_MS = 10 * MINUTE_MS;
/** Time without a success after which the failure is reported. */
const FAILING_MS = 10 * MINUTE_MS;
/** Older messages are dropped. */
const AGE_MAX_MS = DAY_MS;
/** Number of attempts for a message that the receiver itself refuses. */
const REFUSALS_MAX = 5;
/** Maximum number of notices of one channel; beyond it, the oldest of the least severe are dropped. */
const ROWS_MAX = 500;
/** Number of records of earlier processes that are searched for unsent notices. */
const MISSED_MAX = 20_000;

interface Waiting {
  readonly row: OutboxRow;
  readonly notice: Notice;
}

/** A channel and its state. */
interface Lane {
  readonly channel: Channel;
  /** Notices that it has not delivered yet, by id. */
  readonly waiting: Map<number, Waiting>;
  /** Resolves when the channel has accepted or refused the current message. */
  sending: Promise<void> | undefined;
  failures: number;
  refusals: number;
  failingSince: Instant | undefined;
  isToldFailing: boolean;
  nextAt: Monotonic | undefined;
  delivered: number;
  failed: number;
  dropped: number;
}

/**
 * Notifies people over channels about records, a message each. Notices wait in an outbox that outlives the process, and are
 * retried until delivered or a day old. Each is delivered at least once, under a constant key. The notifier delays no
 * order, because it accepts records without waiting and writes the outbox at most once a second.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #lanes: readonly Lane[];
  /** Changes that are not durable yet. */
  readonly #put = new Map<number, OutboxRow>();
  readonly #remove = new Set<number>();
  #nextId = 1;
  /** Number of the newest processed record. */
  #seen = 0;
  #noted = 0;
  #notedAt: Instant;
  #hasFailed = false;
  /** Number of consecutive ticks that waited for orders. */
  #postponed = 0;

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#notedAt = options.clock.wall();
    this.#lanes = options.channels.map((channel) => ({
      channel,
      waiting: new Map(),
      sending: undefined,
      failures: 0,
      refusals: 0,
      failingSince: undefined,
      isToldFailing: false,
      nextAt: undefined,
      delivered: 0,
      failed: 0,
      dropped: 0,
    }));
  }

  /**
   * Continues where earlier processes stopped, with queued notices and with records that no process has handled.
   * `head`: the newest record; `read` returns those after a number.
   */
  recover(head: number, read: (after: number) => Iterable<StoredRecord>): void {
    const { rows, notes } = this.#options.outbox.load();
    this.#nextId = Math.max(Number(notes.get('next_id') ?? 1), ...rows.map(({ id }) => id + 1), 1);
    for (const row of rows) {
      const lane = this.#lanes.find(({ channel }) => channel.name === row.channel);
      const notice = readNotice(row);
      if (lane === undefined || notice === undefined) this.#remove.add(row.id);
      else lane.waiting.set(row.id, { row, notice });
    }
    const noted = notes.get('seen');
    // A desk with a new channel does not report old records, nor does a desk whose journal is an older copy.
    this.#seen = noted === undefined ? head : Math.min(Number(noted), head);
    this.#noted = noted === undefined ? -1 : this.#seen;
    const oldest = this.#options.clock.wall() - AGE_MAX_MS;
    if (this.#seen < head)
      for (const stored of read(Math.max(this.#seen, head - MISSED_MAX)))
        if (stored.at >= oldest) this.take(stored);
    this.#seen = head;
  }

  /** A record became durable. Never waits and never throws. */
  take(stored: StoredRecord): void {
    this.#seen = stored.seq;
    try {
      const notice = noticeOf(stored);
      if (notice !== undefined) this.#tell(notice);
    } catch (error) {
      this.#options.warn('a record could not be turned into a notice', { error });
    }
  }

  #tell(notice: Notice): void {
    for (const lane of this.#lanes) {
      const { name, severity } = lane.channel;
      if (severityRank(notice.severity) < severityRank(severity) || notice.about === name) continue;
      const row = { id: this.#nextId++, channel: name, at: notice.at, notice: JSON.stringify(notice) };
      lane.waiting.set(row.id, { row, notice });
      this.#put.set(row.id, row);
      const [least] = [...lane.waiting.values()].toSorted(leastFirst);
      if (lane.waiting.size <= ROWS_MAX || least === undefined) continue;
      lane.dropped += 1;
      this.#end(lane, least);
    }
  }

  /** Delivers notices while subscribed. Never emits, never errors. */
  readonly running$ = new Observable<never>(() =>
    interval(TICK_MS, this.#options.clock.scheduler).subscribe(() => {
      if (this.#postponed < POSTPONED_MAX && this.#options.isBusy?.() === true) {
        this.#postponed += 1;
        return;
      }
      this.#postponed = 0;
      this.#tick(false);
    }),
  );

  /**
   * Makes one last attempt for everything queued, and records its progress. Resolves once the attempts have ended; the caller bounds the
   * wait.
   */
  async close(): Promise<void> {
    await Promise.all(this.#lanes.map(async ({ sending }) => await sending));
    this.#tick(true);
    await Promise.all(this.#lanes.map(async ({ sending }) => await sending));
    this.#save(true);
  }

  figures(): readonly ChannelFigures[] {
    return this.#lanes.map(({ channel, waiting, delivered, failed, dropped, failingSince }) => ({
      channel: channel.name,
      waiting: waiting.size,
      delivered,
      failed,
      dropped,
      failingSince,
    }));
  }

  #tick(isClosing: boolean): void {
    const { clock } = this.#options;
    // Saved before anything is sent, because a later process must not give the same key to another notice.
    this.#save(isClosing);
    for (const lane of this.#lanes) {
      const isDue = isClosing || lane.nextAt === undefined || clock.monotonic() >= lane.nextAt;
      if (lane.sending === undefined && lane.waiting.size > 0 && isDue) lane.sending = this.#send(lane);
    }
  }

  /** Sends what waits, the most severe first, until the channel fails. */
  async #send(lane: Lane): Promise<void> {
    const { desk, mode, dashboard: base } = this.#options;
    const { channel, waiting } = lane;
    try {
      for (const one of [...waiting.values()].toSorted((a, b) => leastFirst(b, a) || a.row.id - b.row.id)) {
        const key = `${desk}-${channel.name}-${one.row.id}-${one.row.at.toString(36)}`;
        try {
          // oxlint-disable-next-line no-await-in-loop -- one message after the other
          await channel.send(messageOf(one.notice, { key, desk, mode, base }));
        } catch (error) {
          this.#failed(lane, one, error);
          return;
        }
        lane.delivered += 1;
        this.#end(lane, one);
        [lane.failures, lane.refusals] = [0, 0];
        [lane.failingSince, lane.nextAt, lane.isToldFailing] = [undefined, undefined, false];
      }
    } finally {
      lane.sending = undefined;
    }
  }

  #failed(lane: Lane, one: Waiting, error: unknown): void {
    const { clock, random, onFailing } = this.#options;
    const { name } = lane.channel;
    const now = clock.wall();
    // Any other error is a bug, and its message may contain anything.
    const why = error instanceof Undelivered ? error.message : 'an error in the channel itself';
    const { isRefused, waitMs = 0 } = error instanceof Undelivered ? error : { isRefused: true };
    lane.failed += 1;
    lane.failures += 1;
    lane.refusals = isRefused ? lane.refusals + 1 : 0;
    lane.failingSince ??= now;
    lane.nextAt = after(clock.monotonic(), Math.max(waitMs, backOffMs(lane.failures, random.next())));
    if (now - lane.failingSince >= FAILING_MS && !lane.isToldFailing) {
      lane.isToldFailing = true;
      onFailing(name, why);
    }
    if (lane.refusals < REFUSALS_MAX && now - one.row.at < AGE_MAX_MS) return;
    lane.refusals = 0;
    lane.dropped += 1;
    this.#end(lane, one);
    this.#options.warn('a message was dropped: its channel did not accept it', { channel: name, why });
  }

  #end({ waiting }: Lane, { row }: Waiting): void {
    waiting.delete(row.id);
    this.#put.delete(row.id);
    this.#remove.add(row.id);
  }

  /** Never throws. Changes that could not be saved are retried with the next ones. */
  #save(isLast: boolean): void {
    const now = this.#options.clock.wall();
    const isLate = this.#seen > this.#noted && (isLast || now - this.#notedAt >= NOTE_EVERY_MS);
    if (this.#put.size === 0 && this.#remove.size === 0 && !isLate && this.#noted !== -1) return;
    if (this.#hasFailed) return;
    try {
      const isSaved = this.#options.outbox.save({
        put: [...this.#put.values()],
        remove: [...this.#remove],
        notes: { seen: String(this.#seen), next_id: String(this.#nextId) },
      });
      if (!isSaved) return;
      this.#put.clear();
      this.#remove.clear();
      [this.#noted, this.#notedAt] = [this.#seen, now];
    } catch (error) {
      this.#hasFailed = true;
      this.#options.warn('the outbox can no longer be written: waiting notices are kept in memory only', {
        error,
      });
    }
  }
}

const leastFirst = (a: Waiting, b: Waiting): number =>
  severityRank(a.notice.severity) - severityRank(b.notice.severity);

function readNotice({ notice }: OutboxRow): Notice | undefined {
  try {
    return JSON.parse(notice) as Notice; // oxlint-disable-line typescript/no-unsafe-type-assertion -- this program wrote it
  } catch {
    return undefined;
  }
}

/**
 * Wait before the next attempt after `failures` failures, in ms. It doubles up to five minutes, with jitter (`random`,
 * from 0 to 1).
 */
export function backOffMs(failures: number, random: number): number {
  const ms = Math.min(5 * MINUTE_MS, 5 * SECOND_MS * 2 ** Math.min(failures - 1, 10));
  return Math.round(ms * (0.75 + random / 2));
}
