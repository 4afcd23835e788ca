import { MINUTE_MS, after as later, isoOf, parseDuration, parseIso, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import type { Journal } from '../../journal/journal.ts';
import type { AnswerOf, DeskReads } from '../../operate/api/desk-reads.ts';
import { LIMIT_DEFAULT } from '../../operate/api/page-limits.ts';
import { Refusal } from '../../operate/api/refusal.ts';
import type { EventRow } from '../../operate/events.ts';
import { zoneHere, zoneOf } from '../cli/local-time.ts';
import type { Config } from '../config/config.ts';
import type { HistoryPage, HistoryRequest } from '../reads/history-requests.ts';
import type { History } from '../reads/read-thread.ts';
import type { Verified } from '../reads/history.ts';
import { version } from '../version.ts';
import { parentRows, strategyRows } from './desk-lists.ts';
import { limitRows } from './limit-rows.ts';
import type { AlertHistory } from '../daemon/open-alerts.ts';
import type { PriceRing } from './price-ring.ts';
import { sliceList } from './slice-list.ts';

export interface ReadApiParts {
  readonly desk: Desk;
  readonly config: Config;
  readonly journal: Journal;
  readonly alerts: AlertHistory;
  readonly prices: PriceRing;
  readonly status: () => object;
  /** Handles requests for pages of the past, within seconds. */
  readonly pages: History;
  /** Handles requests that need the whole journal. These take longer, but delay no page. */
  readonly reports: History;
  /** Whether the process has started to trade, and has therefore checked the chain up to its head at the start. */
  readonly isProven: () => boolean;
}

/**
 * Returns the API's reads other than the status. The present comes from memory; the past comes from the journal, which
 * another thread reads.
 */
export function readApi(parts: ReadApiParts): DeskReads {
  const { desk, journal, pages, reports, prices } = parts;
  const { clock } = desk.ports;
  const spanOf = spans(() => clock.wall());
  const page = async <Row>(request: HistoryRequest): Promise<Listed<Row>> =>
    listed((await pages.ask(request)) as HistoryPage<Row>); // oxlint-disable-line typescript/no-unsafe-type-assertion -- `historyOf` answers so
  const verified = chainOf(parts);
  return {
    '/api/v1/alerts': async ({ severity, ...query }) => {
      const found = await page<AlertRow>({
        what: 'alerts',
        severity,
        ...pagedOf(query, spanOf),
      });
      return {
        ...found,
        items: found.items.map((one) => ({ ...one, is_open: isOpen(parts, one) })),
      };
    },
    '/api/v1/strategies': (query) => byKey(strategyRows(desk), query, ({ id }) => id),
    '/api/v1/parents': ({ strategy, ...query }) =>
      byKey(parentRows(desk, strategy), query, ({ begun_at: begun, parent }) => `${begun}/${parent}`),
    '/api/v1/slices': async ({ since, until, ...query }) =>
      await sliceList(desk, pages, parts.config, { ...query, ...spanOf({ since, until }) }),
    '/api/v1/wakes': async ({ strategy, reason, ...query }) =>
      await page({ what: 'wakes', strategy, reason, ...pagedOf(query, spanOf) }),
    '/api/v1/why': async ({ strategy, at, ...query }) => {
      const now = clock.wall();
      const moment = at === undefined ? undefined : momentOf(at, now);
      const around = moment && { since: later(moment, -AROUND_MS), until: later(moment, AROUND_MS) };
      const open = [...desk.state.slices.values()]
        .filter((one) => strategy === undefined || one.strategy === strategy)
        .slice(0, OPEN_MAX)
        .map(({ intent }) => ({ parent: intent.parent, slice: intent.slice }));
      const zones = zonesOf(desk, strategy);
      const paged = { ...pagedOf(query, spanOf), ...around };
      return await page({ what: 'why', strategy, open, zones, zone: zoneHere(), now, ...paged });
    },
    '/api/v1/fills': async ({ strategy, ...query }) =>
      await page({ what: 'fills', strategy, ...pagedOf(query, spanOf) }),
    '/api/v1/prices': ({ pair, since }) => ({ items: prices.list(pair, spanOf({ since }).since) }),
    '/api/v1/limits': () => ({ items: limitRows(desk) }),
    '/api/v1/plan': async ({ strategy, days }) => {
      const { deskPlan } = await import('./desk-plan.ts');
      return await deskPlan(desk, parts.config, { strategy, days });
    },
    '/api/v1/costs': async ({ strategy, ...span }) =>
      (await reports.ask({ what: 'costs', strategy, version, ...spanOf(span) })) as AnswerOf<'/api/v1/costs'>, // oxlint-disable-line typescript/no-unsafe-type-assertion -- `historyOf` answers so
    '/api/v1/records': async ({ kind, ...query }) =>
      await page({ what: 'records', kind, ...pagedOf(query, spanOf) }),
    '/api/v1/chain': async () => {
      const { seq, hash } = journal.head();
      return { seq, hash, ...(await verified(reports)) };
    },
  };
}

/** A quarter of an hour before and after the requested time. */
const AROUND_MS = 15 * MINUTE_MS;
/** Largest number of slices in progress that a page lists. */
const OPEN_MAX = 500;

type AlertRow = Omit<AnswerOf<'/api/v1/alerts'>['items'][number], 'is_open'>;

interface Listed<Row> {
  readonly items: readonly Row[];
  readonly next?: string;
}

const listed = <Row>({ items, next }: HistoryPage<Row>): Listed<Row> =>
  next === undefined ? { items } : { items, next: String(next) };

interface Span {
  readonly since?: Instant | undefined;
  readonly until?: Instant | undefined;
}
type SpanOf = (query: { readonly since?: string | undefined; readonly until?: string | undefined }) => Span;

const momentOf = (text: string, now: Instant): Instant =>
  text.startsWith('P') ? later(now, -parseDuration(text)) : parseTime(text);

const spans =
  (wall: () => Instant): SpanOf =>
  ({ since, until }) => {
    const now = wall();
    const span = {
      since: since === undefined ? undefined : momentOf(since, now),
      until: until === undefined ? undefined : momentOf(until, now),
    };
    if (span.since !== undefined && span.until !== undefined && span.until <= span.since)
      throw new Refusal(400, '"until": it must be after "since"');
    return span;
  };

interface Query {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly order?: 'oldest' | 'newest' | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

function pagedOf(
  { limit = LIMIT_DEFAULT, after, order = 'oldest', since, until }: Query,
  spanOf: SpanOf,
): Span & {
  readonly limit: number;
  readonly order: 'oldest' | 'newest';
  readonly after: number | undefined;
} {
  if (after !== undefined && !/^\d{1,15}$/u.test(after))
    throw new Refusal(400, '"after": expected the number of a record, as "next" of a page gives it');
  return {
    limit,
    order,
    after: after === undefined ? undefined : Number(after),
    ...spanOf({ since, until }),
  };
}

/** Returns one page of rows that are all in memory, in the order of their keys. */
function byKey<Row>(
  rows: readonly Row[],
  { limit = LIMIT_DEFAULT, after }: Pick<Query, 'limit' | 'after'>,
  keyOf: (row: Row) => string,
): Listed<Row> {
  const behind = rows
    .filter((row) => after === undefined || keyOf(row) > after)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : Number(keyOf(a) > keyOf(b))));
  const items = behind.slice(0, limit);
  const last = items.at(-1);
  return behind.length > limit && last !== undefined ? { items, next: keyOf(last) } : { items };
}

