import { settingWords } from '../../core/risk/setting-changes.ts';
import type { Pack } from '../best-execution/pack.ts';
import { Markup, grouped, markup, table, timeCell } from './markup.ts';
import type { Piece } from './markup.ts';
import type { RecordAnchors } from './record-anchors.ts';

const LINE_BREAK = new Markup('\n');

/** Settings of starts, documents of strategies, and limits with their changes. */
export function inForce({ policy, limits }: Pack, anchors: RecordAnchors): Markup {
  const names = [
    ...new Set([...Object.keys(limits.at_start ?? {}), ...Object.keys(limits.at_end ?? {})]),
  ].toSorted();
  return markup`<section aria-label="Rules in force"><h2>Rules in force</h2>
${table({
  caption: 'Settings of each start',
  head: ['From, UTC', '#Starts', 'Version', 'Mode', 'Hash of the config', 'Two people', 'Policy of approvals', 'Records'],
  rows: policy.configs.map((one) => [
    timeCell(one.from),
    one.starts,
    one.version,
    one.by === undefined ? one.mode : `${one.mode}, by ${one.by}`,
    markup`<code>${one.config_hash}</code>`,
    one.four_eyes === undefined ? 'not recorded' : one.four_eyes ? 'yes' : 'no',
    one.approvals === undefined ? 'not recorded' : markup`<code>${JSON.stringify(one.approvals)}</code>`,
    anchors.of(one.records),
  ]),
})}
${table({
  caption: 'Limits',
  head: ['Limit', 'At the start of the window', 'When it ended'],
  note: limits.at_end === undefined ? 'Not recorded' : startNote(limits),
  rows: names.map((name) => [name, limits.at_start?.[name] ?? '–', limits.at_end?.[name] ?? '–']),
})}
${table({
  caption: 'Changes of limits',
  head: ['Time, UTC', 'By', 'Why', 'What changed', 'Approved by', 'Records'],
  rows: limits.changes.map((one) => [
    timeCell(one.at),
    one.by === 'unknown' ? 'not recorded' : one.by,
    one.why,
    one.changes.map(({ limit, before = 'none', after = 'none' }) => markup`<div>${limit}: ${before} → ${after}</div>`),
    one.approvals.join(', ') || '–',
    anchors.of(one.records),
  ]),
})}
${against(limits, anchors)}
${settingsTable(policy.settings ?? [], anchors)}
${table({
  caption: 'Texts of strategies',
  head: ['Strategy', 'Kind', 'From, UTC', 'Until, UTC', 'Hash of the text', 'Records'],
  rows: policy.strategies.map((one) => [
    one.strategy,
    one.kind,
    timeCell(one.begun_at),
    one.over_at === undefined ? '–' : timeCell(one.over_at),
    markup`<code>${one.hash}</code>`,
    anchors.of(one.records),
  ]),
})}
${policy.strategies.map(({ strategy, hash, document }) => markup`<details open><summary>${strategy} <small><code>${hash}</code></small></summary><pre>${settings(document).map((line, i) => [i === 0 ? '' : LINE_BREAK, line])}</pre></details>`)}
</section>`; // prettier-ignore
}

/** Number of orders within the limits in force when they left, and the orders beyond them. */
function against(
  { orders, judged_by: judged, exceptions, at_end: atEnd }: Pack['limits'],
  anchors: RecordAnchors,
): Markup {
  if (atEnd === undefined)
    return markup`<p>The journal has no limits, so orders cannot be checked against them.</p>`;
  return markup`<p>Orders sent: ${grouped(String(orders.within), 0)} within the limits in force, ${orders.override} beyond a limit that an override lifted, ${orders.beyond} beyond one${orders.unknown === 0 ? '' : `, ${grouped(String(orders.unknown), 0)} with no known limits`}. Judged by ${judged}; the other limits depend on balances and prices at that time; the journal has the orders that they refused.</p>
${table({
  caption: 'Orders beyond a limit',
  head: ['Time, UTC', 'Order', 'What', '#Notional', 'Verdict', 'Exceeds', 'Records'],
  rows: exceptions.map((one) => [
    timeCell(one.at),
    markup`<code>${one.order}</code>`,
    `${one.side} ${one.pair}`,
    grouped(one.notional),
    one.verdict === 'override' ? 'lifted for it' : markup`<span class="bad">beyond</span>`,
    one.exceeds.join('; '),
    anchors.of(one.records),
  ]),
})}`; // prettier-ignore
}

/** Maximum number of changes shown per record, because the first record of a journal contains every setting. */
const CHANGES_MAX = 20;

