import type { ServerResponse } from 'node:http';
import type { StoredRecord } from '../core/record.ts';
import { escapeMarks } from '../core/text/escape.ts';
import { isoOf } from '../core/time.ts';

/** Bytes that may wait for a slow client. Beyond that, the desk drops the client, so that the client never delays the desk. */
const WAITING_BYTES_MAX = 256 * 1024;
/** Maximum number of listeners, in total and per name. */
const CLIENTS_MAX = 32;
const CLIENTS_OF_ONE_MAX = 4;
const BEAT_MS = 10_000;
const STATUS_MS = 1_000;
/** Consecutive heartbeats that found unsent bytes, after which a client counts as not reading. */
const STUCK_BEATS_MAX = 3;

/** Data of one event. */
export interface EventRow {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly body: object;
}

export interface EventOptions {
  /** Records after number `after`, oldest first; none at the end of the journal. Omitted: clients cannot resume. */
  readonly past?: ((after: number) => Promise<readonly EventRow[]>) | undefined;
  /** Number of the newest record of the journal. */
  readonly head?: (() => number) | undefined;
  /** Status of the desk, sent once a second while it changes. */
  readonly status?: (() => object) | undefined;
  /** Calls repeatedly; returns the function that stops it. Omitted: no heartbeat and no status. */
  readonly every?: ((ms: number, call: () => void) => () => void) | undefined;
  /** Runs a function later, so that sending delays neither an order nor a response. Omitted: immediately. */
  readonly later?: ((call: () => void) => void) | undefined;
}

export interface ListenerOptions {
  /** Name of the caller. */
  readonly name: string;
  /** Only these kinds of record. */
  readonly kinds?: ReadonlySet<string> | undefined;
  /** Number of the last record that it received; omitted: only new records. */
  readonly after?: number | undefined;
}

interface Listener extends ListenerOptions {
  readonly response: ServerResponse;
  /** Number of the next record that it needs; `undefined`: any. */
  next: number | undefined;
  /** Whether the listener receives published records. Otherwise, it first reads missed records from the journal. */
  isLive: boolean;
  stuckBeats: number;
}

/**
 * Server-sent events, one per record. The desk never waits for a listener. Each listener has a position in the journal.
 * A published record is sent if it is the next one; otherwise, the journal is read, so that no record is lost or
 * repeated.
 */
export class EventStream {
  readonly #options: EventOptions;
  readonly #listeners = new Set<Listener>();
  readonly #ends: readonly (() => void)[];
  #queue: StoredRecord[] = [];
  #isFlushing = false;
  /** Number of the newest record that was published. */
  #last = 0;
  #dropped = 0;
  #status = '';

  constructor(options: EventOptions = {}) {
    this.#options = options;
    const { every } = options;
    this.#ends =
      every === undefined
        ? []
        : [
            every(BEAT_MS, () => {
              this.beat();
            }),
            every(STATUS_MS, () => {
              this.tellStatus();
            }),
          ];
  }

