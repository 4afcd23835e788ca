import { Observable, interval } from 'rxjs';
import { severities } from '../../core/alerts.ts';
import type { Severity } from '../../core/alerts.ts';
import type { OutboxPort } from '../../core/outbox.ts';
import type { StoredRecord } from '../../core/record.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, after } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock, Random } from '../../engine/ports.ts';
import { Undelivered, messageOf } from './channel.ts';
import type { Channel } from './channel.ts';
import { noticeOf } from './notice.ts';
import type { Notice } from './notice.ts';

/** Ranks severities, the least first. */
const rank = (severity: Severity): number => severities.indexOf(severity);

export interface NotifierOptions {
  readonly desk: string;
  readonly mode: string;
  readonly outbox: OutboxPort;
  readonly clock: Pick<Clock, 'wall' | 'monotonic' | 'scheduler'>;
  readonly random: Random;
  /** A channel has not delivered for ten minutes; called once until it delivers again. */
  readonly onFailing: (channel: string, why: string) => void;
  /** A problem that no channel can report. */
  readonly warn: (message: string, facts?: Readonly<Record<string, unknown>>) => void;
}

/** State of a channel for metrics and people. */
export interface ChannelFigures extends Readonly<
  Pick<Lane, 'delivered' | 'failed' | 'dropped' | 'failingSince'>
> {
  readonly channel: string;
  readonly waiting: number;
}

/** Time without a success after which the failure is reported. */
const FAILING_MS = 10 * MINUTE_MS;
/** Failures in a row after which a channel rests. */
const FAILURES_MAX = 3;
/** Older messages are dropped. */
const AGE_MAX_MS = DAY_MS;
/** Maximum number of notices of one channel; beyond it, the oldest of the least severe are dropped. */
const WAITING_MAX = 500;
/** Number of records that an earlier process may have written between a notice and the save after it, if it could save none for long. */
const MISSED_MAX = 20_000;

interface Waiting {
  /** Number of the record that it is about. */
  readonly seq: number;
  readonly notice: Notice;
  /** Failed attempts of this process. */
  readonly tries: number;
}

/** A channel and its state. */
class Lane {
  channel: Channel;
  /** Notices that it has not delivered yet, by record. */
  readonly waiting = new Map<number, Waiting>();
  /** Resolves when the channel has accepted or refused the current message. */
  sending: Promise<void> | undefined;
  failures = 0;
  /** Time since which no attempt has succeeded. */
  failingSince: Instant | undefined;
  isToldFailing = false;
  nextAt: Monotonic | undefined;
  delivered = 0;
  failed = 0;
  dropped = 0;

  constructor(channel: Channel) {
    this.channel = channel;
  }
}

/** What the outbox keeps: the newest processed record, and by channel the records whose notices wait. */
interface Saved {
  readonly seen: number;
  readonly waiting: Readonly<Record<string, readonly number[]>>;
}

