import { needWords } from '../../core/approvals/approval-policy.ts';
import { kindOf } from '../../core/approvals/approval-request.ts';
import type { LimitChange, LimitTexts } from '../../core/risk/limit-changes.ts';
import type { SettingChange } from '../../core/risk/setting-changes.ts';
import type {
  FillRecord,
  OverrideRecord,
  SettingsRecord,
  StartedRecord,
  UsedToken,
} from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Facts } from '../figures/facts.ts';
import { JUDGED } from '../figures/order-limits.ts';
import type { OrderVerdict } from '../figures/order-limits.ts';
import { known } from '../json/json-parts.ts';
import type { Oversight, Request, Said } from './oversight.ts';
import type { Linked, RecordLinks } from './record-links.ts';

/** The rules of a period and the actions of people, as JSON. */
export interface OversightJson {
  readonly policy: {
    readonly configs: readonly ConfigJson[];
    readonly strategies: readonly TextJson[];
    /** Omitted: the journal does not record its settings. */
    readonly settings?: readonly SettingsJson[] | undefined;
    /** Facts that an auditor would ask for and that this journal does not contain, in words. */
    readonly not_recorded: readonly string[];
  };
  readonly limits: {
    /** Limits at the start of the window; omitted: none were recorded until then. */
    readonly at_start?: LimitTexts | undefined;
    readonly changes: readonly LimitsChangeJson[];
    /** Limits at the end of the window. */
    readonly at_end?: LimitTexts | undefined;
    /** The record that `at_end` comes from. */
    readonly records: Linked;
    /** Number of orders that were sent, by the result of comparing them with the limits in force. */
    readonly orders: Readonly<Record<OrderVerdict['verdict'], number>>;
    /** The limits for which the records of an order are sufficient. */
    readonly judged_by: string;
    /** Orders beyond a limit, with an override or without. */
    readonly exceptions: readonly ExceptionJson[];
  };
  readonly approvals: readonly ApprovalJson[];
  /** Events in the window without the approval that they needed, or with an invalid one. */
  readonly approval_faults: readonly {
    readonly at: string;
    readonly by: string;
    readonly fault: string;
    readonly records: Linked;
  }[];
  readonly doubts: readonly DoubtJson[];
  readonly actions: readonly ActionJson[];
}

/** The config of processes. Consecutive starts with the same config are one entry. */
export interface ConfigJson {
  readonly from: string;
  readonly starts: number;
  readonly version: string;
  readonly mode: string;
  readonly config_hash: string;
  /** Who started the first of these processes. */
  readonly by?: string | undefined;
  readonly four_eyes?: boolean | undefined;
  /** The approval policy. */
  readonly approvals?: StartedRecord['policy'];
  readonly records: Linked;
}

/** A document of a strategy that was in force in the window. */
export interface TextJson {
  readonly strategy: string;
  readonly kind: string;
  readonly hash: string;
  readonly begun_at: string;
  /** When it finished or another document replaced it. */
  readonly over_at?: string | undefined;
  readonly document: unknown;
  readonly records: Linked;
}

export interface ExceptionJson {
  readonly at: string;
  readonly order: string;
  readonly strategy?: string | undefined;
  readonly pair: string;
  readonly side: string;
  /** In the currency of the limits. */
  readonly notional: string;
  readonly verdict: OrderVerdict['verdict'];
  /** The limits that it exceeds, with their figures. */
  readonly exceeds: readonly string[];
  readonly records: Linked;
}

/** Settings that changed: limits, config or people. Includes the newest change before the window. */
export interface SettingsJson {
  readonly at: string;
  readonly cause: SettingsRecord['cause'];
  readonly by: string;
  readonly why: string;
  readonly changes: readonly SettingChange[];
  /** Hash of all settings after the change. */
  readonly hash: string;
  readonly approvals: readonly string[];
  readonly records: Linked;
}

export interface LimitsChangeJson {
  readonly at: string;
  /** `unknown`: an older version recorded a start without its author. */
  readonly by: string;
  readonly why: string;
  /** All limits if they were recorded for the first time. */
  readonly changes: readonly LimitChange[];
  readonly approvals: readonly string[];
  readonly records: Linked;
}

export interface ApprovalJson {
  readonly request: string;
  readonly kind: string;
  readonly asks: string;
  readonly difference: readonly string[];
  /** Who must approve, in words. */
  readonly needs?: string | undefined;
  /** Hash of the request, which a passkey signs. */
  readonly hash?: string | undefined;
  readonly proposed: SaidJson;
  readonly answers: readonly (SaidJson & {
    readonly step: OverrideRecord['step'];
    /** `token`: the journal contains only the name. Omitted: the step is not an approval. */
    readonly signed?: 'passkey' | 'token' | undefined;
    /** Fault in the signature, or violation of the policy; omitted: none, or not checked. */
    readonly fault?: string | undefined;
    readonly unchecked?: string | undefined;
  })[];
  /** Step of the last decision, or `open`. */
  readonly state: OverrideRecord['step'] | 'open';
  /** Orders that used the request, and reloads that carried it out. */
  readonly used_by: Linked;
  readonly records: Linked;
}

