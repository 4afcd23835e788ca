import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DeskFolder } from './desk.ts';
import type { Event } from './program.ts';

/** Proves the chain of the journal and that only these attempts have been left open. */
export async function expectWholeJournal(desk: DeskFolder, open: readonly string[] = []): Promise<void> {
  const { code, stdout, stderr } = await desk.command('journal', 'verify', desk.journal);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('records is intact');
  expect(openIntents(await desk.records())).toEqual(open);
}

/** The token stands in nothing that the desk has said or written, in no spelling. */
export function expectNoToken({ token, folder, programs }: DeskFolder, more: readonly string[] = []): void {
  const spellings = [
    token,
    ...(['base64', 'base64url', 'hex'] as const).map((spelling) => Buffer.from(token).toString(spelling)),
  ];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBeGreaterThan(0);
  const places = [
    ...files.map((file) => [file, readFileSync(file, 'latin1')] as const),
    ...programs.map(({ pid, stdout }) => [`stdout of ${pid}`, stdout] as const),
    ...programs.map(({ pid, stderr }) => [`stderr of ${pid}`, stderr] as const),
    ...more.map((text, i) => [`text ${i}`, text] as const),
  ];
  const found = places.filter(([, text]) => spellings.some((spelling) => text.includes(spelling)));
  expect(found.map(([place]) => place)).toEqual([]);
}

/** Client ids of attempts whose outcome the journal does not hold. */
export function openIntents(records: readonly Event[]): readonly unknown[] {
  const open = new Set<unknown>();
  for (const { kind, client_order_id: id, result } of records) {
    if (kind === 'intent') open.add(id);
    if (kind === 'fill' || (kind === 'attempt' && result !== 'doubt')) open.delete(id);
  }
  return [...open];
}

/** Ids of the alerts that all processes of the desk raised, in order, from its log. */
export function alertsOf({ folder }: DeskFolder): readonly string[] {
  const file = join(folder, 'journal.db.log');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return lines.flatMap((line) => /"alert":"(?<id>\w+)"/u.exec(line)?.groups?.['id'] ?? []);
}
