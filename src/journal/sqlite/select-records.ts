import type { DatabaseSync } from 'node:sqlite';
import type { StoredRecord } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import { bodyOf } from '../proof/chain.ts';
import { recordConditions } from '../record-query.ts';
import type { RecordQuery } from '../record-query.ts';
import { faultOf } from './sqlite-errors.ts';

/**
 * The selected records, not checked against the chain. SQLite scans the file. The file has no index other than the
 * number, so that an append writes only one page. The statement is open until the caller stops reading. A reader should
 * therefore read little, or fast, so that it does not block checkpoints of the write-ahead log.
 */
export function* selectRecords(db: DatabaseSync, file: string, query: RecordQuery): Generator<StoredRecord> {
  const { conditions, values } = recordConditions(query, {
    parameter: () => '?',
    contains: (parameter) => `instr(body, ${parameter}) > 0`,
  });
  const condition = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const direction = query.order === 'oldest' ? 'ASC' : 'DESC';
  try {
    const select = db.prepare(
      `SELECT seq, at, kind, body, hash FROM records ${condition} ORDER BY seq ${direction}`,
    );
    for (const row of select.iterate(...values)) {
      const { seq, at, kind, body, hash } = row;
      if (typeof seq !== 'number' || typeof at !== 'number')
        throw new RangeError('its columns have wrong types');
      const line = { seq, kind: String(kind), body: String(body) };
      yield { seq, at: instant(at), body: bodyOf(file, line), hash: String(hash) };
    }
  } catch (error) {
    throw faultOf(file, 1, error);
  }
}
