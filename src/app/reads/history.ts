import type { z } from 'zod';
import { alerts as alertKinds } from '../../core/alerts.ts';
import type { AlertKind } from '../../core/alerts.ts';
import type { FillRecord, RecordBody, StoredRecord } from '../../core/record.ts';
import { instant, isoOf } from '../../core/time.ts';
import { correctionsIn, fillRow, withCorrection } from '../../journal/export.ts';
import { canonical } from '../../journal/format/canonical.ts';
import { isRecordKind } from '../../journal/format/record-schema.ts';
import { link } from '../../journal/proof/link.ts';
import type { Head } from '../../journal/proof/link.ts';
import { wakeWords } from '../../journal/why.ts';
import type { alerts, fills, records, wakes } from '../../operate/api/schema-journal.ts';
import { figuresOf } from '../../report/figures/figures.ts';
import { reportOf } from '../../report/json/json.ts';
import { currenciesOf } from '../commands/journal/journal-names.ts';
import type { HistoryPage, HistoryRequest } from './history-requests.ts';
import { behind, pageOf } from './pages.ts';
import type { Source } from './pages.ts';
import { endOf, keyOf, missedRows, rowsOf } from './slice-rows.ts';
import type { SliceRow } from './slice-rows.ts';
import { whyPage } from './why-page.ts';

type Asked<What extends HistoryRequest['what']> = Extract<HistoryRequest, { readonly what: What }>;

/** An alert in the journal, which does not record whether the alert is still open. */
type AlertRow = Omit<z.output<typeof alerts>, 'is_open'>;

/** Handles one request from the journal. Caches nothing between requests. */
export function historyOf(source: Source, request: HistoryRequest): unknown {
  switch (request.what) {
    case 'records':
      return recordsPage(source, request);
    case 'alerts':
      return alertsPage(source, request);
    case 'fills':
      return fillsPage(source, request);
    case 'wakes':
      return wakesPage(source, request);
    case 'ended_slices':
      return endedSlices(source, request);
    case 'open_slices': {
      const rows = rowsOf(source, request.slices);
      return request.slices.flatMap((name) => rows.get(keyOf(name)) ?? []);
    }
    case 'why':
      return whyPage(source, request);
    case 'costs': {
      const { since, until, strategy, version } = request;
      return reportOf(
        figuresOf(source.read(), { version, since, until, strategy, currencies: currenciesOf }),
      );
    }
    case 'verify':
      return verified(source, request.from);
  }
}

/** Returns the text that names a strategy in the canonical text of a record. */
const named = (strategy: string | undefined): string | undefined =>
  strategy === undefined ? undefined : `"strategy":${JSON.stringify(strategy)}`;

const isOf = (body: RecordBody, strategy: string | undefined): boolean =>
  strategy === undefined || ('strategy' in body && body.strategy === strategy);

function recordsPage(source: Source, request: Asked<'records'>): HistoryPage<z.output<typeof records>> {
  const { kind, since, until } = request;
  const kinds = kind === undefined ? undefined : kind.split(',').filter(isRecordKind);
  return pageOf(
    source.select({ ...behind(request), kinds, since, until }),
    request,
    ({ seq, at, hash, body }) => [{ seq, at: isoOf(at), hash, body: { ...body } }],
  );
}

function alertsPage(source: Source, request: Asked<'alerts'>): HistoryPage<AlertRow> {
  const { since, until, severity } = request;
  const least = URGENCY.indexOf(severity ?? 'info');
  return pageOf(
    source.select({ ...behind(request), kinds: ['alert'], since, until }),
    request,
    ({ seq, at, body }): readonly AlertRow[] => {
      if (body.kind !== 'alert' || URGENCY.indexOf(body.severity) < least) return [];
      const { alert, facts, others } = body;
      const kind = kindOf(alert);
      return [
        {
          seq,
          at: isoOf(at),
          alert,
          severity: body.severity,
          says: kind?.says ?? alert,
          facts,
          others,
          does: kind?.runbook,
          on_dashboard: kind?.onDashboard,
          runbook: kind && `docs/runbook.md#${alert}`,
        },
      ];
    },
  );
}

/** Returns the kind of an alert, or `undefined` for one that only an earlier version had. */
function kindOf(alert: string): AlertKind | undefined {
  const kinds: Readonly<Record<string, AlertKind>> = alertKinds;
  return Object.hasOwn(kinds, alert) ? kinds[alert] : undefined;
}
const URGENCY: readonly string[] = ['info', 'warning', 'critical'];

