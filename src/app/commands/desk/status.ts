import { countOf } from '../../../core/text/count-of.ts';
import { withSeparators } from '../../../core/text/with-separators.ts';
import { STATUS, ask, isStandby, tell } from './daemon-client.ts';
import { daemonCommand } from '../../cli/options.ts';
import type { AddCommands } from '../../cli/options.ts';
import { exitCodes } from '../../../core/errors.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Adds `tranche status`. Exit codes: 0, 69 when no daemon can be reached, 78 when the daemon rejects the token; with
 * `--exit-code` 75 when the desk cannot trade now.
 */
export const addStatus: AddCommands = (cli, { io, config, done }) => {
  daemonCommand(config)(cli, 'status', 'show the running desk: state, readiness, strategies, holdings, limits, doubts')
    .option('--exit-code', 'exit 75 if the desk cannot trade now')
    .action(async ({ exitCode: isJudged = false, ...options }) => {
      const answer = await ask(options, io, { path: STATUS });
      const { body } = answer;
      const waits = isStandby(answer);
      tell(io, options.json, body, waits ? [plain(body['says'])] : wordsOf(body));
      done(isJudged && (waits || namesOf(body['not_ready']).length > 0) ? exitCodes.again : 0);
    }); // prettier-ignore
};

function wordsOf(body: Json): readonly string[] {
  const { limits = {} } = body as { limits?: Json };
  const { day_notional: day = {}, open_doubts: doubts = {} } = limits as {
    day_notional?: Json;
    open_doubts?: Json;
  };
  const since = body['since'] === undefined ? '' : ` since ${plain(body['since'])}`;
  const why = plain(body['why']) === '' ? '' : `: ${plain(body['why'])} (${plain(body['by'])})`;
  return [
    `desk ${plain(body['desk'])}, ${plain(body['mode'])}, ${plain(body['state'])}${since}${why}`,
    ...(body['level'] === 'kill'
      ? ['this process cannot send orders: stop it, then start it with tranche run --rearm "reason"']
      : []),
    ...(Array.isArray(body['not_ready'])
      ? [
          body['not_ready'].length === 0
            ? 'ready to trade'
            : `not ready: ${namesOf(body['not_ready']).join('; ')}`,
        ]
      : []),
    ...listOf(body['open_alerts']).map(alertWords),
    ...listOf(body['strategies']).map(strategyWords),
    `fills ${plain(body['fills'])}; today ${people(day['used'])} of ${people(day['max'] ?? 'no limit')} ${plain(day['currency'])}; doubts ${plain(doubts['used'])} of ${plain(doubts['max'])}`,
    ...listOf(body['last_fills']).map(
      (one) =>
        `  ${plain(one['at'])}  ${plain(one['strategy'])}  ${one['side'] === 'buy' ? 'bought' : 'sold'} ${people(one['quantity'])} ${plain(one['base'])} at ${people(one['price'])} = ${people(one['amount'])} ${plain(one['quote'])}`,
    ),
    ...holdingWords(body),
    ...namesOf(body['credit']).map((line) => `credit: ${line}`),
    ...listOf(body['prices']).map((one) =>
      one['mid'] === undefined
        ? `price ${plain(one['pair'])}: no fresh price`
        : `price ${plain(one['pair'])} ${people(one['mid'])}, ${plain(one['age_s'])} s old (${plain(one['source'])})`,
    ),
    ...Object.entries(pausedOf(body)).map(([scope, reason]) => {
      const [kind = '', name = ''] = scope.split(':');
      return `paused: ${kind} ${name}: ${plain(reason)} (tranche resume --${kind} ${name})`;
    }),
    ...namesOf(body['waiting']).map((line) => `waiting: ${line}`),
    ...listOf(body['unattributed']).flatMap(({ doubt, rows }) => [
      `doubt ${plain(doubt)} is held open by rows that belong to no known order:`,
      ...unattributedWords(doubt, rows).map((line) => `  ${line}`),
    ]),
    ...namesOf(body['open_approvals']).map((line) => `approval ${line}`),
    `account read ${body['account_read_age_s'] === undefined ? 'not yet' : `${plain(body['account_read_age_s'])} s ago`}`,
    ...openWords(body),
    ...alertsOfDay(body),
  ];
}

