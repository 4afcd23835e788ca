import { dirname, resolve } from 'node:path';
import { changeableByOthers, replaceableByOthers } from '../../files/rights.ts';
import type { LoadedStrategy } from './strategies.ts';

/**
 * Returns the places where other users of this machine could change what the desk trades: the config, strategies,
 * modules and every folder above them. Each problem is one sentence with its remedy. Only the owner may write to a folder of
 * strategies, even if a sticky bit protects each file, because a new file in it is a new strategy. `others`: absolute
 * paths of additional files.
 */
export function rightsProblems(
  configFile: string,
  strategies: readonly Pick<LoadedStrategy, 'file' | 'document'>[],
  cwd: string,
  others: readonly (string | undefined)[] = [],
): readonly string[] {
  const files = strategies.flatMap(({ file, document }) => {
    const path = resolve(cwd, file);
    const { module } = document;
    return typeof module === 'string' ? [path, resolve(dirname(path), module)] : [path];
  });
  const all = [
    replaceableByOthers(resolve(cwd, configFile)),
    ...others.map((file) => (file === undefined ? undefined : replaceableByOthers(file))),
    ...[...files, ...files.map((file) => dirname(file))].map(changeableByOthers),
    ...files.map(replaceableByOthers),
  ];
  return [...new Set(all.filter((problem) => problem !== undefined))];
}
