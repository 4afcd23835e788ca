import type { Desk } from '../../engine/desk.ts';
import type { Journal } from '../../journal/journal.ts';
import { EventStream } from '../../operate/events.ts';
import { historyAt } from '../reads/read-thread.ts';
import type { History } from '../reads/read-thread.ts';
import { PriceRing } from './price-ring.ts';
import { pastOf } from './read-api.ts';

/** The API's sources other than the desk's memory: the past, the prices of this process, and the stream of records. */
export interface ReadParts {
  readonly journal: Journal;
  readonly pages: History;
  readonly reports: History;
  readonly prices: PriceRing;
  readonly events: EventStream;
  close(): void;
}

/** Longest waits for a page of the past, and for a response that needs the whole journal. */
const PAGES_MS = 10_000;
const REPORTS_MS = 60_000;
/** Interval at which the process samples the reference prices for a chart. */
const SAMPLED_MS = 1_000;
/** Delay between a record and its event, which people do not notice. */
const EVENT_DELAY_MS = 5;

/** Returns these sources. `desk` returns `undefined` until there is a desk. */
export function readParts(url: string, journal: Journal, desk: () => Desk | undefined): ReadParts {
  const pages = historyAt(url, journal, PAGES_MS);
  const reports = historyAt(url, journal, REPORTS_MS);
  const prices = new PriceRing();
  const every = (ms: number, call: () => void): (() => void) => {
    const timer = setInterval(call, ms).unref();
    return () => {
      clearInterval(timer);
    };
  };
  const endSampling = every(SAMPLED_MS, () => {
    notePrices(desk(), prices);
  });
  const events = new EventStream({
    past: pastOf(pages),
    head: () => journal.head().seq,
    status: () => pulseOf(desk()),
    every,
    // A requested quote usually arrives within this time, so that its order leaves before the event.
    later: (call) => setTimeout(call, EVENT_DELAY_MS),
  });
  return {
    journal,
    pages,
    reports,
    prices,
    events,
    close() {
      endSampling();
      events.close();
      pages.close();
      reports.close();
    },
  };
}

function notePrices(desk: Desk | undefined, prices: PriceRing): void {
  if (desk === undefined) return;
  for (const pair of new Set([...desk.strategies.sources.values()].flatMap(({ bound }) => bound.pairs))) {
    const price = desk.references.get(pair);
    if (price !== undefined) prices.add(pair, price);
  }
}

/** Returns what a page shows in its header: the state of the desk, and the age of its data. */
const pulseOf = (desk: Desk | undefined): object => {
  const readAt = desk?.account.lastReadAt;
  return {
    state: desk?.control,
    data_age_s:
      desk === undefined || readAt === undefined
        ? undefined
        : Math.round((desk.ports.clock.monotonic() - readAt) / 1_000),
  };
};