interface SaidJson {
  readonly at: string;
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

export interface DoubtJson {
  readonly order: string;
  readonly strategy?: string | undefined;
  readonly pair?: string | undefined;
  readonly since: string;
  readonly until?: string | undefined;
  readonly lasted_ms?: number | undefined;
  readonly proof: 'traded' | 'rejected' | 'absent' | 'open';
  /** Source of the trade. */
  readonly source?: FillRecord['source'] | undefined;
  readonly detail?: string | undefined;
  readonly by?: string | undefined;
  readonly records: Linked;
}

export interface ActionJson {
  readonly at: string;
  readonly what: string;
  readonly by: string;
  readonly why: string;
  readonly records: Linked;
}

/** Result of the check of one approval. */
export interface Checked {
  readonly at: Instant;
  readonly by: string;
  readonly proof: 'passkey' | 'token';
  readonly fault?: string | undefined;
  readonly unchecked?: string | undefined;
}

interface Scene {
  readonly oversight: Oversight;
  readonly facts: Facts;
  readonly links: RecordLinks;
  readonly span: { readonly from: Instant; readonly until: Instant };
  readonly checked: ReadonlyMap<number, Checked>;
  /** Numbers of the records of an order. */
  readonly recordsOfOrder: (order: string) => readonly number[];
}

export const oversightJson = (scene: Scene): OversightJson => ({
  policy: policyJson(scene),
  limits: limitsJson(scene),
  approvals: approvalsJson(scene),
  approval_faults: [...scene.checked].flatMap(([seq, { at, by, fault }]) =>
    fault === undefined || !isIn(scene, at)
      ? []
      : [{ at: isoOf(at), by, fault, records: scene.links.link(`approval_faults/${seq}`, [seq]) }],
  ),
  doubts: doubtsJson(scene),
  actions: scene.oversight.actions
    .filter(({ at }) => isIn(scene, at))
    .map(({ what, by, why, at, records }) => ({
      at: isoOf(at),
      what,
      by,
      why,
      records: scene.links.link(`actions/${records.join()}`, records),
    })),
});

const isIn = ({ span: { from, until } }: Scene, at: Instant): boolean => at >= from && at < until;

/** Entries in the window, and the newest entry before it, which was in force at the start of the window. */
function inForce<T extends { readonly at: Instant }>(
  all: readonly T[],
  { span: { from, until } }: Scene,
): readonly T[] {
  const before = all.findLast(({ at }) => at < from);
  const within = all.filter(({ at }) => at >= from && at < until);
  return before === undefined ? within : [before, ...within];
}

function policyJson(scene: Scene): OversightJson['policy'] {
  const { oversight, facts, links, span } = scene;
  const starts = inForce(oversight.starts, scene);
  const configs: { first: (typeof starts)[number]; seqs: number[]; key: string }[] = [];
  for (const start of starts) {
    const { version, mode, config_hash: config, four_eyes: eyes, policy } = start.body;
    const key = JSON.stringify([version, mode, config, eyes, policy]);
    const last = configs.at(-1);
    if (last?.key === key) last.seqs.push(start.seq);
    else configs.push({ first: start, seqs: [start.seq], key });
  }
  const seqOf = new Map(oversight.texts.map(({ body, seq }) => [body, seq]));
  return {
    configs: configs.map(({ first: { at, seq, body }, seqs }) => ({
      from: isoOf(at),
      starts: seqs.length,
      version: body.version,
      mode: body.mode,
      config_hash: body.config_hash,
      ...known({ by: body.by, four_eyes: body.four_eyes, approvals: body.policy }),
      records: links.link(`policy/configs/${seq}`, seqs),
    })),
    strategies: facts.lives
      .filter(({ record, overAt }) => {
        const at = oversight.texts.find(({ body }) => body === record)?.at ?? span.from;
        return at < span.until && (overAt === undefined || overAt >= span.from);
      })
      .map(({ record, overAt }) => {
        const seq = seqOf.get(record);
        return {
          strategy: record.strategy,
          kind: record.type,
          hash: record.hash,
          begun_at: isoOf(record.begun_at),
          ...known({ over_at: overAt === undefined || overAt >= span.until ? undefined : isoOf(overAt) }),
          document: record.document,
          records: links.link(`policy/strategies/${seq}`, seq === undefined ? [] : [seq]),
        };
      }),
    ...known({ settings: settingsJson(scene) }),
    not_recorded: notRecorded(
      starts.map(({ body }) => body),
      oversight.isRecorded,
    ),
  };
}

function notRecorded(starts: readonly StartedRecord[], hasSettings: boolean): readonly string[] {
  return [
    ...(hasSettings
      ? []
      : ['settings in force and who changed them: an older version or a backtest wrote the journal']),
    ...(starts.length === 0 ? ['no start of a process is in the journal before the end of the window'] : []),
    ...(starts.some(({ limits }) => limits === undefined)
      ? ['limits of some starts: the version that wrote them, or the mode, does not record limits']
      : []),
    ...(starts.some(({ policy }) => policy === undefined)
      ? ['a policy of approvals at some starts: their config has none']
      : []),
  ];
}

function limitsJson(scene: Scene): OversightJson['limits'] {
  const { oversight, facts, links, span } = scene;
  const [before, last] = [span.from, span.until].map((end) =>
    oversight.limits.findLast(({ since }) => since < end),
  );
  return {
    ...known({ at_start: before?.limits }),
    changes: oversight.limits
      .filter(({ since }) => isIn(scene, since))
      .map(({ record, since, by, why, changes, approvals }) => ({
        at: isoOf(since),
        by,
        why,
        changes,
        approvals,
        records: links.link(`limits/${record}`, [record]),
      })),
    ...known({ at_end: last?.limits }),
    records: links.link('limits', last === undefined ? [] : [last.record]),
    orders: oversight.verdicts,
    judged_by: JUDGED,
    exceptions: oversight.exceptions.map(
      ({ at, client_order_id: order, pair, side, notional, verdict, exceeds, limits_record: limits }) => ({
        at: isoOf(at),
        order,
        ...known({ strategy: facts.attempts.get(order)?.intent.strategy }),
        pair,
        side,
        notional,
        verdict,
        exceeds,
        records: links.link(`exceptions/${order}`, [
          ...(limits === undefined ? [] : [limits]),
          ...scene.recordsOfOrder(order),
        ]),
      }),
    ),
  };
}

function settingsJson(scene: Scene): OversightJson['policy']['settings'] {
  const { oversight, links } = scene;
  if (!oversight.isRecorded) return undefined;
  return inForce(oversight.settings, scene).map(
    ({ seq, at, body: { cause, by, why, changes, hash, approvals = [] } }) => ({
      at: isoOf(at),
      cause,
      by,
      why,
      changes,
      hash,
      approvals,
      records: links.link(`policy/settings/${seq}`, [seq]),
    }),
  );
}

function approvalsJson(scene: Scene): readonly ApprovalJson[] {
  return [...scene.oversight.requests.values()]
    .filter(({ proposed, answers }) => [proposed, ...answers].some(({ at }) => isIn(scene, at)))
    .map((request) => approvalJson(request, scene));
}

function approvalJson({ proposed, answers, uses }: Request, { links, checked }: Scene): ApprovalJson {
  const { body } = proposed;
  const { override: id } = body;
  return {
    request: id,
    kind: kindOf(body),
    asks: body.asks ?? asksOf(body),
    difference: body.difference ?? [],
    ...known({ needs: body.needs === undefined ? undefined : needWords(body.needs), hash: body.hash }),
    proposed: saidJson(proposed),
    answers: answers.map((said) => {
      const isApproval = said.body.step === 'agreed' || said.body.step === 'approved';
      const found = checked.get(said.seq);
      const signed = said.body.assertion === undefined ? 'token' : 'passkey';
      return {
        step: said.body.step,
        ...saidJson(said),
        ...(isApproval ? { signed } : {}),
        ...known({ fault: found?.fault, unchecked: found?.unchecked }),
      };
    }),
    state: answers.at(-1)?.body.step ?? 'open',
    used_by: links.link(`approvals/${id}/used_by`, uses),
    records: links.link(
      `approvals/${id}`,
      [proposed, ...answers].map(({ seq }) => seq),
    ),
  };
}

/** Describes the override of a limit, for older records without a description. */
const asksOf = ({ limit, value, parent, slice, pair, side }: OverrideRecord): string =>
  [
    value === undefined ? `lift ${limit}` : `${limit} ${value}`,
    'for one order',
    ...(parent === undefined ? [] : [`of ${parent}`]),
    ...(slice === undefined ? [] : [`slice ${slice}`]),
    ...(pair === undefined ? [] : [`${side ?? ''} ${pair}`]),
  ].join(' ');

const saidJson = ({ at, body: { by, why, token } }: Said): SaidJson => ({
  at: isoOf(at),
  by,
  why,
  ...known({ token }),
});

function doubtsJson({ oversight, facts, links, span }: Scene): readonly DoubtJson[] {
  return oversight.doubts
    .filter(({ since, until }) => since < span.until && (until === undefined || until >= span.from))
    .map(({ order, since, until, proof, source, detail, by, records }) => ({
      order,
      ...known({
        strategy: facts.attempts.get(order)?.intent.strategy,
        pair: facts.attempts.get(order)?.intent.pair,
      }),
      since: isoOf(since),
      ...known({
        until: until === undefined ? undefined : isoOf(until),
        lasted_ms: until === undefined ? undefined : until - since,
      }),
      proof: proof ?? 'open',
      ...known({ source, detail, by }),
      records: links.link(`doubts/${order}`, records),
    }));
}
