/** Writes docs/controls.md: every control, its settings from the schema, and its name in the rules. */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { z } from 'zod';
import { configSchema } from '../src/app/config/config-schema.ts';
import type { Alert } from '../src/core/alerts.ts';
import { reasons } from '../src/core/reasons.ts';
import type { Reason } from '../src/core/reasons.ts';

interface Control {
  readonly name: string;
  /** Settings of `controls`, or of another part of the config as `part.name`. */
  readonly keys: readonly string[];
  readonly where: string;
  readonly breach: string;
  readonly reasons: readonly Reason[];
  readonly alert: Alert | undefined;
  readonly sec: string;
  readonly rts6: string;
  readonly fia: string;
}

/** A row: name, settings, where, on breach, reasons, alert, SEC 15c3-5, RTS 6, FIA. */
type Row = readonly [
  string,
  string,
  string,
  string,
  readonly Reason[],
  Alert | undefined,
  string,
  string,
  string,
];

// prettier-ignore
const rows: readonly Row[] = [
  ['Pause, halt, kill', '', 'gate, transport', 'starts nothing; persists until lifted', ['paused', 'halted'], 'halted', '(c)(1), (d)', 'Art. 12', 'Kill switch'],
  ['Order value', 'max_order_notional', 'plan, gate', 'slice ends', ['order_size', 'no_usd_rate'], 'limit_refused', '(c)(1)(ii) size', '15(1)(b)', 'Max order value'],
  ['Order volume', 'max_order_quantity', 'plan, gate', 'slice ends', ['order_size'], 'limit_refused', '(c)(1)(ii) size', '15(1)(c)', 'Max order size'],
  ['Price collar', 'collar_bps', 'gate', 'discards the quote and requests another; after three in a row, over at least reference.max_age, the parent pauses until prices agree', ['collar', 'paused'], 'parent_paused', '(c)(1)(ii) price', '15(1)(a)', 'Price tolerance'],
  ['Price drift', 'max_drift_bps', 'plan, gate', 'parent paused', ['price_drift', 'limit_price'], 'parent_paused', '(c)(1)(ii) price', '15(1)(a)', 'Price tolerance'],
  ['Reference price', 'reference.max_age', 'plan, gate', 'no trade; nor with two sources more than 30 bps apart (300 in paper mode)', ['no_reference', 'control_failed'], 'limit_refused', 'erroneous orders', '15(1)(a)', 'Market data reasonability'],
  ['Messages', 'pacing.quotes_per_second, pacing.orders_per_second', 'rate limiter', 'waits; a wait of more than a minute pauses the desk', ['message_throttle'], 'messages_throttled', '', '15(1)(d)', 'Message throttle'],
  ['Repeated execution', 'max_executions_per_minute, max_executions_per_parent', 'plan, gate', 'halt', ['repeated_execution'], 'limit_breached', 'duplicates', '15(3)', 'Repeated automated execution'],
  ['One order in each slice gap', '', 'plan, gate', 'waits for the end of the gap', ['slice_gap'], undefined, 'duplicates', '15(3)', 'Repeated automated execution'],
  ['Duplicate orders', 'duplicate_window', 'plan, gate', 'refused; retried later', ['duplicate_order'], undefined, '(c)(1)(ii) duplicative', '15(1)', ''],
  ['Parent and slice caps', '', 'plan, gate, after each fill', 'halt', ['parent_cap'], 'limit_breached', '(c)(1)(i)', '15(4)', 'Intraday position'],
  ['Day value', 'max_day_notional, max_pair_day_notional', 'plan, gate, after each fill', 'refused before it is exceeded; halt if it was exceeded', ['day_limit'], 'limit_breached', '(c)(1)(i) credit', '15(4)', 'Credit limit'],
  ['Positions', 'min_position, max_position', 'plan, gate', 'refused', ['position_limit'], 'limit_refused', '(c)(1)(i)', '15(4)', 'Intraday position limit'],
  ['Open doubts', 'max_open_doubts', 'plan, gate', 'no new orders', ['open_doubts'], 'doubt_open', 'capital aggregate', '15(2)', ''],
  ['Rejects and errors', '', 'after each response', 'three unfilled orders in a row: waits four times as long; five invalid responses: pauses the pair; 401 halts', ['quote_invalid', 'unauthorised'], 'parent_paused', '', '16', ''],
  ['Shortfall', 'max_shortfall_bps', 'after each fill', 'parent paused', ['shortfall'], 'parent_paused', '', '16', 'Post-trade limit'],
  ['Day cost', 'max_day_cost', 'after each fill', 'halt', ['day_limit'], 'limit_breached', '', '16', 'Post-trade limit'],
  ['Pairs, sides, hours', 'pairs, sides, restricted_hours', 'plan, gate', 'refused', ['not_allowed', 'selling_off', 'restricted_hours'], undefined, '(c)(2)(ii)', '15(5)', 'Restricted list'],
  ['Reducing', '', 'plan, gate', 'refused, unless the order repays a borrowed balance', ['reducing'], undefined, '(c)(2)(ii)', '15(5)', ''],
  ['Late fill reports', '', 'after each fill', 'alert after 5 s', [], 'fill_reported_late', '(c)(2)(iv)', '16', 'Drop copy'],
  ['Reconciliation with the venue', 'balance_difference', 'each account read', 'halt after a minute of difference', [], 'balance_difference', '(e) review', '17', 'Drop-copy reconciliation'],
  ['Connectivity', '', 'plan, gate', 'three minutes after the last whole read of the account, starts nothing until the next', ['no_balances'], 'account_unreadable', '', '12, 14', 'Cancel on disconnect'],
  ['Approvals', 'operate.approvals', 'control plane, gate', 'waits until other people approve', ['approval_pending', 'approval_refused'], 'approval_asked', '(c)(2)(iii)', '15(5)', 'Access control'],
  ['Authorised users', 'operate.tokens', 'control plane', 'refused, with an alert', [], 'access_refused', '(c)(2)(iii)', '15(5), 18', 'Access control'],
  ['Stress test', '', '`npm run stress`, CI, yearly', 'drives twice the peak of the last six months: nothing executes twice, nothing is lost, no venue limit is exceeded', [], undefined, '', 'Art. 10', 'Stress test'],
  ['Self-assessment', '', '`tranche report --oversight`, yearly', 'reports the limits in force and their authors, orders against these limits, the breaches, refusals, doubts, halts and approvals in the journal', [], undefined, '(e) annual review', 'Art. 9', ''],
  ['A control that fails', '', 'plan, gate', 'refused', ['control_failed'], 'limit_refused', '', '', ''],
];

