import type { Command } from '@commander-js/extra-typings';
import { SettingHistory } from '../../../core/risk/setting-history.ts';
import type { SettingInForce } from '../../../core/risk/setting-history.ts';
import { settingWords, settingsHash, withChanges } from '../../../core/risk/setting-changes.ts';
import type { SettingTexts } from '../../../core/risk/setting-changes.ts';
import { exitCodes } from '../../../core/errors.ts';
import type { SettingsRecord, StoredRecord } from '../../../core/record.ts';
import { escapeMarks, forTerminal } from '../../../core/text/escape.ts';
import { instant, isoOf } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { Journal } from '../../../journal/journal.ts';
import { timeOption } from '../../cli/options.ts';
import type { CliWorld } from '../../cli/options.ts';
import { JOURNAL, answer, urlOf, write } from './journal.ts';
import { streams } from './streams.ts';
import type { Out } from './journal.ts';
import type { Given } from '../io.ts';

/** Adds `tranche journal settings`. */
export function addSettings(journal: Command, { done }: CliWorld): void {
  journal
    .command('settings')
    .description('print the limits, config and people in force, or their changes with authors')
    .argument(...JOURNAL)
    .option(
      '--at <time>',
      'settings in force at this time, such as 2026-12-01T09:00:00Z (default: the end of the journal)',
      timeOption,
    )
    .option('--changes', 'print the changes instead, oldest first, each with its author')
    .option('--since <time>', 'with --changes: only changes since this time', timeOption)
    .option('--json', 'print the result as JSON')
    .action(async (file, options) => {
      const time = (text: number | undefined): Instant | undefined =>
        text === undefined ? undefined : instant(text);
      done(await journalSettings(urlOf(file), { ...options, at: time(options.at), since: time(options.since) }, streams())); // prettier-ignore
    });
}

export type SettingsOptions = Given<never, 'changes' | 'json'> & {
  readonly at?: Instant | undefined;
  readonly since?: Instant | undefined;
};

const NONE =
  'this journal has no record of its settings up to that time: an older version or a backtest wrote it. To see the limits of each start, run tranche journal show --kind started --json';

/** Prints the settings in force, or their changes. Exit codes as in `journalShow`; 65 also when a hash does not follow from the changes. */
export async function journalSettings(url: string, options: SettingsOptions, out: Out): Promise<number> {
  return await answer(url, out, () => async (journal) => {
    const records = settingsOf(journal, options.at);
    if (records.length === 0) out.stderr.write(`${NONE}\n`);
    const text = options.changes === true ? changesText(records, options) : inForceText(records, options);
    await write(out.stdout, text);
    const wrong = wrongHash(records);
    if (wrong === undefined) return 0;
    out.stderr.write(`the hash of record ${wrong} does not match the settings up to that time: a record is missing or was changed; run tranche journal verify\n`); // prettier-ignore
    return exitCodes.data;
  });
}

/** Returns the number of the first record whose hash does not follow from the changes up to it. */
function wrongHash(records: readonly Stored[]): number | undefined {
  let settings: SettingTexts | undefined;
  for (const { seq, body } of records) {
    settings = withChanges(settings, body.changes);
    if (settingsHash(settings) !== body.hash) return seq;
  }
  return undefined;
}

type Stored = StoredRecord & { readonly body: SettingsRecord };

/** Returns the settings records up to and including a time. */
function settingsOf(journal: Journal, until: Instant | undefined): readonly Stored[] {
  const found: Stored[] = [];
  for (const record of journal.select({ kinds: ['settings'], order: 'oldest' })) {
    const { body, at } = record;
    if (body.kind === 'settings' && (until === undefined || at <= until)) found.push({ ...record, body });
  }
  return found;
}

function inForceText(records: readonly Stored[], { json }: SettingsOptions): string {
  const history = new SettingHistory();
  for (const record of records) history.take(record);
  const inForce = [...(history.inForce ?? [])];
  if (json === true) return jsonText({ settings: Object.fromEntries(inForce.map(plainSetting)) });
  const width = Math.max(0, ...inForce.map(([path]) => path.length));
  return inForce
    .map(([path, { value, since, by }]) =>
      line(`${path.padEnd(width)}  ${value}  (since ${isoOf(since)} by ${by})`),
    )
    .join('');
}

const plainSetting = ([path, { value, since, by, seq }]: readonly [string, SettingInForce]): [
  string,
  object,
] => [path, { value, since: isoOf(since), by, record: seq }];

function changesText(records: readonly Stored[], { since, json }: SettingsOptions): string {
  const chosen = records.filter(({ at }) => since === undefined || at >= since);
  if (json === true)
    return jsonText({
      changes: chosen.map(({ seq, at, body }) => ({ ...body, at: isoOf(at), record: seq })),
    });
  return chosen
    .map(({ seq, at, body: { cause, by, why, approvals, changes } }) => {
      const approved = approvals === undefined ? '' : `, approved as ${approvals.join(', ')}`;
      const head = `${isoOf(at)}  record ${seq}, ${cause}, by ${by}${approved}: ${why}`;
      return [head, ...changes.map((change) => `  ${settingWords(change)}`)].map(line).join('');
    })
    .join('');
}

const line = (words: string): string => `${forTerminal(words)}\n`;
const jsonText = (value: object): string => `${escapeMarks(JSON.stringify(value, undefined, 2))}\n`;
