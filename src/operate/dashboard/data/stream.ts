import { signal } from '@preact/signals';
import { isSignedOut } from './request.ts';
import { eventReader } from './event-text.ts';
import { fromJson } from './json.ts';
import { now } from './clock.ts';
import type { JournalRecord } from './shapes.ts';

/** `lost`: no connection, so the displayed data ages. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
/** When something last arrived from the desk, on the clock of `now`; a heartbeat counts. */
export const heardAt = signal<number | undefined>(undefined);
/** Seconds since the desk read its account, as it reports. */
export const dataAge = signal<number | undefined>(undefined);
/** The newest record received. */
export const lastSeq = signal(0);

/** After this long without a byte, a connection counts as dead: a heartbeat comes every 10 s. */
const SILENCE_MS = 25_000;
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000] as const;

interface Listener {
  /** Each record exactly once, in order, without a gap. */
  readonly onRecord: (record: JournalRecord) => void;
  /** The status that the desk sends every second. */
  readonly onStatus: (status: Readonly<Record<string, unknown>>) => void;
  /** The stream is connected, possibly again. */
  readonly onLive: () => void;
}

/**
 * Follows the event stream from after record `from`, while the page is open. After a disconnect, a silence or a skipped record
 * it reconnects at the last received record: the desk sends the missed records first, so none is lost.
 */
export async function follow(from: number, listener: Listener): Promise<never> {
  lastSeq.value = from;
  for (let failures = 0; ; failures += 1) {
    const gone = new AbortController();
    const watch = setInterval(() => {
      if (now() - (heardAt.peek() ?? 0) > SILENCE_MS) gone.abort();
    }, 1_000);
    // A wake from sleep or a change of network leaves dead connections behind, so the page reconnects immediately
    // when it is back online.
    const onOnline = (): void => {
      gone.abort();
    };
    addEventListener('online', onOnline);
    try {
      heardAt.value = now();
      await readOnce(gone, listener, () => {
        failures = 0;
      });
    } catch {
      // The next connection shows the reason.
    }
    clearInterval(watch);
    removeEventListener('online', onOnline);
    gone.abort();
    connection.value = 'lost';
    const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 5_000;
    // With jitter, so that all pages of a restarted desk do not reconnect at the same moment.
    await new Promise((done) => setTimeout(done, wait * (0.8 + Math.random() * 0.4)));
  }
}

async function readOnce(gone: AbortController, listener: Listener, onOpen: () => void): Promise<void> {
  const response = await fetch(`/api/v1/events?after=${lastSeq.peek()}`, {
    cache: 'no-store',
    credentials: 'same-origin',
    headers: { accept: 'text/event-stream' },
    signal: gone.signal,
  });
  if (response.status === 401) isSignedOut.value = true;
  if (!response.ok || response.body === null) return;
  const take = eventReader(({ event, data }) => {
    if (event === 'status') listener.onStatus(fromJson(data) as Record<string, unknown>);
    else {
      const record = fromJson(data) as JournalRecord;
      const last = lastSeq.peek();
      if (record.seq <= last) return;
      // A record is missing: reconnect at the last one received.
      if (last > 0 && record.seq > last + 1) {
        gone.abort();
        return;
      }
      lastSeq.value = record.seq;
      listener.onRecord(record);
    }
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  connection.value = 'live';
  onOpen();
  listener.onLive();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || gone.signal.aborted) return;
    heardAt.value = now();
    take(value);
  }
}
