import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { OperatorError } from '../../core/errors.ts';
import { escapeMarks } from '../../core/text/escape.ts';
import { csvRow } from '../../journal/export.ts';
import { createPrivate } from '../../journal/sqlite/files.ts';
import type { CommandIo } from '../commands/io.ts';

/** Yields lines of CSV. */
export function* csvLines(cells: Iterable<readonly unknown[]>): Generator<string> {
  for (const row of cells) yield csvRow(row);
}

/** Yields one JSON object per line. */
export function* jsonLines(values: Iterable<unknown>): Generator<string> {
  for (const value of values) yield `${escapeMarks(JSON.stringify(value))}\n`;
}

/**
 * Writes to stdout, or to a file that only its owner can read and that appears only once it is complete. @throws
 * OperatorError `storage`
 */
export function writeLines(lines: Iterable<string>, file: string | undefined, io: CommandIo): void {
  if (file === undefined) {
    for (const chunk of chunksOf(lines)) io.stdout.write(chunk);
    return;
  }
  const part = `${file}.part`;
  try {
    rmSync(part, { force: true });
    createPrivate(part);
    const handle = openSync(part, 'w');
    try {
      for (const chunk of chunksOf(lines)) writeFileSync(handle, chunk);
    } finally {
      closeSync(handle);
    }
    renameSync(part, file);
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('storage', `${file} cannot be written: ${why}`, cause);
  }
}

const CHUNK = 64 * 1_024;

/** Joins lines into chunks that are large enough for one write. */
function* chunksOf(lines: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
