import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { asyncApi } from '../../wire/documents/asyncapi.ts';
import { openApi } from '../../wire/documents/openapi.ts';
import { makeFolders } from '../../files/folders.ts';
import { OperatorError } from '../../core/errors.ts';
import type { AddCommands } from '../cli/options.ts';
import { isSchemaName, schemaNames, schemaText } from '../config/schema.ts';
import type { CommandIo } from './io.ts';

/** Adds `tranche schema`. */
export const addSchema: AddCommands = (cli, { io, done }) => {
  cli
    .command('schema')
    .description('print the JSON Schema of a file type, for editors and for programs that read report.json')
    .argument('[name]', 'config, strategy, venue, watch or report', 'config')
    .option('--write <folder>', 'write all schemas to this folder instead')
    .option('--openapi', "print the venue's REST interface as an OpenAPI 3.1 document instead")
    .option('--asyncapi', "print the venue's WebSocket interface as an AsyncAPI 3 document instead")
    .action((name, { write, openapi, asyncapi }) => {
      if (write !== undefined) writeSchemas(write, io);
      else if (openapi === true) printDocument(openApi(), io);
      else if (asyncapi === true) printDocument(asyncApi(), io);
      else if (isSchemaName(name)) io.stdout.write(schemaText(name));
      else throw new OperatorError('usage', `there is no schema "${name}": ${schemaNames.join(', ')}`);
      done(0);
    });
};

/** Prints the interface of the venue as a document for machines. */
function printDocument(document: object, { stdout }: Pick<CommandIo, 'stdout'>): void {
  stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
}

/** Writes all schemas into `folder`, under the names that the examples refer to. */
export function writeSchemas(folder: string, io: Pick<CommandIo, 'stderr' | 'cwd'>): void {
  const path = resolve(io.cwd, folder);
  makeFolders(path);
  for (const name of schemaNames) {
    const file = join(path, `${name}.schema.json`);
    writeFileSync(file, schemaText(name));
    io.stderr.write(`wrote ${file}\n`);
  }
}
