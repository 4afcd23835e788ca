import { copyFileSync, constants, existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { makeFolders } from '../../journal/sqlite/files.ts';
import { shownPath, whyUnreadable } from '../config/files.ts';
import type { RunIo } from './run.ts';

export interface InitOptions {
  /** Folder to fill; default: the working directory. */
  readonly folder?: string | undefined;
}

/** What `init` writes: the examples of this package, which its tests load. */
export const initFiles = [
  'config/paper.yaml',
  'config/dry-run.yaml',
  'config/live.yaml',
  'config/venue.yaml',
  'config/schema/config.schema.json',
  'config/schema/strategy.schema.json',
  'config/schema/venue.schema.json',
  'strategies/btc-twap.yaml',
  'strategies/treasury-rebalance.yaml',
  'strategies/demo/twap-buy.yaml',
  'strategies/demo/rebalance.yaml',
] as const;

const examples = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Writes commented configs and strategies into a folder. Never overwrites: with one file in the way nothing is written.
 *
 * @throws OperatorError `storage` when a file cannot be written there.
 */
export function init({ folder = '.' }: InitOptions, io: Pick<RunIo, 'stderr' | 'cwd' | 'self'>): number {
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
      copyFileSync(join(examples, file), to, constants.COPYFILE_EXCL);
    } catch (cause) {
      throw new OperatorError(
        'storage',
        `${shownPath(to, io.cwd)} cannot be written: ${whyUnreadable(cause)}`,
        cause,
      );
    }
    io.stderr.write(`wrote ${shownPath(to, io.cwd)}\n`);
  }
  const config = forShell(shownPath(join(target, 'config/paper.yaml'), io.cwd));
  io.stderr.write(
    `\nnext: ${io.self} validate --config ${config}\n      ${io.self} run --config ${config}\n`,
  );
  return 0;
}

/** As it can be pasted into a shell. */
const forShell = (path: string): string =>
  /[^\p{L}\p{N}_./\\:-]/u.test(path) ? `'${path.replaceAll("'", String.raw`'\''`)}'` : path;
