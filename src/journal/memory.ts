import { memoryOutbox } from '../core/outbox.ts';
import type { StoredRecord } from '../core/record.ts';
import { EMPTY, readLines, tie, verify } from './proof/chain.ts';
import type { Head, Line } from './proof/chain.ts';
import { appender } from './sqlite/appender.ts';
import type { Journal } from './journal.ts';
import { selected } from './record-query.ts';

/** A journal that lasts as long as its process, for backtests and tests. Texts and hashes equal those on disk. */
export function memoryJournal(): Journal {
  const lines: Line[] = [];
  let head = EMPTY;
  const headAt = (seq: number): Head => lines[seq - 1] ?? EMPTY;
  const append = appender('memory:', (bodies, at) => {
    const added = tie(head, bodies, at);
    for (const { line } of added) {
      lines.push(line);
      head = { seq: line.seq, hash: line.hash };
    }
    return added;
  });
  const read = (after = 0): Iterable<StoredRecord> => readLines('memory:', lines.slice(after), headAt(after));
  return {
    append: (bodies, at) => append.run(bodies, at),
    read,
    select: (query) => selected(read(query.after), query),
    close: () => append.close(),
    head: () => head,
    lines: () => lines.slice(),
    verify: () => verify(lines),
    outbox: memoryOutbox(),
  };
}
