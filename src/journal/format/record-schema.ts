import { z } from 'zod';
import { recordShapes } from '../../core/record.ts';
import type { RecordBody, RecordKind } from '../../core/record.ts';
import { reasons } from '../../core/reasons.ts';

/** Checks records against their schemas, on reading and on writing, because a record that could not be read back must never be written. */

export const recordKinds = Object.keys(recordShapes).filter(isRecordKind);

export function isRecordKind(name: string): name is RecordKind {
  return Object.hasOwn(recordShapes, name);
}

type RecordSchema = ReturnType<(typeof recordShapes)[RecordKind]>;
const made = new Map<RecordKind, RecordSchema>();

export function recordSchema(kind: RecordKind): RecordSchema {
  const known = made.get(kind);
  if (known !== undefined) return known;
  const schema = recordShapes[kind]();
  made.set(kind, schema);
  return schema;
}

/** The error in `body`, including the field; `undefined` for a valid record. */
export function problemWith(body: RecordBody): string | undefined {
  const result = recordSchema(body.kind).safeParse(body);
  if (result.success) return undefined;
  const [first] = result.error.issues;
  return `${[body.kind, ...(first?.path ?? [])].map(String).join('.')}: ${first?.message ?? 'unreadable'}`;
}

/** Every schema and literal that a record may contain, as text. */
export const vocabularyText = (): string =>
  JSON.stringify([
    z.toJSONSchema(z.object(Object.fromEntries(recordKinds.map((kind) => [kind, recordSchema(kind)]))), {
      unrepresentable: 'any',
    }),
    Object.keys(reasons),
  ]);

/** The kind at the beginning of a body's canonical text. */
export const kindOf = (text: string): string =>
  /^\{"kind":"(?<kind>[a-z_]{1,40})"/u.exec(text)?.groups?.['kind'] ?? '';

/** Parses a body that the schemas of this version have already checked, because checking again would take most of a start. */
export const trusted = (text: string): RecordBody => JSON.parse(text) as RecordBody; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the caller knows that it was checked

/** Parses the canonical text of a body stored as `kind`. @throws Error with a message if this version cannot parse it. */
export function readBodyText(kind: string, text: string): RecordBody {
  if (!isRecordKind(kind)) throw new Error(`unknown kind of record "${kind}"`);
  return recordSchema(kind).parse(JSON.parse(text));
}
