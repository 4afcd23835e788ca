import type { StoredRecord } from '../../core/record.ts';
import { settingWords } from '../../core/risk/setting-changes.ts';
import type { SettingChange } from '../../core/risk/setting-changes.ts';
import { isoOf } from '../../core/time.ts';
import type { Report } from '../json/schema.ts';

/** A change of the desk or of a part of it: a halt, a pause, a reload, an approval, a person. */
export type Action = NonNullable<Report['oversight']>['actions'][number];

/** The action of a person, or of the desk itself, in a record. */
export function actionOf({ seq, at, body }: StoredRecord): Action | undefined {
  const action = (what: string): Action | undefined =>
    'by' in body && 'why' in body
      ? { at: isoOf(at), what, by: body.by, why: body.why, record: seq }
      : undefined;
  switch (body.kind) {
    case 'control':
      return action(`${body.parent ?? body.strategy ?? body.pair ?? 'the desk'} ${body.state}`);
    case 'approval':
      return action(`request ${body.request} ${body.step} (${body.for})`);
    case 'reload':
      return action(body.result === 'applied' ? 'strategies and limits reloaded' : 'reload refused');
    case 'person':
      // Signing in changes nothing.
      return body.step === 'signed_in' ? undefined : action(`${body.person} ${body.step} as ${body.role}`);
    case 'settings':
      // Reloads and people have their own records, and at a first start there is nothing to compare with.
      return body.cause === 'start' && body.changes.some(({ before }) => before !== undefined)
        ? action(`settings differ from those of the previous start: ${changesText(body.changes)}`)
        : undefined;
    case 'resolved':
      return action(
        `order ${body.client_order_id} resolved as ${body.verdict === 'filled' ? 'traded' : 'not traded'}`,
      );
    default:
      return undefined;
  }
}

const CHANGES_SHOWN = 5;

function changesText(changes: readonly SettingChange[]): string {
  const more = changes.length - CHANGES_SHOWN;
  const shown = changes.slice(0, CHANGES_SHOWN).map(settingWords).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
