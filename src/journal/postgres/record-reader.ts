import type { StoredRecord } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import { EMPTY, bodyOf } from '../proof/chain.ts';
import type { Head, Line } from '../proof/chain.ts';
import { recordConditions } from '../record-query.ts';
import type { RecordQuery } from '../record-query.ts';
import type { BlockingClient, Row } from './blocking-client.ts';

/** Number of records in one response of the server. */
const PAGE = 1_000;
const COLUMNS = 'seq, at, kind, body, hash';

/** The newest record of a desk. */
export function headOf(client: BlockingClient, desk: string): Head {
  const [newest] = client.query(
    'SELECT seq, hash FROM tranche.record WHERE desk = $1 ORDER BY seq DESC LIMIT 1',
    [desk],
  );
  return newest === undefined ? EMPTY : { seq: Number(newest[0]), hash: String(newest[1]) };
}

export function hashOf(client: BlockingClient, desk: string, seq: number): string | undefined {
  const [row] = client.query('SELECT hash FROM tranche.record WHERE desk = $1 AND seq = $2', [desk, seq]);
  return row && String(row[0]);
}

/** Stored lines after `after` up to `last`, in pages, so that no snapshot of the server stays open. */
export function* linesOf(
  client: BlockingClient,
  desk: string,
  { after, last }: { readonly after: number; readonly last: number },
): Generator<Line> {
  for (let seen = after; seen < last;) {
    const rows = client.query(
      `SELECT ${COLUMNS} FROM tranche.record WHERE desk = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT ${PAGE}`,
      [desk, seen, last],
    );
    for (const row of rows) yield lineOf(row);
    seen = rows.length < PAGE ? last : Number(rows.at(-1)?.[0]);
  }
}

/** The wanted records, unchecked, in pages. */
export function* selectFrom(
  client: BlockingClient,
  { desk, shown }: { readonly desk: string; readonly shown: string },
  query: RecordQuery,
): Generator<StoredRecord> {
  let { after, before } = query;
  for (;;) {
    const { conditions, values } = recordConditions(
      { ...query, after, before },
      { parameter: (index) => `$${index + 2}`, contains: (parameter) => `strpos(body, ${parameter}) > 0` },
    );
    const rows = client.query(
      `SELECT ${COLUMNS} FROM tranche.record WHERE ${['desk = $1', ...conditions].join(' AND ')}
       ORDER BY seq ${query.order === 'oldest' ? 'ASC' : 'DESC'} LIMIT ${PAGE}`,
      [desk, ...values],
    );
    for (const row of rows) {
      const line = lineOf(row);
      yield { seq: line.seq, at: instant(line.at), body: bodyOf(shown, line), hash: line.hash };
    }
    if (rows.length < PAGE) return;
    const last = Number(rows.at(-1)?.[0]);
    if (query.order === 'oldest') after = last;
    else before = last;
  }
}

/** A line from the columns `seq, at, kind, body, hash`. */
export const lineOf = ([seq, at, kind, body, hash]: Row): Line => ({
  seq: Number(seq),
  at: Number(at),
  kind: String(kind),
  body: String(body),
  hash: String(hash),
});
