import type { OutboxRow } from '../../core/outbox.ts';
import { MINUTE_MS, SECOND_MS, after } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Channel } from './channel.ts';
import { severityRank } from './notice.ts';
import type { Notice } from './notice.ts';
import { isQuiet } from './quiet.ts';

/** Maximum number of rows of one channel. */
const ROWS_MAX = 500;
/** Maximum number of rows of one kind that wait separately. Further rows only raise the count in the newest of them. */
const SAME_MAX = 20;
/** How long a critical notice waits for related ones. */
const CRITICAL_MS = SECOND_MS;
/** Maximum number of rows of one message. */
const BATCH_MAX = 200;

/** A row with its parsed notice. */
export interface Waiting {
  readonly row: OutboxRow;
  readonly notice: Notice;
}

/** Changes that are not durable yet. */
export interface Dirty {
  readonly put: Map<number, OutboxRow>;
  readonly remove: Set<number>;
}

/**
 * The notices that one channel has not delivered yet. Decides how long each waits, which are sent together, and which
 * are dropped when too many wait.
 */
export class ChannelQueue {
  readonly channel: Channel;
  readonly #windowMs: number;
  readonly #dirty: Dirty;
  readonly #rows = new Map<number, Waiting>();
  /** When a notice of each critical kind was last added to a message. */
  readonly #told = new Map<string, Instant>();
  /** Notices dropped since the last message that reported the number. */
  dropped = 0;

  constructor(channel: Channel, { windowMs, dirty }: { readonly windowMs: number; readonly dirty: Dirty }) {
    this.channel = channel;
    this.#windowMs = windowMs;
    this.#dirty = dirty;
  }

  get size(): number {
    return this.#rows.size;
  }

  restore(waiting: Waiting): void {
    this.#rows.set(waiting.row.id, waiting);
  }

  wants({ topic, severity, about }: Notice): boolean {
    const { name, topics, severity: least } = this.channel;
    if (!topics.has(topic) || about === name) return false;
    return topic !== 'alerts' || severityRank(severity) >= severityRank(least);
  }

  add(notice: Notice, { id, now }: { readonly id: number; readonly now: Instant }): void {
    const same = [...this.#rows.values()].filter(
      ({ row }) => row.kind === notice.kind && row.message === undefined,
    );
    const newest = same.at(-1);
    if (newest !== undefined && same.length >= SAME_MAX) {
      const others = (newest.notice.others ?? 0) + 1 + (notice.others ?? 0);
      this.#put(rowOf({ ...notice, others }, { ...newest.row, at: notice.at }));
      return;
    }
    const { name: channel } = this.channel;
    const { at, severity, kind } = notice;
    this.#put(rowOf(notice, { id, channel, at, severity, kind, due: this.#due(notice, now), notice: '' }));
    if (this.#rows.size > ROWS_MAX) this.#dropOne();
  }

  /**
   * The next message: the rows of a message that was begun before, otherwise all rows that may be sent together; none
   * while none is due.
   */
  next(now: Instant, isClosing: boolean): readonly Waiting[] {
    const all = [...this.#rows.values()];
    const begun = all.find(({ row }) => row.message !== undefined)?.row.message;
    if (begun !== undefined) return all.filter(({ row }) => row.message === begun);
    const onlyCritical = isQuiet(this.channel.quiet, now);
    const may = all.filter(({ row }) => !onlyCritical || row.severity === 'critical');
    // No row is due later than a window from now, unless the clock was set back.
    const isDue = ({ due }: OutboxRow): boolean => due <= now || due > now + this.#windowMs + CRITICAL_MS;
    const first = may.find(({ row }) => isClosing || isDue(row));
    if (first === undefined) return [];
    // A digest is a separate message.
    if (first.notice.topic === 'digest') return [first];
    const horizon = isClosing ? Number.POSITIVE_INFINITY : now + this.#windowMs;
    return may
      .filter(({ row, notice }) => (row.due <= horizon || isDue(row)) && notice.topic !== 'digest')
      .slice(0, BATCH_MAX);
  }

  /** From now on these rows belong to that message, also for a later process. */
  begin(batch: readonly Waiting[], message: string, now: Instant): void {
    for (const { row, notice } of batch) {
      if (row.severity === 'critical') this.#told.set(row.kind, now);
      if (row.message === undefined) this.#put({ row: { ...row, message }, notice });
    }
  }

  finish(batch: readonly Waiting[]): void {
    for (const { row } of batch) this.#remove(row.id);
  }

  #due({ kind, severity }: Notice, now: Instant): Instant {
    if (severity === 'critical') {
      const told = this.#told.get(kind);
      const isRepeat = told !== undefined && now < told + this.#windowMs;
      return isRepeat ? after(told, this.#windowMs) : after(now, CRITICAL_MS);
    }
    // It joins the waiting rows: the window begins with the first of them.
    const window = [...this.#rows.values()].find(({ row }) => row.message === undefined && row.due > now);
    return window?.row.due ?? after(now, this.#windowMs);
  }

  /** Drops the oldest of the least severe notices that are not being sent. */
  #dropOne(): void {
    const [least] = [...this.#rows.values()]
      .filter(({ row }) => row.message === undefined)
      .toSorted((a, b) => severityRank(a.row.severity) - severityRank(b.row.severity) || a.row.id - b.row.id);
    if (least === undefined) return;
    this.dropped += 1 + (least.notice.others ?? 0);
    this.#remove(least.row.id);
  }

  #put(waiting: Waiting): void {
    this.#rows.set(waiting.row.id, waiting);
    this.#dirty.put.set(waiting.row.id, waiting.row);
  }

  #remove(id: number): void {
    this.#rows.delete(id);
    this.#dirty.put.delete(id);
    this.#dirty.remove.add(id);
  }
}

const rowOf = (notice: Notice, row: OutboxRow): Waiting => ({
  notice,
  row: { ...row, notice: JSON.stringify(notice) },
});

/**
 * Wait before the next attempt after `failures` failures, ms: doubles up to five minutes, with jitter (`random`, from 0
 * to 1).
 */
export function backOffMs(failures: number, random: number): number {
  const ms = Math.min(5 * MINUTE_MS, 5 * SECOND_MS * 2 ** Math.min(failures - 1, 10));
  return Math.round(ms * (0.75 + random / 2));
}
