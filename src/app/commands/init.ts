import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { makeFolders } from '../../files/folders.ts';
import { schemaText } from '../config/schema.ts';
import { shownPath, whyUnreadable } from '../config/files.ts';
import type { AddCommands } from '../cli/options.ts';
import type { RunIo } from './io.ts';

/** Examples of this package that `init` writes; its tests load them. */
const exampleFiles = [
  'config/paper.yaml',
  'config/dry-run.yaml',
  'config/live.yaml',
  'config/venue.yaml',
  'strategies/btc-twap.yaml',
  'strategies/treasury-rebalance.yaml',
  'strategies/demo/twap-buy.yaml',
  'strategies/demo/rebalance.yaml',
] as const;

/** Schemas by which editors check the examples. */
const schemaFiles = new Map(
  (['config', 'strategy', 'venue'] as const).map((name) => [`config/schema/${name}.schema.json`, name]),
);

/** Files that `init` writes. */
export const initFiles: readonly string[] = [...exampleFiles, ...schemaFiles.keys()];

/** Folder of this package. */
const examples = fileURLToPath(new URL('../../../', import.meta.url));

/** Adds `tranche init`. */
export const addInit: AddCommands = (cli, { io, done }) => {
  cli
    .command('init')
    .description('write commented configs and strategies into a folder; never overwrites files')
    .argument('[folder]', 'target folder', '.')
    .action((folder) => {
      done(init(folder, io));
    });
};

/**
 * Writes commented configs and strategies into a folder. Writes nothing if one of the files exists.
 *
 * @throws OperatorError `storage` if a file cannot be written there.
 */
export function init(folder: string, io: Pick<RunIo, 'stderr' | 'cwd' | 'self'>): number {
  const target = resolve(io.cwd, folder);
  const taken = initFiles.filter((file) => existsSync(join(target, file)));
  if (taken.length > 0) {
    const list = taken.map((file) => `  ${join(target, file)}\n`).join('');
    io.stderr.write(
      `nothing was written because these files exist; choose another folder or move them:\n${list}`,
    );
    return exitCodes.usage;
  }
  for (const file of initFiles) {
    const to = join(target, file);
    try {
      makeFolders(dirname(to));
      const schema = schemaFiles.get(file);
      const text = schema === undefined ? readFileSync(join(examples, file)) : schemaText(schema);
      writeFileSync(to, text, { flag: 'wx' });
    } catch (cause) {
      throw new OperatorError(
        'storage',
        `${shownPath(to, io.cwd)} cannot be written: ${whyUnreadable(cause)}`,
        cause,
      );
    }
    io.stderr.write(`wrote ${shownPath(to, io.cwd)}\n`);
  }
  io.stderr.write(nextWords(join(target, 'config/paper.yaml'), io));
  return 0;
}

/** Returns the commands to type next. */
function nextWords(file: string, { cwd, self }: Pick<RunIo, 'cwd' | 'self'>): string {
  const config = forShell(shownPath(file, cwd));
  return `\nnext: ${self} validate --config ${config}\n      ${self} run --config ${config}\n`;
}

/** Quotes a path for a shell, if necessary. */
const forShell = (path: string): string =>
  /[^\p{L}\p{N}_./\\:-]/u.test(path) ? `'${path.replaceAll("'", String.raw`'\''`)}'` : path;
