import type { z } from 'zod';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import { whyOf } from '../../journal/why.ts';
import type { WhyEntry } from '../../journal/why.ts';
import type { why } from '../../operate/api/schema-journal.ts';
import { whyRow, whyWords } from '../cli/why-line.ts';
import { currenciesOf } from '../commands/journal/journal-names.ts';
import type { HistoryPage, HistoryRequest, SliceName } from './history-requests.ts';
import { behind } from './pages.ts';
import type { Source } from './pages.ts';
import { byParent, keyOf, recordsOf, sliceOfId } from './slice-rows.ts';

export type WhyRow = z.output<typeof why>;
type Asked = Extract<HistoryRequest, { readonly what: 'why' }>;

/** Kinds of records that have a line of their own. */
const KINDS: readonly RecordBody['kind'][] = ['started', 'stopped', 'process', 'control', 'reload', 'strategy', 'wake', 'slice', 'fill', 'correction', 'resolved', 'shown']; // prettier-ignore
/** Largest number of records read at a time, and of such reads for one page. */
const PIECE = 200;
const PIECES_MAX = 100;
const PAGE_MS = 2_000;

/** Returns the lines of `tranche why` about the records of a page. The page with the newest records also has slices in progress. */
export function whyPage(source: Source, request: Asked): HistoryPage<WhyRow> {
  const { since, until, strategy, limit, order, zones, zone, now } = request;
  const started = performance.now();
  const items: WhyRow[] = [];
  const rowOf = ({ seq, told }: Numbered): WhyRow => {
    const own = zones[told.strategy ?? ''] ?? zone;
    const { slices, ...row } = whyRow(told, own);
    return { seq, ...row, slices: slices && [...slices], words: whyWords(told, own, now) };
  };
  const open = (): readonly WhyRow[] => openEntries(source, request).map((told) => rowOf({ seq: undefined, told })); // prettier-ignore
  // Slices in progress are newer than all slices that have ended.
  if (order === 'newest' && request.after === undefined) items.push(...open());
  let { after } = request;
  for (let piece = 0; piece < PIECES_MAX; piece++) {
    const records = source.select({ ...behind({ limit, order, after }), kinds: KINDS, since, until });
    const taken = [...Iterator.from(records).take(Math.min(PIECE, limit))];
    const told = entriesOf(source, taken).filter(
      (one) => strategy === undefined || one.told.strategy === undefined || one.told.strategy === strategy,
    );
    items.push(...(order === 'newest' ? told.toReversed() : told).map(rowOf));
    after = taken.at(-1)?.seq ?? after;
    if (taken.length < Math.min(PIECE, limit)) {
      if (order === 'oldest') items.push(...open());
      return { items };
    }
    if (items.length >= limit || performance.now() - started > PAGE_MS) break;
  }
  return { items, next: after };
}

interface Numbered {
  readonly seq: number | undefined;
  readonly told: WhyEntry;
}

/** Returns the entries of these records, oldest first. Looks up the earlier records that explain them. */
function entriesOf(source: Source, taken: readonly StoredRecord[]): readonly Numbered[] {
  const wanted = new Set(taken.map(({ seq }) => seq));
  const names = taken.flatMap(({ body }): readonly SliceName[] => {
    if (body.kind === 'slice' || body.kind === 'fill') return [body];
    const named =
      body.kind === 'correction' || body.kind === 'resolved' ? sliceOfId(body.client_order_id) : undefined;
    return named === undefined ? [] : [named];
  });
  const last = Math.max(0, ...wanted);
  const bySeq = new Map(taken.map((record) => [record.seq, record]));
  for (const [parent, slices] of byParent(names))
    for (const record of recordsOf(source, parent, slices, last + 1)) bySeq.set(record.seq, record);
  let at = 0;
  const told: Numbered[] = [];
  function* watched(): Generator<StoredRecord> {
    for (const record of [...bySeq.values()].toSorted((a, b) => a.seq - b.seq)) {
      at = record.seq;
      yield record;
    }
    // A slice that is open in these records may have ended since, so its entry is omitted.
    at = 0;
  }
  for (const one of whyOf(watched(), { currencies: currenciesOf }))
    if (wanted.has(at)) told.push({ seq: at, told: one });
  return told;
}

function openEntries(source: Source, { open, strategy, since, until }: Asked): readonly WhyEntry[] {
  const keys = new Set(open.map(keyOf));
  if (keys.size === 0) return [];
  const bySeq = new Map<number, StoredRecord>();
  for (const [parent, slices] of byParent(open))
    for (const record of recordsOf(source, parent, slices)) bySeq.set(record.seq, record);
  const records = [...bySeq.values()].toSorted((a, b) => a.seq - b.seq);
  return [...whyOf(records, { currencies: currenciesOf })].filter(
    (told) =>
      told.event === 'open' &&
      (strategy === undefined || told.strategy === strategy) &&
      (since === undefined || told.at >= since) &&
      (until === undefined || told.at < until),
  );
}
