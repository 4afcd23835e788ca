import { Observable, interval } from 'rxjs';
import type { OutboxPort, OutboxRow } from '../../core/outbox.ts';
import type { StoredRecord } from '../../core/record.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, after } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock, Random } from '../../engine/ports.ts';
import { ChannelQueue, backOffMs } from './channel-queue.ts';
import type { Dirty, Waiting } from './channel-queue.ts';
import { Undelivered } from './channel.ts';
import type { Channel } from './channel.ts';
import { messageOf } from './message.ts';
import type { Message } from './message.ts';
import { noticeOf } from './notice-of-record.ts';
import type { Notice } from './notice.ts';

export interface NotifierOptions {
  readonly desk: string;
  readonly mode: string;
  readonly channels: readonly Channel[];
  readonly outbox: OutboxPort;
  readonly clock: Pick<Clock, 'wall' | 'monotonic' | 'scheduler'>;
  readonly random: Random;
  readonly windowMs: number;
  /** Base address of the dashboard pages. */
  readonly dashboard: string | undefined;
  /** Whether a quote or an order is in flight, which a disk write could delay: writes then wait briefly. Default: never. */
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
/** Maximum number of consecutive ticks that are postponed because of orders, so that a desk that always trades still notifies. */
const POSTPONED_MAX = 3;
/** Maximum lag of the recorded journal position. */
const NOTE_EVERY_MS = 10 * MINUTE_MS;
/** Time without a success after which the failure is reported. */
const FAILING_MS = 10 * MINUTE_MS;
/** Older messages are dropped. */
const AGE_MAX_MS = DAY_MS;
/** Number of attempts for a message that the receiver itself refuses. */
const REFUSALS_MAX = 5;
/** Number of records of earlier processes that are searched for unsent notices. */
const MISSED_MAX = 20_000;

/** A channel and its state. */
interface Lane {
  readonly queue: ChannelQueue;
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
 * Notifies people over channels about records. Notices wait in an outbox that outlives the process, are grouped into
 * messages, and are retried until delivered or a day old: at least once, under a constant key. The notifier delays no
 * order: it accepts records without waiting, and writes the outbox at most once a second.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #lanes: readonly Lane[];
  readonly #dirty: Dirty = { put: new Map(), remove: new Set() };
  #nextId = 1;
  /** Number of the newest processed record. */
  #seen = 0;
  #noted = 0;
  #notedAt: Instant;
  #hasFailed = false;
  /** Number of consecutive ticks that waited for orders. */
  #postponed = 0;
  /** Whether a note is not durable yet. */
  #hasNews = false;
  readonly #notes = new Map<string, string>();

  constructor(options: NotifierOptions) {
    this.#options = options;
    const { channels, windowMs, clock } = options;
    this.#notedAt = clock.wall();
    this.#lanes = channels.map((channel) => ({
      queue: new ChannelQueue(channel, { windowMs, dirty: this.#dirty }),
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
   * Continues where earlier processes stopped: with queued notices, and records that nobody has processed. `head`: the
   * newest record; `read` returns those after a number.
   */
  recover(head: number, read: (after: number) => Iterable<StoredRecord>): void {
    const { rows, notes } = this.#options.outbox.load();
    this.#nextId = Math.max(Number(notes.get('next_id') ?? 1), ...rows.map(({ id }) => id + 1), 1);
    for (const row of rows) {
      const lane = this.#lanes.find(({ queue }) => queue.channel.name === row.channel);
      const notice = readNotice(row);
      if (lane === undefined || notice === undefined) this.#dirty.remove.add(row.id);
      else lane.queue.restore({ row, notice });
    }
    for (const [name, value] of notes) this.#notes.set(name, value);
    const noted = notes.get('seen');
    // A desk with a new channel does not report old records; nor does one whose journal is an older copy.
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
      if (notice !== undefined) this.tell(notice);
    } catch (error) {
      this.#fail('a record could not be turned into a notice', error);
    }
  }

  /** Sends a notice that no record contains. */
  tell(notice: Notice): void {
    const now = this.#options.clock.wall();
    for (const { queue } of this.#lanes) {
      if (!queue.wants(notice)) continue;
      queue.add(notice, { id: this.#nextId, now });
      this.#nextId += 1;
    }
  }

  /** The note under `name`, also of an earlier process. */
  noted(name: string): string | undefined {
    return this.#notes.get(name);
  }

  /** Saves a note for the next process, together with the last deliveries: both become durable, or neither. */
  note(name: string, value: string): void {
    this.#notes.set(name, value);
    this.#hasNews = true;
  }

  /** Delivers due notices while subscribed. Never emits, never errors. */
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
    return this.#lanes.map(({ queue, delivered, failed, dropped, failingSince }) => ({
      channel: queue.channel.name,
      waiting: queue.size,
      delivered,
      failed,
      dropped: dropped + queue.dropped,
      failingSince,
    }));
  }