/** Describes an alert whose condition still holds: severity, name, time, text and facts. */
function alertWords(one: Json): string {
  const { facts: told = {} } = one as { facts?: Json };
  const facts = Object.entries(told).map(([name, value]) => `${name} ${factText(value)}`);
  const about = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  return `${plain(one['severity'])} ${plain(one['alert'])} of ${plain(one['at'])}: ${plain(one['says'])}${about}`;
}
const factText = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : plain(value);

function alertsOfDay({
  alerts_last_day: counts = {},
}: {
  readonly alerts_last_day?: Json;
}): readonly string[] {
  const told = Object.entries(counts).filter(([severity, n]) => severity !== 'info' && n !== 0);
  return told.length === 0
    ? []
    : [
        `alerts of the last day: ${told.map(([severity, n]) => `${plain(n)} ${severity}`).join(', ')} (tranche alerts)`,
      ];
}

/** Describes a strategy: the traded part of its total, its finished slices, and its next instant. */
function strategyWords(one: Json): string {
  const done = Number(one['slices_done'] ?? 0);
  const filled = Number(one['slices_filled'] ?? 0);
  const { traded: { amount, of: whole, currency } = {} } = one as { traded?: Json };
  const traded =
    amount === undefined ? '' : `traded ${people(amount)} of ${people(whole)} ${plain(currency)}; `;
  const total = Number(one['slices_total'] ?? 0);
  const of = total === 0 ? countOf(done, 'slice') : `${done} of ${countOf(total, 'slice')}`;
  const slices = `${of} over${done === filled ? '' : `, ${done - filled} without a trade`}`;
  const finished = one['finished'] === undefined ? '' : `, finished: ${plain(one['finished'])}`;
  const next = one['next_at'] === undefined ? '' : `, next ${plain(one['next_at'])}`;
  return `  ${plain(one['id'])} (${plain(one['kind'])})  ${traded}${slices}${finished}${next}`;
}

/** Describes the rows that hold a doubt open, and the command that attributes them. */
export function unattributedWords(doubt: unknown, rows: unknown): readonly string[] {
  const list = listOf(rows);
  if (list.length === 0) return [];
  const named = list.map((row) => `--row ${plain(row['id'])}`).join(' ');
  return [
    ...list.map(rowWords),
    `whose are they? tranche doubts attribute ${plain(doubt)} ${named} --ours or --not-ours, --evidence TEXT --by NAME`,
  ];
}

function rowWords(row: Json): string {
  const facts = [
    `row ${plain(row['id'])} of ${plain(row['at'])}: ${plain(row['action'])} ${people(row['amount'])} ${plain(row['currency'])}`,
    row['order_id'] === undefined ? 'no order id' : `order ${plain(row['order_id'])}`,
    row['client_order_id'] === undefined ? 'no client id' : `client id ${plain(row['client_order_id'])}`,
    ...(row['trade_id'] === undefined ? [] : [`trade ${plain(row['trade_id'])}`]),
    ...(row['equals_quote'] === true ? ['equals the quote'] : []),
    ...(row['unreadable'] === undefined ? [] : [`unreadable: ${plain(row['unreadable'])}`]),
  ];
  return facts.join(', ');
}

function holdingWords({ holdings }: { readonly holdings?: Json }): readonly string[] {
  const held = Object.entries(holdings ?? {});
  return held.length === 0
    ? []
    : [`holds ${held.map(([currency, amount]) => `${people(amount)} ${currency}`).join(', ')}`];
}

const pausedOf = (body: Json): Json => (body as { paused?: Json }).paused ?? {};

/** Lists the trades that may still happen despite the command. */
export function openWords(body: Json): readonly string[] {
  const flights = namesOf(body['orders_in_flight']);
  const doubts = namesOf(body['open_doubts']);
  const lines = [
    ...(flights.length === 0 ? [] : [`orders in flight that may still fill: ${flights.join(', ')}`]),
    ...(doubts.length === 0 ? [] : [`outcome unknown: ${doubts.join(', ')} (tranche doubts)`]),
    ...listOf(body['residuals']).map(
      (one) =>
        `left of ${plain(one['strategy'])} slice ${plain(one['slice'])}: ${plain(one['side'])} ${plain(one['left'])} of ${plain(one['pair'])} by ${plain(one['by'])}`,
    ),
  ];
  const fault = body['note_fault'];
  if (fault !== undefined)
    lines.push(
      `the halt file could not be written: ${plain(fault)}. Do not restart the desk until you know why`,
    );
  return lines;
}

export const plain = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const people = (value: unknown): string => withSeparators(plain(value));

export const listOf = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];
const namesOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(plain) : []);
