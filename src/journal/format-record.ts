import { alerts } from '../core/alerts.ts';
import type { Alert } from '../core/alerts.ts';
import { forTerminal } from '../core/text/escape.ts';
import { reasons } from '../core/reasons.ts';
import { changeWords } from '../core/risk/limit-changes.ts';
import { settingWords } from '../core/risk/setting-changes.ts';
import type { Reason } from '../core/reasons.ts';
import type {
  ApprovalRecord,
  AlertRecord,
  ControlRecord,
  FillRecord,
  IntentText,
  PersonRecord,
  RecordBody,
  ReloadRecord,
  SettingsRecord,
  ShownRecord,
  StoredRecord,
  WakeRecord,
} from '../core/record.ts';
import { instant, isoOf } from '../core/time.ts';
import { correctionWords, feesWords, othersWords, verdictWords } from '../core/text/account-words.ts';

/** One line for people: time in UTC, kind, description. Text from the venue or a YAML file cannot control the terminal. */
export const lineFor = ({ at, body }: StoredRecord): string =>
  `${isoOf(at)}  ${body.kind.padEnd(8)}  ${forTerminal(wordsFor(body))}`;

/** The text of a record. It is not escaped, because the caller escapes it for its output. */
export function wordsFor(body: RecordBody): string {
  switch (body.kind) {
    case 'started':
      return `tranche ${body.version} opened the journal for desk ${body.desk} in mode ${body.mode}${body.by === undefined ? '' : `, started by ${body.by}`}`;
    case 'stopped':
      return `stopped: ${body.why}${body.open_doubts === 0 ? '' : `; ${count(body.open_doubts, 'doubt')} left open`}${body.closing_read === false ? '; the account did not confirm the last fills' : ''}`;
    case 'process':
      return body.state === 'running'
        ? 'the process runs'
        : `the process ${body.state === 'failed' ? 'failed' : 'ended'}: ${body.why ?? 'unknown error'}`;
    case 'strategy':
      return `${body.strategy} (${body.type}) begins at ${isoOf(body.begun_at)}`;
    case 'wake':
      return wakeWords(body);
    case 'intent':
      return joined(
        `${body.strategy} ${place(body)}: ${body.side} ${body.size} ${body.by === 'quantity' ? body.base : body.quote} of ${body.pair}`,
        `worst price ${body.worst_price}, reference ${body.reference_price}`,
        ...body.cuts.map((reason, i) => figured(because(reason), body.cut_notes?.[i])),
        body.client_order_id,
      );
    case 'quote':
      return `${body.quantity} at ${body.price} = ${body.amount}, quote ${body.quote_id}, taken after ${body.age_ms} of ${body.life_ms} ms`;
    case 'attempt':
      return joined(`${body.client_order_id} ${body.result}`, because(body.reason), body.detail);
    case 'fill':
      return fillWords(body);
    case 'slice':
      return joined(
        `${body.strategy} ${body.leg} slice ${body.slice} ${body.result}: ${body.filled} for ${body.filled_amount}`,
        because(body.reason),
        body.detail,
      );
    case 'balances':
      return Object.entries(body.balances)
        .map(([currency, balance]) => `${balance} ${currency}`)
        .join(', ');
    case 'maximum':
      return body.why === 'raised'
        ? `after its fills the venue may quote up to ${body.usd} USD of ${body.pair} in one piece`
        : `the venue quotes at most ${body.usd} USD of ${body.pair} in one piece`;
    case 'correction':
      return correctionWords(body);
    case 'shown':
      return shownWords(body);
    case 'resolved':
      return `${verdictWords(body)}, says ${body.by}: ${body.why}`;
    case 'approval':
      return approvalWords(body);
    case 'reload':
      return reloadWords(body);
    case 'settings':
      return settingsWords(body);
    case 'alert':
      return alertWords(body);
    case 'person':
      return personWords(body);
    case 'control':
      break;
  }
  const doubts = body.doubts === undefined ? undefined : `with open doubts: ${body.doubts.join(', ')}`;
  const closed = body.transport === 'closed' ? 'this process can send no order' : undefined;
  return joined(`${scopeOf(body)} ${body.state} by ${body.by}: ${body.why}`, closed, doubts);
}

function shownWords(body: ShownRecord): string {
  const fills = Object.keys(body.fills);
  return joined(
    fills.length === 0 ? undefined : `the account shows ${fills.join(', ')} as booked`,
    othersWords(body),
  );
}

