import { batch, signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { now } from './clock.ts';
import { get, problemOf } from './request.ts';
import type { Chain, JournalRecord, Status } from './shapes.ts';
import { dataAge, follow } from './stream.ts';

/** The last known status of the desk. */
export const status = signal<Status | undefined>(undefined);
/** When it arrived, on the clock of `now`. */
export const statusAt = signal(0);
/** Why the last read of the status failed. */
export const statusProblem = signal<string | undefined>(undefined);
/** The newest records, newest last. */
export const records: Signal<readonly JournalRecord[]> = signal([]);
const RECORDS_KEPT = 500;
const STATUS_EVERY_MS = 1_000;
const STATUS_IDLE_MS = 5_000;

type OnRecords = (batch: readonly JournalRecord[]) => void;
const listeners = new Set<OnRecords>();

/** Passes on all records of a frame; returns the function that stops it. */
export function onRecords(listener: OnRecords): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let waiting: JournalRecord[] = [];
let isPlanned = false;

/** Everything that arrived since the last frame becomes visible immediately. */
function flush(): void {
  isPlanned = false;
  const arrived = waiting;
  waiting = [];
  batch(() => {
    records.value = [...records.peek(), ...arrived].slice(-RECORDS_KEPT);
    for (const listener of listeners) listener(arrived);
  });
}

function take(record: JournalRecord): void {
  waiting.push(record);
  isStale = true;
  if (isPlanned) return;
  isPlanned = true;
  // A hidden page has no frames.
  if (document.hidden) setTimeout(flush, STATUS_EVERY_MS);
  else requestAnimationFrame(flush);
}

/** Whether something has happened since the status was read. */
let isStale = true;
let isReading = false;

export async function readStatus(): Promise<void> {
  if (isReading) return;
  [isReading, isStale] = [true, false];
  try {
    const read = await get<Status>('status');
    batch(() => {
      status.value = read;
      statusAt.value = now();
      statusProblem.value = undefined;
    });
  } catch (error) {
    statusProblem.value = problemOf(error);
  } finally {
    isReading = false;
  }
}

let isStarted = false;

/** Starts following the desk. This never ends; a page that loses the desk shows what it knows, with its age. */
export async function start(): Promise<void> {
  if (isStarted) return;
  isStarted = true;
  await readStatus();
  setInterval(() => {
    if (document.hidden) return;
    if (isStale || now() - statusAt.peek() > STATUS_IDLE_MS) void readStatus();
  }, STATUS_EVERY_MS);
  const from = await newestSeq();
  void follow(from, {
    onRecord: take,
    onStatus({ data_age_s: age, state }) {
      dataAge.value = typeof age === 'number' ? age : undefined;
      if (typeof state === 'string' && status.peek() !== undefined && state !== status.peek()?.state)
        void readStatus();
    },
    onLive() {
      isStale = true;
    },
  });
}

/** The desk's newest record; earlier records come from the lists. */
async function newestSeq(): Promise<number> {
  for (;;) {
    try {
      return (await get<Chain>('chain')).seq;
    } catch {
      await new Promise((done) => setTimeout(done, STATUS_EVERY_MS));
    }
  }
}