  #tick(isClosing: boolean): void {
    const { clock } = this.#options;
    const now = clock.wall();
    const begun = this.#lanes.flatMap((lane) => {
      const { queue, sending, nextAt } = lane;
      if (sending !== undefined || (nextAt !== undefined && clock.monotonic() < nextAt)) return [];
      const batch = queue.next(now, isClosing);
      const [first, last] = [batch[0], batch.at(-1)];
      if (first === undefined || last === undefined) return [];
      const key = first.row.message ?? this.#keyOf(queue.channel.name, first.row, last.row);
      queue.begin(batch, key, now);
      return [{ lane, batch, key }];
    });
    // Saved before anything is sent, because a later process must know which rows belong to one message.
    this.#save(isClosing);
    for (const { lane, batch, key } of begun) lane.sending = this.#send(lane, batch, key);
  }

  #keyOf(channel: string, first: OutboxRow, last: OutboxRow): string {
    return `${this.#options.desk}-${channel}-${first.id}-${last.id}-${last.at.toString(36)}`;
  }

  async #send(lane: Lane, batch: readonly Waiting[], key: string): Promise<void> {
    const { desk, mode, dashboard: base, clock } = this.#options;
    const { queue } = lane;
    const at = batch.at(-1)?.row.at ?? clock.wall();
    const { dropped } = queue;
    const message: Message = messageOf(
      batch.map(({ notice }) => notice),
      { key, desk, mode, at, dropped, base },
    );
    try {
      await queue.channel.send(message);
      lane.delivered += 1;
      queue.dropped -= dropped;
      lane.dropped += dropped;
      queue.finish(batch);
      [lane.failures, lane.refusals] = [0, 0];
      [lane.failingSince, lane.nextAt, lane.isToldFailing] = [undefined, undefined, false];
    } catch (error) {
      this.#failed(lane, batch, error);
    } finally {
      lane.sending = undefined;
    }
  }

  #failed(lane: Lane, batch: readonly Waiting[], error: unknown): void {
    const { clock, random, onFailing } = this.#options;
    const { name } = lane.queue.channel;
    const now = clock.wall();
    // Any other error is a defect, and its message may contain anything.
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
    const age = now - (batch[0]?.row.at ?? now);
    if (lane.refusals < REFUSALS_MAX && age < AGE_MAX_MS) return;
    lane.refusals = 0;
    lane.queue.dropped += batch.reduce((sum, { notice }) => sum + 1 + (notice.others ?? 0), 0);
    lane.queue.finish(batch);
    this.#options.warn('a message was dropped: its channel did not accept it', {
      channel: name,
      why,
      notices: batch.length,
    });
  }

  /** Never throws: changes that could not be saved are retried with the next ones. */
  #save(isLast: boolean): void {
    const { put, remove } = this.#dirty;
    const now = this.#options.clock.wall();
    const isLate = this.#seen > this.#noted && (isLast || now - this.#notedAt >= NOTE_EVERY_MS);
    if (put.size === 0 && remove.size === 0 && !isLate && !this.#hasNews && this.#noted !== -1) return;
    if (this.#hasFailed) return;
    try {
      const isSaved = this.#options.outbox.save({
        put: [...put.values()],
        remove: [...remove],
        notes: {
          ...Object.fromEntries(this.#notes),
          seen: String(this.#seen),
          next_id: String(this.#nextId),
        },
      });
      if (!isSaved) return;
      put.clear();
      remove.clear();
      this.#hasNews = false;
      [this.#noted, this.#notedAt] = [this.#seen, now];
    } catch (error) {
      this.#hasFailed = true;
      this.#fail('the outbox can no longer be written: waiting notices are kept in memory only', error);
    }
  }

  #fail(what: string, error: unknown): void {
    this.#options.warn(what, { error });
  }
}

function readNotice({ notice }: OutboxRow): Notice | undefined {
  try {
    return JSON.parse(notice) as Notice; // oxlint-disable-line typescript/no-unsafe-type-assertion -- this program wrote it
  } catch {
    return undefined;
  }
}