  /** Number of listeners dropped because they did not read. */
  get dropped(): number {
    return this.#dropped;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Why `name` may not listen now, with the status of the response. */
  refusal(name: string): { readonly status: number; readonly why: string } | undefined {
    if (this.#listeners.size >= CLIENTS_MAX) return { status: 503, why: 'too many listeners' };
    const own = [...this.#listeners].filter((listener) => listener.name === name).length;
    return own < CLIENTS_OF_ONE_MAX
      ? undefined
      : { status: 429, why: `${name} has ${own} listeners, the maximum is ${CLIENTS_OF_ONE_MAX}: close one` };
  }

  /** Takes over a response until its client disconnects. */
  add(response: ServerResponse, options: ListenerOptions): void {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.write(': tranche\n\n');
    response.socket?.setKeepAlive(true, BEAT_MS);
    const { after } = options;
    const next = after === undefined ? undefined : after + 1;
    const listener: Listener = { ...options, response, next, isLive: next === undefined, stuckBeats: 0 };
    this.#listeners.add(listener);
    response.on('error', () => this.#listeners.delete(listener));
    response.on('close', () => this.#listeners.delete(listener));
    if (this.#status !== '') response.write(this.#status);
    if (listener.isLive) return;
    this.#refuseFuture(listener);
    void this.#catchUp(listener);
  }

  /** Almost free without listeners. */
  publish(stored: StoredRecord): void {
    this.#last = stored.seq;
    if (this.#listeners.size === 0) return;
    this.#queue.push(stored);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const flush = (): void => {
      this.#isFlushing = false;
      this.#flush();
    };
    if (this.#options.later === undefined) flush();
    else this.#options.later(flush);
  }

  /** Sends a heartbeat to each client, and drops those that have not read for long. */
  beat(): void {
    for (const listener of this.#listeners) {
      listener.stuckBeats = listener.response.writableLength > 0 ? listener.stuckBeats + 1 : 0;
      if (listener.stuckBeats >= STUCK_BEATS_MAX) this.#drop(listener);
      else listener.response.write(': beat\n\n');
    }
  }

  tellStatus(): void {
    const { status } = this.#options;
    if (status === undefined || this.#listeners.size === 0) return;
    const text = `event: status\ndata: ${escapeMarks(JSON.stringify(status()))}\n\n`;
    if (text === this.#status) return;
    this.#status = text;
    for (const listener of this.#listeners) this.#write(listener, text);
  }

  close(): void {
    for (const end of this.#ends) end();
    for (const { response } of this.#listeners) response.destroy();
    this.#listeners.clear();
  }

  #flush(): void {
    const records = this.#queue;
    this.#queue = [];
    const texts = new Map<StoredRecord, string>();
    const textOf = (stored: StoredRecord): string => {
      const known = texts.get(stored) ?? textOfRow(rowOf(stored));
      texts.set(stored, known);
      return known;
    };
    for (const listener of this.#listeners) {
      let text = '';
      for (const stored of records) {
        if (!listener.isLive) break;
        const { next = stored.seq } = listener;
        if (stored.seq < next) continue;
        if (stored.seq > next) {
          listener.isLive = false;
          void this.#catchUp(listener);
          break;
        }
        listener.next = stored.seq + 1;
        if (listener.kinds?.has(stored.body.kind) !== false) text += textOf(stored);
      }
      if (text !== '') this.#write(listener, text);
    }
  }

  /** A position beyond the journal belongs to another journal, or to a lost copy, so the client must read everything again. */
  #refuseFuture(listener: Listener): void {
    const head = this.#options.head?.();
    if (head === undefined || listener.next === undefined || listener.next <= head + 1) return;
    const why = `the journal ends with record ${head}, not with ${listener.next - 1}: read everything again`;
    listener.response.write(`event: reset\nid: ${head}\ndata: ${JSON.stringify({ seq: head, why })}\n\n`);
    listener.next = head + 1;
  }

  /** Sends the records that the listener has missed, piece by piece as fast as it reads, until it is up to date. */
  async #catchUp(listener: Listener): Promise<void> {
    const { past } = this.#options;
    const { response } = listener;
    if (past === undefined) {
      listener.isLive = true;
      listener.next = undefined;
      return;
    }
    let looksInVain = 0;
    try {
      while (this.#listeners.has(listener)) {
        const rows = await past((listener.next ?? 1) - 1);
        if (!this.#listeners.has(listener)) return;
        const last = rows.at(-1);
        if (last === undefined) {
          // In the same tick as the check, so that later records are published after it.
          if ((listener.next ?? 0) > this.#last) {
            listener.isLive = true;
            return;
          }
          // A record was published during the check; the next check finds it.
          if (looksInVain > 0) throw new Error('a published record is not in the journal');
          looksInVain += 1;
          continue;
        }
        looksInVain = 0;
        const wanted = rows.filter(({ kind }) => listener.kinds?.has(kind) !== false);
        listener.next = last.seq + 1;
        if (wanted.length === 0) continue;
        if (!response.write(wanted.map(textOfRow).join(''))) await drained(response);
      }
    } catch {
      // The client reconnects with the number of its last record.
      if (this.#listeners.has(listener)) this.#drop(listener);
    }
  }

  #write(listener: Listener, text: string): void {
    if (listener.response.writableLength > WAITING_BYTES_MAX) this.#drop(listener);
    else listener.response.write(text);
  }

  #drop(listener: Listener): void {
    this.#listeners.delete(listener);
    this.#dropped += 1;
    listener.response.destroy();
  }
}

const rowOf = ({ seq, at, body }: StoredRecord): EventRow => ({ seq, at: isoOf(at), kind: body.kind, body });

const textOfRow = ({ seq, at, kind, body }: EventRow): string =>
  `id: ${seq}\ndata: ${escapeMarks(JSON.stringify({ seq, at, kind, body }))}\n\n`;

/** Resolves when the client has read the waiting bytes or is gone. Heartbeats end a client that does neither. */
const drained = async (response: ServerResponse): Promise<void> => {
  await new Promise<void>((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
};
