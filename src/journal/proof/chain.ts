import { OperatorError, invariant } from '../../core/errors.ts';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { canonical, startOf } from '../format/canonical.ts';
import { EMPTY, link, sha256 } from './link.ts';
import type { Head, Line, Verdict } from './link.ts';
import { problemWith, readBodyText, vocabularyText } from '../format/record-schema.ts';

export { EMPTY, GENESIS, link } from './link.ts';
export type { Head, Line, Verdict } from './link.ts';

/** A chained record, and the line to store for it. */
export interface Tied {
  readonly record: StoredRecord;
  readonly line: Line;
}

/** Fingerprint of all schemas of this version. It is equal if nothing was added, removed or changed. */
export const vocabulary = (): string => (known ??= sha256(vocabularyText()));
let known: string | undefined;

/**
 * Appends `bodies` to the chain after `head`. @throws Error when a body is not a valid record, which must not be
 * written.
 */
export function tie(head: Head, bodies: readonly RecordBody[], at: Instant): readonly Tied[] {
  invariant(Number.isSafeInteger(at), () => `the time of a record must be whole milliseconds, got ${at}`);
  let { seq, hash: before } = head;
  return bodies.map((body) => {
    const text = textOf(body);
    seq += 1;
    before = link(before, seq, at, text);
    return {
      record: { seq, at, body, hash: before },
      line: { seq, at, kind: body.kind, body: text, hash: before },
    };
  });
}

/** The canonical text of a body. @throws Error when it is not a valid record. */
export function textOf(body: RecordBody): string {
  const problem = problemWith(body);
  invariant(problem === undefined, () => `not a record: ${problem}`);
  return canonical(body);
}

/** Checks `lines` from the first; `end`, if given, is the end of the chain according to the journal. */
export function verify(lines: Iterable<Line>, end?: Head): Verdict {
  let head = EMPTY;
  for (const line of lines) {
    const why = breakAt(head, line);
    if (why !== undefined) return { ok: false, seq: head.seq + 1, why };
    head = line;
  }
  if (end !== undefined && (end.seq !== head.seq || end.hash !== head.hash)) {
    const why = `the journal states that it ends with record ${end.seq}, but its last record is ${head.seq}`;
    return { ok: false, seq: head.seq + 1, why };
  }
  return { ok: true, count: head.seq, head: head.hash };
}

/**
 * Reads `lines` as records and checks the chain. The lines follow `from`; default: the start of the chain.
 *
 * @throws OperatorError `data` at the first invalid record; `where` names the journal.
 */
export function* readLines(
  where: string,
  lines: Iterable<Line>,
  from: Head = EMPTY,
): Generator<StoredRecord> {
  let head = from;
  for (const line of lines) {
    const why = breakAt(head, line);
    if (why !== undefined) throw damage(where, head.seq + 1, why);
    head = line;
    yield { seq: line.seq, at: instant(line.at), body: bodyOf(where, line), hash: line.hash };
  }
}

export const damage = (where: string, seq: number, why: string, cause?: unknown): OperatorError =>
  new OperatorError(
    'data',
    `journal ${where} is damaged at record ${seq}: ${why}. Nothing was changed. Keep the file as evidence and restore a backup; ` +
      'on start the desk compares the journal with the account at the venue.',
    cause,
  );

/** Why `line` cannot follow `head`; `undefined` if it can. */
function breakAt(head: Head, line: Line): string | undefined {
  if (line.seq !== head.seq + 1)
    return `expected record ${head.seq + 1}, found ${line.seq}: records are missing or moved`;
  if (!line.body.startsWith(startOf(line.kind)))
    return `its kind is stored as "${line.kind}", but its body says otherwise`;
  if (link(head.hash, line.seq, line.at, line.body) !== line.hash)
    return 'its hash does not match its content';
  return undefined;
}

/** Reads the body of a record. @throws OperatorError `data` if this version cannot read it. */
export function bodyOf(where: string, line: Pick<Line, 'seq' | 'kind' | 'body'>): RecordBody {
  try {
    return readBodyText(line.kind, line.body);
  } catch (cause) {
    throw new OperatorError(
      'data',
      `journal ${where}: record ${line.seq} (${line.kind}) is intact, but this version cannot read it: ${String(cause)}. ` +
        'Run the version of tranche that wrote it.',
      cause,
    );
  }
}
