import { approvalTexts } from '../approvals/approval-settings.ts';
import type { ApprovalSettings } from '../approvals/approval-settings.ts';
import { isAmountText, ratio, text } from '../money.ts';
import { sha256 } from '../ids.ts';
import { canonicalValue } from '../text/json.ts';
import { limitNames } from './limit-table.ts';
import type { LimitTexts } from './limit-table.ts';

/**
 * The settings in force as text, by path: `controls.max_order_notional`: `1000`, `people.ann`: `approver`. Amounts are
 * decimals, durations ISO 8601, lists sorted and joined by `, `. A missing entry means that the setting is not set. No
 * entry contains a secret.
 */
export type SettingTexts = Readonly<Record<string, string>>;

/** A setting that changed. A missing side means that it is not set. */
export interface SettingChange {
  readonly path: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Every setting that differs, sorted by path. Decimals are compared by value, lists as sets. */
export function settingChanges(before: SettingTexts, now: SettingTexts): readonly SettingChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted(byText);
  return paths.flatMap((path) => {
    const [was, is] = [before[path], now[path]];
    if (was === is || (was !== undefined && is !== undefined && isSame(path, was, is))) return [];
    return [
      { path, ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) },
    ];
  });
}

/** The settings after these changes; without `settings`, those of the first record. */
export function withChanges(
  settings: SettingTexts | undefined,
  changes: readonly SettingChange[],
): SettingTexts {
  const now: Record<string, string> = { ...settings };
  for (const { path, after } of changes)
    if (after === undefined) delete now[path];
    else now[path] = after;
  return now;
}

/** The settings, with those that `isReplaced` selects replaced by `others`. */
export const withReplaced = (
  settings: SettingTexts,
  isReplaced: (path: string) => boolean,
  others: SettingTexts,
): SettingTexts => ({
  ...Object.fromEntries(Object.entries(settings).filter(([path]) => !isReplaced(path))),
  ...others,
});

/** SHA-256 over the canonical JSON of the settings, hex. It identifies the settings. */
export const settingsHash = (settings: SettingTexts): string => sha256(canonicalValue(settings));

/** `controls.max_order_notional 1000 -> 5000`. */
export const settingWords = ({ path, before = 'none', after = 'none' }: SettingChange): string =>
  `${path} ${before} -> ${after}`;

const LIMITS = 'controls.';

/** Whether a path names a limit, such as `controls.max_order_quantity.btcusd`. */
export const isLimitPath = (path: string): boolean =>
  path.startsWith(LIMITS) && limitNames.has(path.slice(LIMITS.length).split('.')[0] ?? '');

export const limitSettings = (limits: LimitTexts): SettingTexts =>
  Object.fromEntries(Object.entries(limits).map(([name, value]) => [`${LIMITS}${name}`, value]));

/** The limits among the settings, by the names of `LimitTexts`. */
export const limitsAmong = (settings: SettingTexts): LimitTexts =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([path, value]) =>
      isLimitPath(path) ? [[path.slice(LIMITS.length), value]] : [],
    ),
  );

/** The settings of `operate.approvals`. */
export const approvalSettings = (settings: ApprovalSettings | undefined): SettingTexts =>
  Object.fromEntries(
    Object.entries(settings === undefined ? {} : approvalTexts(settings)).map(([name, value]) => [
      `operate.approvals.${name}`,
      value,
    ]),
  );

const PEOPLE = 'people.';

/**
 * Role of a person who may sign in: `approver`, or `approver, invited` until the person has enrolled a passkey; none
 * after a removal.
 */
export function personSettings(
  people: Iterable<{
    readonly name: string;
    readonly role: string;
    readonly state: 'invited' | 'active' | 'removed';
  }>,
): SettingTexts {
  const texts: Record<string, string> = {};
  for (const { name, role, state } of people)
    if (state !== 'removed') texts[`${PEOPLE}${name}`] = state === 'invited' ? `${role}, invited` : role;
  return texts;
}

/** Names of people never differ only in case. */
export const isPathOfPerson = (path: string, name: string): boolean =>
  path.toLowerCase() === `${PEOPLE}${name}`.toLowerCase();

/** A list as one text, sorted. */
export const listText = (items: Iterable<string>): string => [...items].toSorted(byText).join(', ');

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Names of people may look like numbers, but are text. */
const hasNames = (path: string): boolean => path.startsWith('operate.') || path.startsWith(PEOPLE);

const isSame = (path: string, a: string, b: string): boolean =>
  hasNames(path) ? itemsOf(a) === itemsOf(b) : itemsOf(a, valueOf) === itemsOf(b, valueOf);

const itemsOf = (list: string, of = (item: string): string => item): string =>
  listText(new Set(list.split(', ').map(of)));

/** An item with each decimal in its shortest form: `1000.0 usd` becomes `1000 usd`. */
const valueOf = (item: string): string =>
  item
    .split(' ')
    .map((word) => (isAmountText(word) ? text(ratio(word)) : word))
    .join(' ');
