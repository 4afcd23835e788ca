import type { Instant } from '../../core/time.ts';
import { after as later, DAY_MS, isoOf } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import { LIMIT_DEFAULT } from '../../operate/api/page-limits.ts';
import type { AnswerOf, QueryOf } from '../../operate/api/desk-reads.ts';
import { Refusal } from '../../operate/api/refusal.ts';
import { listingOf } from '../../planning/listing.ts';
import type { Config } from '../config/config.ts';
import type { HistoryPage } from '../reads/history-requests.ts';
import type { History } from '../reads/read-thread.ts';
import type { SliceRow } from '../reads/slice-rows.ts';

type Page = AnswerOf<'/api/v1/slices'>;
interface Spanned extends Omit<QueryOf<'/api/v1/slices'>, 'since' | 'until'> {
  readonly since?: Instant | undefined;
  readonly until?: Instant | undefined;
}

/** The three parts of the list, oldest first: ended, open and planned slices. */
const PARTS = ['ended', 'open', 'planned'] as const;
type Part = (typeof PARTS)[number];

/**
 * Lists a desk's ended, open and planned slices. A cursor names the part and the place in it: the record of the last
 * slice that ended, or the key of the last open or planned slice.
 */
export async function sliceList(desk: Desk, history: History, config: Config, query: Spanned): Promise<Page> {
  const { order = 'oldest', limit = LIMIT_DEFAULT } = query;
  const parts = order === 'oldest' ? PARTS : PARTS.toReversed();
  const cursor = cursorOf(query.after, parts[0] ?? 'ended');
  const items: SliceRow[] = [];
  for (const part of parts.slice(parts.indexOf(cursor.part))) {
    const place = part === cursor.part ? cursor.place : undefined;
    const room = limit - items.length;
    if (room <= 0) return { items, next: `${part}:` };
    const page =
      part === 'ended'
        ? await ended(history, query, { after: place, order, limit: room })
        : cut(
            await (part === 'open' ? openSlices(desk, history, query) : plannedSlices(desk, config, query)),
            {
              after: place,
              order,
              limit: room,
            },
          );
    items.push(...page.items);
    if (page.next !== undefined) return { items, next: `${part}:${page.next}` };
  }
  return { items };
}

interface Cursor {
  readonly part: Part;
  readonly place: string | undefined;
}

function cursorOf(given: string | undefined, first: Part): Cursor {
  if (given === undefined) return { part: first, place: undefined };
  const groups = /^(?<part>ended|open|planned):(?<place>[\w.:/-]{0,90})$/u.exec(given)?.groups;
  const part = PARTS.find((each) => each === groups?.['part']);
  const place = groups?.['place'] ?? '';
  if (part === undefined || (part === 'ended' && !/^\d{0,15}$/u.test(place)))
    throw new Refusal(400, '"after": this is not a cursor of this list');
  return { part, place: place === '' ? undefined : place };
}

interface Piece {
  readonly after: string | undefined;
  readonly order: 'oldest' | 'newest';
  readonly limit: number;
}

async function ended(
  history: History,
  { since, until, strategy, parent }: Spanned,
  { after, order, limit }: Piece,
): Promise<HistoryPage<SliceRow>> {
  const request = { what: 'ended_slices', since, until, strategy, parent, order, limit } as const;
  const answer = await history.ask({ ...request, after: after === undefined ? undefined : Number(after) });
  return answer as HistoryPage<SliceRow>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `historyOf` answers so
}

/** Returns the place of a row that is in no record yet. Places sort by time, and contain only characters that a cursor may contain. */
const placeOf = ({ decided_at: decided, due_at: due, strategy, parent, leg, slice }: SliceRow): string =>
  `${decided ?? due ?? ''}/${(parent ?? `${strategy}/${leg ?? ''}`).slice(0, 50)}/${String(slice).padStart(5, '0')}`;

/** Returns one page of rows that are all in memory. */
function cut(
  rows: readonly SliceRow[],
  { after, order, limit }: Piece,
): { readonly items: readonly SliceRow[]; readonly next?: string } {
  const sign = order === 'oldest' ? 1 : -1;
  const compare = (a: string, b: string): number => sign * (a < b ? -1 : Number(a > b));
  const sorted = rows
    .map((row) => ({ row, place: placeOf(row) }))
    .filter(({ place }) => after === undefined || compare(place, after) > 0)
    .toSorted((a, b) => compare(a.place, b.place));
  const items = sorted.slice(0, limit);
  const last = items.at(-1);
  return {
    items: items.map(({ row }) => row),
    ...(sorted.length > limit && last !== undefined ? { next: last.place } : {}),
  };
}

/** Largest number of open slices in the list. */
const OPEN_MAX = 500;

async function openSlices(
  desk: Desk,
  history: History,
  { since, until, strategy, parent }: Spanned,
): Promise<readonly SliceRow[]> {
  const slices = [...desk.state.slices.values()]
    .filter(
      (one) =>
        (strategy === undefined || one.strategy === strategy) &&
        (parent === undefined || one.intent.parent === parent) &&
        (since === undefined || one.decidedAt >= since) &&
        (until === undefined || one.decidedAt < until),
    )
    .slice(0, OPEN_MAX)
    .map(({ intent }) => ({ parent: intent.parent, slice: intent.slice }));
  if (slices.length === 0) return [];
  const rows = (await history.ask({ what: 'open_slices', slices })) as readonly SliceRow[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `historyOf` answers so
  // A slice that has ended meanwhile is on the next page of ended slices.
  return rows.filter(({ state }) => state === 'open');
}

/** Returns the slices that one strategy will decide, if nothing changes. Those of all strategies would take too long here. */
async function plannedSlices(desk: Desk, config: Config, query: Spanned): Promise<readonly SliceRow[]> {
  const { since, until, strategy, parent } = query;
  if (strategy === undefined || parent !== undefined || !desk.strategies.sources.has(strategy)) return [];
  const horizon = until ?? later(desk.ports.clock.wall(), HORIZON_MS);
  const { rehearsedDesk } = await import('./desk-plan.ts');
  const { strategies } = listingOf(
    await rehearsedDesk(desk, config, { strategy, until: horizon, slicesMax: PLANNED_MAX }),
  );
  return strategies
    .flatMap(({ slices }) => slices)
    .filter(({ at }) => since === undefined || at >= since)
    .map(({ intent, at, currency }): SliceRow => ({
      strategy,
      leg: intent.leg,
      slice: intent.slice,
      pair: intent.pair,
      side: intent.side,
      due_at: isoOf(at),
      deadline: isoOf(intent.deadline),
      planned: intent.size,
      by: intent.by,
      currency,
      limit: intent.limit,
      state: 'planned',
      attempts: [],
    }));
}

const HORIZON_MS = 7 * DAY_MS;
/** Largest number of planned slices in the list. */
const PLANNED_MAX = 500;