function reloadWords(record: ReloadRecord): string {
  const { by, why, result, changes, notes = [], problems } = record;
  const { limit_changes: limits = [], channel_changes: channels = [] } = record;
  const each = changes.map(({ strategy, what, from, to, why: because }) => {
    const hashes = [from, to].filter((hash) => hash !== undefined).map((hash) => hash.slice(0, 12));
    return `${strategy} ${what.replace('_', ' ')} ${hashes.join(' to ')}${because === undefined ? '' : ` (${because})`}`;
  });
  return joined(
    `reload ${result}, requested by ${by}: ${why}`,
    ...limits.map(changeWords),
    ...channels,
    ...each,
    ...notes,
    problems,
  );
}

/** Maximum number of settings in a line. The first record contains all settings, and its line would be unreadable. */
const SETTINGS_SHOWN = 20;

function settingsWords({ cause, changes, by, why }: SettingsRecord): string {
  const more = changes.length - SETTINGS_SHOWN;
  return joined(
    `settings in force changed at a ${cause === 'person' ? 'change of people' : cause} by ${by}: ${why}`,
    ...changes.slice(0, SETTINGS_SHOWN).map(settingWords),
    more > 0 ? `${more} more, see tranche journal settings` : undefined,
  );
}

function personWords({ person, step, role, passkey, by, why }: PersonRecord): string {
  const key = passkey === undefined ? '' : ` passkey ${passkey.id.slice(0, 12)}`;
  switch (step) {
    case 'invited':
      return `${by} invited ${person} as ${role}: ${why}`;
    case 'enrolled':
      return `${person} enrolled${key} as ${role}: ${why}`;
    case 'signed_in':
      return `${person} signed in with${key}: ${why}`;
    case 'removed':
      return `${by} removed ${person}, who was ${role}: ${why}`;
  }
}

/** An alert in one line: its severity, id, meaning and facts. */
export function alertWords({ alert, severity, facts, others }: AlertRecord): string {
  const says = Object.hasOwn(alerts, alert) ? alerts[alert as Alert].says : 'an alert of another version'; // oxlint-disable-line typescript/no-unsafe-type-assertion -- compared in this line
  const about = Object.entries(facts).map(([name, value]) => `${name} ${wordOf(value)}`);
  return joined(
    `${severity} ${alert}: ${says}`,
    ...about,
    others === undefined
      ? undefined
      : `${count(others, 'further alert')} of this kind since the previous one`,
  );
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const approvalWords = ({ request, step, by, asks, why, expires_at: until }: ApprovalRecord): string =>
  `${request} ${step} by ${by}: ${asks}, until ${isoOf(until)}: ${why}`;

function scopeOf({ parent, pair, strategy }: ControlRecord): string {
  if (parent !== undefined) return `parent ${parent}`;
  return pair ?? (strategy === undefined ? 'desk' : `strategy ${strategy}`);
}

function wakeWords(wake: WakeRecord): string {
  const detail = Object.entries(wake.detail)
    .map(
      ([name, value]) =>
        ` ${name} ${name === 'due' && typeof value === 'number' ? isoOf(instant(value)) : value}`,
    )
    .join('');
  return joined(
    `${wake.strategy} woke on ${wake.on}${detail}`,
    ...wake.intents.map(intentWords),
    wake.missed.length === 0 ? undefined : `${count(wake.missed.length, 'slice')} missed`,
    because(wake.reason),
    wake.note,
    wake.finished === undefined ? undefined : `done, ${because(wake.finished)}`,
  );
}

const intentWords = (intent: IntentText): string =>
  joined(
    `wants to ${intent.side} ${intent.size} (${intent.by}) of ${intent.pair}`,
    intent.limit === undefined ? undefined : `limit ${intent.limit}`,
  );

function fillWords(fill: FillRecord): string {
  const verb = fill.side === 'buy' ? 'bought' : 'sold';
  return joined(
    `${fill.strategy} ${place(fill)}: ${verb} ${fill.quantity} ${fill.base} at ${fill.price} = ${fill.amount} ${fill.quote}`,
    `fees ${feesWords(fill)}`,
    `order ${fill.order_id}`,
    fill.source === 'order' ? undefined : `proven by ${fill.source}`,
  );
}

const place = ({ parent, slice, attempt }: { parent: string; slice: number; attempt: number }): string =>
  `${parent} slice ${slice} attempt ${attempt}`;

const because = (reason: Reason | undefined): string | undefined =>
  reason === undefined ? undefined : `${reason}: ${reasons[reason]}`;

const figured = (words: string | undefined, figures: string | undefined): string | undefined =>
  words === undefined || figures === undefined ? words : `${words} (${figures})`;

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

const joined = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join('; ');
