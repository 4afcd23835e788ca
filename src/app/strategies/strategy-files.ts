import { watch } from 'node:fs';
import { dirname } from 'node:path';
import { Observable, merge } from 'rxjs';
import type { StrategiesPort } from '../../engine/ports.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import { rereadConfig } from '../config/config.ts';
import type { Config, ConfigOptions } from '../config/config.ts';
import { formatProblems } from '../config/problems.ts';
import { rightsProblems } from './rights-problems.ts';
import { readStrategies, reviveStrategy } from './strategies.ts';

export interface StrategyFiles {
  /** As on the command line. */
  readonly configFile: string;
  readonly options: ConfigOptions;
  /** The config that the desk runs with, and its hash: strategies are checked against this one. */
  readonly config: Config;
  readonly hash: string;
  readonly warn: (message: string, facts?: Readonly<Record<string, unknown>>) => void;
}

const CONFIG_CHANGED =
  'the config was edited: only the list of strategies takes effect now, the rest at the next start';

/** The strategies of a config as they lie on the disk, for a desk that reads them again while it runs. */
export const strategyFiles = (files: StrategyFiles): StrategiesPort => ({
  read() {
    const { configFile, options, config, hash } = files;
    const again = rereadConfig(configFile, options);
    const { strategies, problems } = readStrategies(again.strategyFiles, config, options);
    const all = [...again.problems, ...problems];
    if (all.length > 0) return { problems: formatProblems(all, { colour: false }).trimEnd() };
    const [rights] = config.mode === 'live' ? rightsProblems(configFile, strategies, options.cwd) : [];
    if (rights !== undefined) return { problems: rights };
    return {
      sources: strategies.filter(({ enabled }) => enabled).map(sourceOf),
      off: strategies.filter(({ enabled }) => !enabled).map(({ id }) => id),
      notes: again.hash === hash ? [] : [CONFIG_CHANGED],
    };
  },
  revive: (begun) => reviveStrategy(begun, { modules: files.config.modules }),
  changed$: files.config.reload === 'on_change' ? folderChanges(files) : undefined,
});

/** A strategy as the engine knows it, without its place in a file. */
const sourceOf = ({ id, kind, hash, document, bound }: StrategySource): StrategySource => ({
  id,
  kind,
  hash,
  document,
  bound,
});

/** A file of a strategy, a calendar or a module in a folder of strategies, or below, may have changed. */
const folderChanges = ({ config, warn }: StrategyFiles): Observable<unknown> =>
  merge(
    ...[...new Set(config.strategyFiles.map((file) => dirname(file)))].map((folder) => watched(folder, warn)),
  );

/** A folder that cannot be watched is reported, and read again on request. */
const watched = (folder: string, warn: StrategyFiles['warn']): Observable<unknown> =>
  new Observable((observer) => {
    const fail = (error: unknown): void => {
      warn('a strategies folder cannot be watched: reload with SIGHUP or tranche reload', {
        folder,
        error: error instanceof Error ? error.message : 'unknown',
      });
    };
    try {
      const watcher = watch(folder, { recursive: true, persistent: false }, (_, name) => {
        if (name === null || /\.(?:ya?ml|ts|js)$/iu.test(name)) observer.next(undefined);
      });
      watcher.on('error', fail);
      return () => {
        watcher.close();
      };
    } catch (error) {
      fail(error);
      return undefined;
    }
  });