function fillsPage(source: Source, request: Asked<'fills'>): HistoryPage<z.output<typeof fills>> {
  const { since, until, strategy } = request;
  const page = pageOf(
    source.select({ ...behind(request), kinds: ['fill'], since, until, holds: named(strategy) }),
    request,
    ({ seq, body }) => (body.kind === 'fill' && isOf(body, strategy) ? [{ seq, fill: body }] : []),
  );
  const after = Math.min(...page.items.map(({ seq }) => seq));
  const corrections =
    page.items.length === 0
      ? undefined
      : correctionsIn(source.select({ kinds: ['correction'], after, order: 'oldest' }));
  return {
    ...page,
    items: page.items.map(({ seq, fill }) => shownFill(seq, withCorrection(fill, corrections))),
  };
}

function shownFill(seq: number, fill: FillRecord): z.output<typeof fills> {
  const { client_order_id, order_id, quote_id, pair, base, quote, side, quantity, price, amount, fees } =
    fill;
  const { strategy, parent, slice, attempt, source, other_fees, missing } = fill;
  const executed_at = String(fillRow(fill)['executed_at']);
  return { seq, client_order_id, order_id, quote_id, pair, base, quote, side, quantity, price, amount, fees, executed_at, strategy, parent, slice, attempt, source, other_fees, missing }; // prettier-ignore
}

function wakesPage(source: Source, request: Asked<'wakes'>): HistoryPage<z.output<typeof wakes>> {
  const { since, until, strategy, reason } = request;
  return pageOf(
    source.select({ ...behind(request), kinds: ['wake'], since, until, holds: named(strategy) }),
    request,
    ({ seq, at, body }) => {
      if (body.kind !== 'wake' || !isOf(body, strategy)) return [];
      if (reason !== undefined && body.reason !== reason) return [];
      const times = body.waits.flatMap((wait) => (wait.on === 'at' ? [wait.at] : []));
      return [
        {
          seq,
          at: isoOf(at),
          strategy: body.strategy,
          on: body.on,
          detail: body.detail,
          reason: body.reason,
          note: body.note,
          words: wakeWords(at, body, { currencies: currenciesOf }),
          intents: body.intents.map(({ parent, leg, slice, pair, side, by, size, limit, deadline }) => ({
            parent,
            leg,
            slice,
            pair,
            side,
            by,
            size,
            limit,
            deadline: isoOf(deadline),
          })),
          missed: body.missed.map(({ leg, slice, due, size }) => ({
            leg,
            slice,
            due: due === undefined ? undefined : isoOf(due),
            size,
          })),
          next_at: times.length === 0 ? undefined : isoOf(instant(Math.min(...times))),
          finished: body.finished,
        },
      ];
    },
  );
}

/**
 * Returns the slices that ended and the slots that passed, in the order of their records. Omits passed slots for a single parent, because
 * they have no parent.
 */
function endedSlices(source: Source, request: Asked<'ended_slices'>): HistoryPage<SliceRow> {
  const { since, until, strategy, parent } = request;
  const ends: StoredRecord[] = [];
  const holds = parent ?? named(strategy);
  const page = pageOf(
    source.select({ ...behind(request), kinds: ['slice', 'wake'], since, until, holds }),
    request,
    (record): readonly (SliceRow | StoredRecord)[] => {
      const { seq, at, body } = record;
      if (!isOf(body, strategy)) return [];
      if (body.kind === 'wake') return parent === undefined ? missedRows(seq, at, body) : [];
      if (body.kind !== 'slice' || (parent !== undefined && body.parent !== parent)) return [];
      ends.push(record);
      return [record];
    },
  );
  const names = ends.flatMap(({ body }) => (body.kind === 'slice' ? [body] : []));
  const rows = rowsOf(source, names, Math.max(0, ...ends.map(({ seq }) => seq)) + 1);
  return {
    ...page,
    items: page.items.flatMap((item): readonly SliceRow[] => {
      if (!('body' in item)) return [item];
      const { seq, at, body } = item;
      if (body.kind !== 'slice') return [];
      const row = rows.get(keyOf(body));
      // The journal has no decision for this slice, because it was restored from an older copy.
      const { leg, slice } = body;
      const own = { strategy: body.strategy, parent: body.parent, leg, slice };
      return [row ?? { ...own, attempts: [], ...endOf(seq, at, body) }];
    }),
  };
}

/** Largest number of records whose hashes one request computes again. */
const VERIFIED_MAX = 50_000;

/** Result of verifying the chain, which holds up to `to`. */
export interface Verified {
  readonly to: Head;
  readonly problem?: string | undefined;
}

function verified(source: Source, from: Head): Verified {
  let to: Head = { seq: from.seq, hash: from.hash };
  let count = 0;
  for (const { seq, at, body, hash } of source.select({ after: from.seq, order: 'oldest' })) {
    if (seq !== to.seq + 1)
      return { to, problem: `expected record ${to.seq + 1}, found ${seq}: records are missing or moved` };
    if (link(to.hash, seq, at, canonical(body)) !== hash)
      return { to, problem: `the hash of record ${seq} does not match its content` };
    to = { seq, hash };
    count += 1;
    if (count >= VERIFIED_MAX) break;
  }
  return { to };
}