function isOpen({ alerts, desk }: ReadApiParts, one: AlertRow): boolean {
  const at = parseIso(one.at);
  return at !== undefined && alerts.isOpen(desk, { at, alert: one.alert, facts: one.facts });
}

/** Returns the time zone of each strategy document that has one, by id. */
const zonesOf = (desk: Desk, strategy: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...desk.strategies.sources.values()].flatMap(({ id, document }): readonly [string, string][] => {
      const zone = strategy === undefined || strategy === id ? zoneOf(document) : undefined;
      return zone === undefined ? [] : [[id, zone]];
    }),
  );

type Chain = Omit<AnswerOf<'/api/v1/chain'>, 'seq' | 'hash'>;

/** Returns how far the chain is verified. It is verified as a whole at the start; since then, the new records are read back. */
function chainOf({ desk, journal, isProven }: ReadApiParts): (reports: History) => Promise<Chain> {
  let to = journal.head();
  let at: Instant | undefined;
  let problem: string | undefined;
  return async (reports) => {
    if (!isProven()) return { verified_to: 0 };
    if (problem === undefined) {
      const found = (await reports.ask({ what: 'verify', from: { seq: to.seq, hash: to.hash } })) as Verified; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `historyOf` answers so
      if (found.to.seq >= to.seq) ({ to } = found);
      ({ problem } = found);
      at = desk.ports.clock.wall();
    }
    return { verified_to: to.seq, verified_at: at && isoOf(at), problem };
  };
}

/** Returns a function that reads the records after a number, for a listener that reconnects. */
export const pastOf =
  (pages: History) =>
  async (after: number): Promise<readonly EventRow[]> => {
    const request = { what: 'records', order: 'oldest', limit: PAST_MAX, after } as const;
    const { items } = (await pages.ask(request)) as HistoryPage<PastRow>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `historyOf` answers so
    return items.map(({ seq, at, body }) => ({ seq, at, kind: body.kind, body }));
  };
const PAST_MAX = 200;
type PastRow = Omit<EventRow, 'kind'> & { readonly body: { readonly kind: string } };