/**
 * Notifies people over channels about records, a message each. The journal holds the notices; the outbox keeps which of them
 * wait, beyond the end of the process. They are retried until delivered or a day old. Each is delivered at least once, under
 * a constant key. The notifier delays no order, because it accepts records without waiting and writes the outbox at most once
 * a second.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  #lanes: readonly Lane[] = [];
  #dashboard: string | undefined;
  /** Number of the newest processed record. */
  #seen = 0;
  /** Whether the outbox lacks a change of what waits. */
  #isChanged = false;
  #hasFailed = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Replaces the channels. One that keeps its name keeps what waits. `dashboard`: base URL of the dashboard pages. */
  use(channels: readonly Channel[], dashboard: string | undefined): void {
    const former = new Map(this.#lanes.map((lane) => [lane.channel.name, lane]));
    this.#dashboard = dashboard;
    this.#lanes = channels.map((channel) => {
      const lane = former.get(channel.name) ?? new Lane(channel);
      [lane.channel, lane.nextAt] = [channel, undefined];
      return lane;
    });
    this.#isChanged = true;
  }

  /**
   * Continues where earlier processes stopped, with waiting notices and with records that no process has handled.
   * `head`: the newest record; `read` returns those after a number, and before another. If it throws, what earlier processes
   * saved is not replaced.
   */
  recover(head: number, read: (after: number, before?: number) => Iterable<StoredRecord>): void {
    this.#hasFailed = true;
    const text = this.#options.outbox.load();
    const saved = text === undefined ? undefined : (JSON.parse(text) as Saved); // oxlint-disable-line typescript/no-unsafe-type-assertion -- this program wrote it
    const lanesOf = (seq: number): readonly Lane[] =>
      this.#lanes.filter(({ channel }) => saved?.waiting[channel.name]?.includes(seq) === true);
    for (const seq of new Set(Object.values(saved?.waiting ?? {}).flat()))
      for (const stored of read(seq - 1, seq + 1)) this.#tell(stored, lanesOf(seq));
    // A desk with a new channel does not report old records, nor does a desk whose journal is an older copy.
    const seen = Math.max(Math.min(saved?.seen ?? head, head), head - MISSED_MAX);
    for (const stored of Iterator.from(read(seen)).take(head - seen)) this.take(stored);
    this.#seen = head;
    this.#hasFailed = false;
  }

  /** A record became durable. Never waits and never throws. */
  take(stored: StoredRecord): void {
    this.#seen = stored.seq;
    this.#tell(stored, this.#lanes);
  }

  #tell(stored: StoredRecord, lanes: readonly Lane[]): void {
    const { seq, body } = stored;
    try {
      const notice = noticeOf(stored);
      if (notice === undefined || this.#options.clock.wall() - notice.at > AGE_MAX_MS) return;
      for (const lane of lanes) {
        const { name, severity } = lane.channel;
        if (rank(notice.severity) < rank(severity)) continue;
        // A delivered report of its own failure would end the failure.
        if (body.kind === 'alert' && body.alert === 'channel_failing' && body.facts['channel'] === name)
          continue;
        lane.waiting.set(seq, { seq, notice, tries: 0 });
        this.#isChanged = true;
        const [least] = [...lane.waiting.values()].toSorted(leastFirst);
        if (lane.waiting.size > WAITING_MAX && least !== undefined) this.#drop(lane, least);
      }
    } catch (error) {
      this.#options.warn('a record could not be turned into a notice', { error });
    }
  }

  /** Saves and delivers notices, each second, while subscribed. Never emits, never errors. */
  readonly running$ = new Observable<never>(() =>
    interval(SECOND_MS, this.#options.clock.scheduler).subscribe(() => {
      this.#tick(false);
    }),
  );

  /**
   * Makes one last attempt for everything that waits, and saves its progress. Resolves once the attempts have ended; the caller
   * bounds the wait.
   */
  async close(): Promise<void> {
    await Promise.all(this.#lanes.map(async ({ sending }) => await sending));
    this.#tick(true);
    await Promise.all(this.#lanes.map(async ({ sending }) => await sending));
    this.#save();
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
    this.#save();
    for (const lane of this.#lanes) {
      const isDue = isClosing || lane.nextAt === undefined || this.#options.clock.monotonic() >= lane.nextAt;
      if (lane.sending === undefined && lane.waiting.size > 0 && isDue) lane.sending = this.#send(lane);
    }
  }

  /**
   * Sends what waits, the most severe first. After a failure, what was tried least is next, so that a message that the channel
   * refuses does not hold up the others.
   */
  async #send(lane: Lane): Promise<void> {
    const { desk, mode } = this.#options;
    const left = new Set(lane.waiting.values());
    let failures = 0;
    while (failures < FAILURES_MAX && this.#lanes.includes(lane)) {
      const [one] = [...left].toSorted(
        (a, b) => (lane.failures === 0 ? 0 : a.tries - b.tries) || leastFirst(b, a) || a.seq - b.seq,
      );
      if (one === undefined) break;
      left.delete(one);
      const { channel } = lane;
      const key = `${desk}-${channel.name}-${one.seq}-${one.notice.at.toString(36)}`;
      try {
        // oxlint-disable-next-line no-await-in-loop -- one message after the other
        await channel.send(messageOf(one.notice, { key, desk, mode }, this.#dashboard));
      } catch (error) {
        failures += 1;
        if (failures === 1) lane.failures += 1;
        this.#failed(lane, one, error);
        continue;
      }
      lane.delivered += 1;
      this.#end(lane, one);
      failures = lane.failures = 0;
      [lane.failingSince, lane.nextAt, lane.isToldFailing] = [undefined, undefined, false];
    }
    lane.sending = undefined;
  }

  #failed(lane: Lane, one: Waiting, error: unknown): void {
    const { clock, random, onFailing, warn } = this.#options;
    const channel = lane.channel.name;
    const now = clock.wall();
    // Any other error is a bug, and its message may contain anything.
    const why = error instanceof Undelivered ? error.message : 'an error in the channel itself';
    lane.failed += 1;
    lane.waiting.set(one.seq, { ...one, tries: one.tries + 1 });
    lane.failingSince ??= now;
    lane.nextAt = after(clock.monotonic(), backOffMs(lane.failures, random.next()));
    if (now - lane.failingSince >= FAILING_MS && !lane.isToldFailing) {
      lane.isToldFailing = true;
      onFailing(channel, why);
    }
    if (now - one.notice.at < AGE_MAX_MS) return;
    this.#drop(lane, one);
    warn('a message was dropped: its channel did not accept it', { channel, why });
  }

  #drop(lane: Lane, one: Waiting): void {
    lane.dropped += 1;
    this.#end(lane, one);
  }

  #end({ waiting }: Lane, { seq }: Waiting): void {
    waiting.delete(seq);
    this.#isChanged = true;
  }

  /** Never throws. Changes that could not be saved are retried with the next ones. */
  #save(): void {
    if (this.#hasFailed || !this.#isChanged) return;
    const saved: Saved = {
      seen: this.#seen,
      waiting: Object.fromEntries(
        this.#lanes.map(({ channel, waiting }) => [channel.name, [...waiting.keys()]]),
      ),
    };
    try {
      if (this.#options.outbox.save(JSON.stringify(saved))) this.#isChanged = false;
    } catch (error) {
      this.#hasFailed = true;
      this.#options.warn('the outbox can no longer be written: waiting notices are kept in memory only', {
        error,
      });
    }
  }
}

const leastFirst = (a: Waiting, b: Waiting): number => rank(a.notice.severity) - rank(b.notice.severity);

/** Wait before the next attempt after `failures` failures, in ms. It doubles up to five minutes, with jitter (`random` is 0 to 1). */
function backOffMs(failures: number, random: number): number {
  const ms = Math.min(5 * MINUTE_MS, 5 * SECOND_MS * 2 ** (failures - 1));
  return Math.round(ms * (0.75 + random / 2));
}
