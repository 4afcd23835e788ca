import { defer, map } from 'rxjs';
import { limitNames } from '../../core/risk/limit-table.ts';
import type { StrategiesPort } from '../../engine/ports.ts';
import type { ReloadedChannels, StrategySource } from '../../engine/state/strategy-source.ts';
import { NOTIFY, rereadConfig } from '../config/config.ts';
import type { Config, ConfigOptions, RereadConfig } from '../config/config.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';
import { channelSettings } from '../daemon/settings-in-force.ts';
import { limitsOf } from '../config/desk-settings.ts';
import { formatProblems } from '../config/problems.ts';
import { rightsProblems } from './rights-problems.ts';
import { readStrategies, reviveStrategy } from './strategies.ts';
import { faultWords, standingFaultsInTurns } from './feasibility.ts';

export interface StrategyFiles {
  /** Path as on the command line. */
  readonly configFile: string;
  readonly options: ConfigOptions;
  /** The config with which the desk started; `sections` has the text of each setting. */
  readonly config: Config;
  readonly sections: ReadonlyMap<string, string>;
  /** Replaces the channels in use. Omitted: a reload does not read them. */
  readonly useChannels?: ((notify: NotifyConfig | undefined) => void) | undefined;
}

/** Returns a note on the settings that have changed since the start and that a reload does not apply. */
function laterWords(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly string[] {
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
    (name) => before.get(name) !== now.get(name) && !isLimit(name) && !name.startsWith(NOTIFY),
  );
  return changed.length === 0
    ? []
    : [`the config was edited: ${changed.toSorted((a, b) => (a < b ? -1 : 1)).join(', ')} ${changed.length === 1 ? 'takes' : 'take'} effect at the next start`]; // prettier-ignore
}
const isLimit = (name: string): boolean =>
  name.startsWith('controls.') && limitNames.has(name.slice('controls.'.length));

/** Returns the port through which a running desk reads its strategies, limits and channels from disk again. */
export function strategyFiles(files: StrategyFiles): StrategiesPort {
  const channels = channelsOf(files);
  let current = files.config;
  return {
    infeasible: (strategies, { now, ...state }) =>
      defer(async () => await standingFaultsInTurns({ config: current, strategies, now, state })).pipe(
        map((faults) => faults.map((fault) => ({ strategy: fault.strategy, says: faultWords(fault) }))),
      ),
    read() {
      const { configFile, options, sections } = files;
      const { mode } = files.config;
      const again = rereadConfig(configFile, { ...options, mode });
      // The checks apply the limits under which the strategies would trade.
      const config =
        again.controls === undefined ? files.config : { ...files.config, controls: again.controls };
      const { strategies, problems } = readStrategies(again.strategyFiles, config, options);
      current = config;
      const all = [...again.problems, ...problems];
      if (all.length > 0) return { problems: formatProblems(all, { colour: false }).trimEnd() };
      const [rights] = config.mode === 'live' ? rightsProblems(configFile, strategies, options.cwd) : [];
      if (rights !== undefined) return { problems: rights };
      return {
        sources: strategies.filter(({ enabled }) => enabled).map(sourceOf),
        off: strategies.filter(({ enabled }) => !enabled).map(({ id }) => id),
        limits: limitsOf(config),
        channels: channels(again),
        notes: laterWords(sections, again.sections),
      };
    },
    revive: (begun) => reviveStrategy(begun, { modules: files.config.modules }),
  };
}

/** Returns a function that compares the channels of the file with those in use. */
function channelsOf({
  sections,
  useChannels,
}: StrategyFiles): (again: RereadConfig) => ReloadedChannels | undefined {
  let inUse = sections;
  return ({ sections: now, notify }) => {
    if (useChannels === undefined) return undefined;
    const names = [...new Set([...inUse.keys(), ...now.keys()])].filter((name) => name.startsWith(NOTIFY));
    const changed = names
      .toSorted((a, b) => (a < b ? -1 : 1))
      .filter((name) => inUse.get(name) !== now.get(name));
    const words = changed.map(
      (name) => `${name.slice(NOTIFY.length)} ${changeOf(inUse.has(name), now.has(name))}`,
    );
    return {
      changes: words,
      settings: channelSettings(notify),
      use() {
        inUse = now;
        useChannels(notify);
      },
    };
  };
}

const changeOf = (wasThere: boolean, isThere: boolean): string =>
  wasThere && isThere ? 'changed' : isThere ? 'added' : 'removed';

/** Returns a strategy for the engine, without its location in a file. */
const sourceOf = ({ id, kind, hash, document, bound }: StrategySource): StrategySource => ({
  id,
  kind,
  hash,
  document,
  bound,
});
