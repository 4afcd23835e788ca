import type { KeptLimits } from '../../core/approvals/limits-in-force.ts';
import type { SettingsRecord } from '../../core/record.ts';
import { limitTexts } from '../../core/risk/limit-table.ts';
import type { Limits } from '../../core/risk/limits.ts';
import {
  approvalSettings,
  isLimitPath,
  isPathOfPerson,
  limitSettings,
  personSettings,
  settingChanges,
  settingsHash,
  withChanges,
  withReplaced,
} from '../../core/risk/setting-changes.ts';
import type { SettingTexts } from '../../core/risk/setting-changes.ts';
import type { DeskSettings } from '../desk-settings.ts';
import type { Person } from '../../core/people.ts';
import type { ReloadedSettings } from './strategy-source.ts';

/** The limits that a start records; none if the journal does not outlive the process. */
export const limitsToKeep = ({
  areLimitsKept,
  limits,
  approvals,
}: Pick<DeskSettings, 'areLimitsKept' | 'limits' | 'approvals'>): KeptLimits | undefined =>
  areLimitsKept === true
    ? { limits: limitTexts(limits), ...(approvals === undefined ? {} : { approvals }) }
    : undefined;

/** Who changed settings, and why. */
export type SettingsAuthor = Pick<SettingsRecord, 'cause' | 'by' | 'why' | 'token' | 'approvals'>;

/**
 * All settings of a start: the config's settings, with the limits, approvals and people that the engine knows. `undefined`:
 * none are recorded.
 */
export const settingsAtStart = (
  { settings, limits, approvals }: Pick<DeskSettings, 'settings' | 'limits' | 'approvals'>,
  people: Iterable<Person>,
): SettingTexts | undefined =>
  settings && {
    ...settings,
    ...limitSettings(limitTexts(limits)),
    ...approvalSettings(approvals),
    ...personSettings(people),
  };

/**
 * The settings in force as this process records them. They advance when a record is created, not when it is durable, so
 * that of two pending changes the second builds on the first. Until `begin` is called, it records nothing, because
 * backtest journals have no settings.
 */
export class RecordedSettings {
  #current: SettingTexts | undefined;

  /** Hash of the settings in force. */
  get hash(): string | undefined {
    return this.#current && settingsHash(this.#current);
  }

  /** Begins with the settings of this start. Returns the record of the differences from the previous process. */
  begin(
    before: SettingTexts | undefined,
    now: SettingTexts | undefined,
    author: SettingsAuthor,
  ): readonly SettingsRecord[] {
    if (now === undefined) return [];
    this.#current = before ?? {};
    return this.#change(now, author);
  }

  /** Limits and settings from the files have changed. */
  reload(
    limits: Limits | undefined,
    channels: ReloadedSettings | undefined,
    author: SettingsAuthor,
  ): readonly SettingsRecord[] {
    if (this.#current === undefined) return [];
    let now = this.#current;
    if (limits !== undefined) now = withReplaced(now, isLimitPath, limitSettings(limitTexts(limits)));
    if (channels !== undefined) {
      const { prefixes, texts } = channels;
      now = withReplaced(now, (path) => prefixes.some((prefix) => path.startsWith(prefix)), texts);
    }
    return this.#change(now, author);
  }

  /** A person was invited, enrolled or removed. */
  person(person: Person, author: SettingsAuthor): readonly SettingsRecord[] {
    if (this.#current === undefined) return [];
    const { name } = person;
    const now = withReplaced(this.#current, (path) => isPathOfPerson(path, name), personSettings([person]));
    return this.#change(now, author);
  }

  #change(
    now: SettingTexts,
    { cause, by, why, token, approvals = [] }: SettingsAuthor,
  ): readonly SettingsRecord[] {
    const changes = settingChanges(this.#current ?? {}, now);
    if (changes.length === 0) return [];
    // Not `now`, which may write an equal amount in another way.
    this.#current = withChanges(this.#current, changes);
    return [
      {
        kind: 'settings',
        cause,
        changes,
        hash: settingsHash(this.#current),
        by,
        why,
        ...(token === undefined ? {} : { token }),
        ...(approvals.length === 0 ? {} : { approvals }),
      },
    ];
  }
}