const settingsTable = (steps: NonNullable<Pack['policy']['settings']>, anchors: RecordAnchors): Markup =>
  table({
    caption: 'Settings in force: limits, config and people',
    note: 'A row dated before the window was in force at its start. For all settings: tranche journal settings JOURNAL --at TIME',
    head: ['Time, UTC', 'By', 'Why', 'What changed', 'Hash of all settings', 'Records'],
    rows: steps.map(({ at, by, why, changes, hash, records }) => [
      timeCell(at),
      by,
      why,
      markup`${changes
        .slice(0, CHANGES_MAX)
        .map(
          (change) => markup`<div>${settingWords(change)}</div>`,
        )}${changes.length > CHANGES_MAX ? markup`<div class="soft">${changes.length - CHANGES_MAX} more</div>` : ''}`,
      markup`<code>${hash}</code>`,
      anchors.of(records),
    ]),
  });

const startNote = ({ at_start: atStart }: Pack['limits']): string | undefined =>
  atStart === undefined ? 'Not recorded at the start of the window' : undefined;

/** One setting per line, so that no foreign text looks like another setting. */
const settings = (document: unknown): readonly string[] =>
  Object.entries(typeof document === 'object' && document !== null ? document : { document }).map(
    ([key, value]) =>
      `${key}: ${typeof value === 'string' && !value.includes('\n') ? value : JSON.stringify(value)}`,
  );

type Approval = Pack['approvals'][number];

export function approvals({ approvals: all, approval_faults: faults }: Pack, anchors: RecordAnchors): Markup {
  return markup`<section aria-label="Approvals"><h2>Approvals and overrides</h2>
${all.length === 0 ? markup`<p>Nobody requested an approval.</p>` : ''}
${table({
  caption: 'Requests',
  note: 'Signed by a token: the journal has only the name. Signed by a passkey: the signature was checked against the request when this pack was created',
  head: ['Request', 'What it asks', 'Asked by', 'Answers', 'Used by', 'Records'],
  rows: all.map((one) => [
    one.request,
    markup`${one.asks}${one.difference.map((line) => markup`<div>${line}</div>`)}${one.needs === undefined ? '' : markup`<div class="soft">needs ${one.needs}</div>`}`,
    markup`${one.proposed.by} ${timeCell(one.proposed.at)} <small>${one.proposed.why}</small>`,
    answersOf(one),
    anchors.of(one.used_by),
    anchors.of(one.records),
  ]),
})}
${table({
  caption: 'Approvals that do not hold',
  head: ['Time, UTC', 'By', 'What', 'Records'],
  rows: faults.map(({ at, by, fault, records }) => [timeCell(at), by, fault, anchors.of(records)]),
})}</section>`;
}

const answersOf = ({ answers }: Approval): Piece =>
  answers.length === 0
    ? 'open'
    : answers.map(
        ({ step, by, at, why, signed, fault, unchecked }) =>
          markup`<div>${step} by ${by}${signed === undefined ? '' : ` (${signed})`} ${timeCell(at)} <small>${why}</small>${fault === undefined ? '' : markup` <span class="bad">${fault}</span>`}${unchecked === undefined ? '' : markup` <small>not checked ${unchecked}</small>`}</div>`,
      );

const PROOFS = { traded: 'it traded', rejected: 'the venue did not fill it', absent: 'it did not trade', open: 'still unknown' } as const; // prettier-ignore

const SOURCES = {
  order: 'a later answer of the venue',
  transactions: 'reads of the account',
  lookup: 'a lookup of the order',
  operator: 'a person',
  dry_run: 'the dry run',
} as const;

export function doubts({ doubts: all }: Pack, anchors: RecordAnchors): Markup {
  return markup`<section aria-label="Orders in doubt"><h2>Orders in doubt</h2>
${all.length === 0 ? markup`<p>The outcome of every order was known at once.</p>` : ''}
${table({
  caption: 'Orders whose outcome was unknown, and the proof of each',
  head: ['Order', 'Strategy', 'Pair', 'Since, UTC', '#Lasted, s', 'Proven', 'By', 'Records'],
  rows: all.map((one) => [
    markup`<code>${one.order}</code>`,
    one.strategy ?? '–',
    one.pair ?? '–',
    timeCell(one.since),
    one.lasted_ms === undefined ? '–' : grouped(String(one.lasted_ms / 1000), 1),
    markup`${PROOFS[one.proof]}${one.detail === undefined ? '' : markup` <small>${one.detail}</small>`}`,
    one.by ?? (one.proof === 'open' ? '–' : SOURCES[one.source ?? 'transactions']),
    anchors.of(one.records),
  ]),
})}</section>`;
}

export function actions({ actions: all }: Pack, anchors: RecordAnchors): Markup {
  return markup`<section aria-label="Actions"><h2>Who did what</h2>
${all.length === 0 ? markup`<p>Nobody changed anything.</p>` : ''}
${table({
  caption: 'Halts, pauses, reloads, approvals, people',
  head: ['Time, UTC', 'What', 'By', 'Why', 'Records'],
  rows: all.map(({ at, what, by, why, records }) => [timeCell(at), what, by, why, anchors.of(records)]),
})}</section>`;
}