export const controls: readonly Control[] = rows.map(
  ([name, keys, where, breach, codes, alert, sec, rts6, fia]) => ({
    name,
    keys: keys === '' ? [] : keys.split(', '),
    where,
    breach,
    reasons: codes,
    alert,
    sec,
    rts6,
    fia,
  }),
);

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly description?: string;
  readonly anyOf?: readonly Shape[];
}

const shapeOf = (): Shape => z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as Shape;

/** Returns the settings of `controls` in the config schema. */
export const settings = (): readonly string[] =>
  Object.keys(shapeOf().properties?.['controls']?.properties ?? {});

/** Returns the description of a setting in the schema. */
export function meaning(key: string): string {
  const [part = '', name = ''] = key.includes('.') ? key.split('.') : ['controls', key];
  const shape = shapeOf().properties?.[part];
  const found = [shape, ...(shape?.anyOf ?? [])].find((one) => one?.properties?.[name] !== undefined)
    ?.properties?.[name]?.description;
  if (found === undefined) throw new Error(`the schema has no ${part}.${name}`);
  return found;
}

const INTRODUCTION = `# Controls

The desk checks every limit when it plans a slice, and again in the gate when it has the quote. The totals for these checks are rebuilt from
the journal.

- An order in doubt counts as filled at its worst case. A check that throws an error refuses the order.
- A refusal has a reason code and \`limit=… value=…\`, which the record of the slice also contains.
- All pieces of a slice count as one execution.
- In live mode \`max_order_notional\`, \`max_day_notional\`, \`max_order_quantity\` of each pair, \`collar_bps\`, \`pairs\`, \`sides\` and, to
  sell, \`min_position\` have no default.
- The desk compares balances and fills with the account rows at every account read: each minute, and every ten seconds while an order is
  in doubt (\`fill_differs\`, \`fill_unbooked\`, \`fill_adopted\`). A balance may differ while an order in its currency is open.
- To value an order in the limits' currency, the desk uses the price of a pair of the two currencies, in either direction, if it is no older
  than \`reference.max_age\`; otherwise \`rates\` of the config; otherwise two traded pairs with a common currency. Without any of these
  sources the desk does not start.

The last columns name rules that bind broker-dealers and investment firms; they serve here as a reference. \`npm run docs\` generates this page.
`;

const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(' ');

/** Returns the whole page. */
export function page(): string {
  const table = controls.map(
    (one) =>
      `| ${one.name} | ${code(one.keys)} | ${one.where} | ${one.breach} | ${code(one.reasons)} | ${one.alert === undefined ? '' : code([one.alert])} | ${one.sec} | ${one.rts6} | ${one.fia} |`,
  );
  const head = '| control | settings | where | on breach | reasons | alert | SEC 15c3-5 | RTS 6 | FIA |';
  const ruler = '| --- | --- | --- | --- | --- | --- | --- | --- | --- |';
  const told = controls.flatMap(({ keys }) => keys.map((key) => `- \`${key}\`: ${meaning(key)}.`));
  const codes = [...new Set(controls.flatMap((one) => one.reasons))].map(
    (each) => `- \`${each}\`: ${reasons[each]}.`,
  );
  return [
    INTRODUCTION,
    ['<!-- prettier-ignore -->', head, ruler, ...table, ''].join('\n'),
    `## Settings\n\n${told.join('\n')}\n`,
    `## Reasons\n\n${codes.join('\n')}\n`,
  ].join('\n');
}

if (import.meta.main) {
  writeFileSync(new URL('../docs/controls.md', import.meta.url), page());
  process.stderr.write('wrote docs/controls.md\n');
}
