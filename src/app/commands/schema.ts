import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { asyncApi } from '../../wire/documents/asyncapi.ts';
import { openApi } from '../../wire/documents/openapi.ts';
import { makeFolders } from '../../files/folders.ts';
import { schemaNames, schemaText } from '../config/schema.ts';
import type { SchemaName } from '../config/schema.ts';
import type { CommandIo } from './io.ts';

export interface SchemaOptions {
  readonly name: SchemaName;
}

/** Prints the JSON Schema of one kind of file. */
export function schema({ name }: SchemaOptions, io: Pick<CommandIo, 'stdout'>): number {
  io.stdout.write(schemaText(name));
  return 0;
}

/** Prints the interface of the venue as a document for machines. */
export function interfaceDocument(kind: 'openapi' | 'asyncapi', io: Pick<CommandIo, 'stdout'>): number {
  const document = kind === 'openapi' ? openApi() : asyncApi();
  io.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
  return 0;
}

/** Writes all schemas into `folder`, under the names that the examples refer to. */
export function writeSchemas(folder: string, io: Pick<CommandIo, 'stderr' | 'cwd'>): number {
  const path = resolve(io.cwd, folder);
  makeFolders(path);
  for (const name of schemaNames) {
    const file = join(path, `${name}.schema.json`);
    writeFileSync(file, schemaText(name));
    io.stderr.write(`wrote ${file}\n`);
  }
  return 0;
}
