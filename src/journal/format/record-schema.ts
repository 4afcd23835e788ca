import { z } from 'zod';
import { guardedNames, requestKinds } from '../../core/approvals/approval-settings.ts';
import { isAmountText } from '../../core/money.ts';
import { isReason, reasons } from '../../core/reasons.ts';
import type { Reason } from '../../core/reasons.ts';
import { roles } from '../../core/roles.ts';
import type { RecordBody } from '../../core/record.ts';
import { instant } from '../../core/time.ts';

/**
 * Schemas of all records in `core/record.ts`, for reading and for writing, because a record that could not be read back
 * must never be written. Objects are strict, because a silently dropped field would change a record.
 */

/** A decimal as the journal writes it: digits and at most one point, no exponent. */
const amount = z
  .string()
  .regex(/^-?\d+(?:\.\d+)?$/u, { error: 'expected an amount as text, such as "0.25"' });
/** A number from a YAML document, as the document's author wrote it. */
const asWritten = z.string().refine(isAmountText, { error: 'expected a number as text' });
const at = z.int().transform(instant);
const count = z.int().nonnegative();
const boot = () => z.strictObject({ id: z.string(), ms: z.number().nonnegative() });
const side = z.enum(['buy', 'sell']);
const sizedBy = z.enum(['quantity', 'amount']);
const reason = z.custom<Reason>((code) => typeof code === 'string' && isReason(code), {
  error: 'unknown reason',
});
const list = <T extends z.ZodType>(element: T): z.ZodReadonly<z.ZodArray<T>> => z.array(element).readonly();
const token = () => z.strictObject({ name: z.string(), kind: z.enum(['person', 'program', 'machine']) });
const approvals = () =>
  z.strictObject({
    for: list(z.enum(guardedNames)),
    parents_above: amount.optional(),
    count: z.int().positive(),
    passkey: z.enum(['required', 'optional']),
  });
const rows = () =>
  list(
    z.strictObject({
      id: z.string(),
      currency: z.string(),
      amount,
      fees: amount.optional(),
      order_id: z.string().optional(),
      trade_id: z.string().optional(),
      is_fee: z.literal(true).optional(),
      is_named: z.literal(true).optional(),
    }),
  );
const otherFees = () => z.record(z.string(), amount);
const missing = () => z.strictObject({ quantity: amount, amount, notional_usd: amount });
const sliceResult = z.enum(['filled', 'skipped', 'expired']);

const wait = () =>
  z.discriminatedUnion('on', [
    z.strictObject({ on: z.literal('at'), at }),
    z.strictObject({
      on: z.literal('drift'),
      targets: z.record(z.string(), asWritten),
      cash: z.string(),
      via: z.record(z.string(), z.string()).optional(),
      aside: asWritten.optional(),
      driftType: z.enum(['absolute', 'relative']),
      threshold: asWritten,
      notBefore: at,
    }),
    z.strictObject({
      on: z.literal('price'),
      pair: z.string(),
      is: z.enum(['at_or_below', 'at_or_above']),
      level: amount,
      notBefore: at,
    }),
    z.strictObject({ on: z.literal('inflow'), currency: z.string(), above: amount, notBefore: at }),
    z.strictObject({
      on: z.literal('debt'),
      pairs: list(z.string()),
      beforeGraceMs: z.number().nonnegative().optional(),
      carryBpsMax: amount.optional(),
      leadMs: z.number().nonnegative(),
      modes: list(z.enum(['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only'])),
      pieces: z.strictObject({ largest: amount, intervalMs: z.number().nonnegative() }).optional(),
      notBefore: at,
    }),
    z.strictObject({ on: z.literal('lifted'), held: z.record(z.string(), amount), since: at, notBefore: at }),
    z.strictObject({ on: z.literal('outcome'), leg: z.string(), slice: count }),
  ]);

const tactics = () =>
  z.strictObject({
    slippage_bps: amount.optional(),
    spread_bps: amount.optional(),
    impact_bps: amount.optional(),
    keep: asWritten.optional(),
    min_notional: asWritten.optional(),
    split: z.literal(true).optional(),
    jitter: z.strictObject({ pct: z.number(), seed: count }).optional(),
  });

const intentText = () =>
  z.strictObject({
    leg: z.string(),
    parent: z.string(),
    slice: count,
    pair: z.string(),
    side,
    by: sizedBy,
    size: amount,
    limit: amount.optional(),
    tactics: tactics().optional(),
    deadline: at,
    decision_price: amount.optional(),
  });

/** Each schema is built on first use of its kind, because most journals have only a few kinds. */
const shapes = {
  started: () =>
    z.strictObject({
      kind: z.literal('started'),
      version: z.string(),
      mode: z.string(),
      desk: z.string(),
      config_hash: z.string(),
      account: z.string(),
      limits: z.record(z.string(), z.string()).optional(),
      approvals: approvals().optional(),
      by: z.string().optional(),
      settings: z.string().optional(),
    }),
  stopped: () =>
    z.strictObject({
      kind: z.literal('stopped'),
      why: z.string(),
      open_doubts: count,
      closing_read: z.boolean().optional(),
    }),
  strategy: () =>
    z.strictObject({
      kind: z.literal('strategy'),
      strategy: z.string(),
      hash: z.string(),
      type: z.string(),
      begun_at: at,
      document: z.unknown(),
    }),
  wake: () =>
    z.strictObject({
      kind: z.literal('wake'),
      strategy: z.string(),
      hash: z.string(),
      on: z.enum(['start', 'at', 'drift', 'price', 'inflow', 'debt', 'lifted', 'run', 'outcome']),
      detail: z.record(z.string(), z.union([z.string(), z.number()])),
      token: token().optional(),
      reason: reason.optional(),
      note: z.string().optional(),
      state: z.unknown().optional(),
      waits: list(wait()),
      intents: list(intentText()),
      missed: list(z.strictObject({ leg: z.string(), slice: count, due: at.optional(), size: amount.optional() })), // prettier-ignore
      finished: reason.optional(),
    }),
  intent: () =>
    z.strictObject({
      kind: z.literal('intent'),
      client_order_id: z.string(),
      strategy: z.string(),
      parent: z.string(),
      slice: count,
      attempt: count,
      pair: z.string(),
      base: z.string(),
      quote: z.string(),
      side,
      by: sizedBy,
      size: amount,
      worst_price: amount,
      reference_price: amount,
      notional_usd: amount,
      cuts: list(reason),
      cut_notes: list(z.string()).optional(),
      boot: boot().optional(),
    }),
  quote: () =>
    z.strictObject({
      kind: z.literal('quote'),
      client_order_id: z.string(),
      quote_id: z.string(),
      quantity: amount,
      price: amount,
      amount,
      life_ms: z.number(),
      quoted_at: at.optional(),
      age_ms: z.number(),
      parent_amount: z.union([amount, z.literal('unknown')]).optional(),
    }),
  attempt: () =>
    z.strictObject({
      kind: z.literal('attempt'),
      client_order_id: z.string(),
      result: z.enum(['discarded', 'doubt', 'rejected', 'absent', 'filled']),
      reason: reason.optional(),
      detail: z.string().optional(),
      proof: z
        .strictObject({
          reads_left: count,
          wait_ms: count,
          proves: z.enum(['rejected', 'absent', 'nothing']),
          boot: boot().optional(),
        })
        .optional(),
      order_ids: list(z.string()).optional(),
    }),
  fill: () =>
    z.strictObject({
      kind: z.literal('fill'),
      client_order_id: z.string(),
      order_id: z.string(),
      quote_id: z.string(),
      pair: z.string(),
      base: z.string(),
      quote: z.string(),
      side,
      quantity: amount,
      price: amount,
      amount,
      fees: amount,
      executed_at: at,
      strategy: z.string(),
      parent: z.string(),
      slice: count,
      attempt: count,
      notional_usd: amount,
      decision_price: amount.or(z.literal('')),
      by: z.literal('amount').optional(),
      source: z.enum(['order', 'transactions', 'lookup', 'dry_run', 'operator']),
      other_fees: otherFees().optional(),
      rows: rows().optional(),
      missing: missing().optional(),
      adopted: z.literal(true).optional(),
    }),
  slice: () =>
    z.strictObject({
      kind: z.literal('slice'),
      strategy: z.string(),
      parent: z.string(),
      leg: z.string(),
      slice: count,
      result: sliceResult,
      reason: reason.optional(),
      detail: z.string().optional(),
      filled: amount,
      filled_amount: amount,
      missing: amount.optional(),
      missing_amount: amount.optional(),
    }),
  balances: () =>
    z.strictObject({
      kind: z.literal('balances'),
      balances: z.record(z.string(), amount),
      newest_id: z.string(),
      tails: z.record(z.string(), z.strictObject({ id: z.string(), balance: amount })).optional(),
      read_at: at,
    }),
  maximum: () =>
    z.strictObject({
      kind: z.literal('maximum'),
      pair: z.string(),
      usd: amount,
      quote_usd: amount.optional(),
      why: z.literal('raised').optional(),
    }),
  resolved: () =>
    z.strictObject({
      kind: z.literal('resolved'),
      client_order_id: z.string(),
      verdict: z.enum(['filled', 'not_executed', 'ours', 'not_ours']),
      rows: list(z.string()).optional(),
      by: z.string(),
      why: z.string(),
      token: token().optional(),
    }),
  correction: () =>
    z.strictObject({
      kind: z.literal('correction'),
      client_order_id: z.string(),
      order_id: z.string(),
      quantity: amount,
      price: amount,
      amount,
      fees: amount,
      was_quantity: amount,
      was_amount: amount,
      was_fees: amount,
      other_fees: otherFees().optional(),
      rows: rows(),
      changes: list(z.string()).optional(),
      missing: missing().optional(),
    }),
  process: () =>
    z.strictObject({
      kind: z.literal('process'),
      state: z.enum(['running', 'failed', 'refused']),
      why: z.string().optional(),
    }),
  shown: () =>
    z.strictObject({
      kind: z.literal('shown'),
      fills: z.record(z.string(), rows()),
      others: rows().optional(),
    }),
  approval: () =>
    z.strictObject({
      kind: z.literal('approval'),
      request: z.string(),
      step: z.enum(['proposed', 'approved', 'rejected', 'expired']),
      for: z.enum(requestKinds),
      asks: z.string(),
      difference: list(z.string()).optional(),
      subject: z.string(),
      count: z.int().positive(),
      passkey: z.literal('required').optional(),
      strategy: z.string().optional(),
      parent: z.string().optional(),
      amount: z.union([amount, z.literal('unknown')]).optional(),
      hash: z.string(),
      assertion: z
        .strictObject({
          credential_id: z.string(),
          authenticator_data: z.string(),
          client_data_json: z.string(),
          signature: z.string(),
        })
        .optional(),
      expires_at: at,
      by: z.string(),
      why: z.string(),
      token: token().optional(),
    }),
  reload: () =>
    z.strictObject({
      kind: z.literal('reload'),
      by: z.string(),
      why: z.string(),
      result: z.enum(['applied', 'refused']),
      changes: list(
        z.strictObject({
          strategy: z.string(),
          what: z.enum(['begins', 'goes_on', 'replaces', 'stops', 'kept', 'over', 'waits']),
          from: z.string().optional(),
          to: z.string().optional(),
          why: z.string().optional(),
        }),
      ),
      limit_changes: list(
        z.strictObject({
          limit: z.string(),
          before: z.string().optional(),
          after: z.string().optional(),
        }),
      ).optional(),
      limits: z.record(z.string(), z.string()).optional(),
      channel_changes: list(z.string()).optional(),
      notes: list(z.string()).optional(),
      problems: z.string().optional(),
      approvals: list(z.string()).optional(),
      token: token().optional(),
    }),
  settings: () =>
    z.strictObject({
      kind: z.literal('settings'),
      cause: z.enum(['start', 'reload', 'person']),
      changes: list(
        z.strictObject({ path: z.string(), before: z.string().optional(), after: z.string().optional() }),
      ),
      hash: z.string(),
      by: z.string(),
      why: z.string(),
      approvals: list(z.string()).optional(),
      token: token().optional(),
    }),
  control: () =>
    z.strictObject({
      kind: z.literal('control'),
      state: z.enum(['active', 'paused', 'reducing', 'halted']),
      parent: z.string().optional(),
      pair: z.string().optional(),
      strategy: z.string().optional(),
      by: z.string(),
      why: z.string(),
      until: at.optional(),
      ends: z.literal('prices_agree').optional(),
      transport: z.literal('closed').optional(),
      doubts: list(z.string()).optional(),
      token: token().optional(),
    }),
  alert: () =>
    z.strictObject({
      kind: z.literal('alert'),
      alert: z.string(),
      severity: z.enum(['info', 'warning', 'critical']),
      facts: z.record(z.string(), z.unknown()),
      others: count.optional(),
    }),
  person: () =>
    z.strictObject({
      kind: z.literal('person'),
      person: z.string(),
      step: z.enum(['invited', 'enrolled', 'signed_in', 'removed']),
      role: z.enum(roles),
      passkey: z
        .strictObject({
          id: z.string(),
          public_key: z.string().optional(),
          counter: count,
          origin: z.string().optional(),
          rp_id: z.string().optional(),
        })
        .optional(),
      by: z.string(),
      why: z.string(),
      token: token().optional(),
    }),
} as const;

export type RecordKind = RecordBody['kind'];
export const recordKinds = Object.keys(shapes).filter(isRecordKind);

export function isRecordKind(name: string): name is RecordKind {
  return Object.hasOwn(shapes, name);
}

type RecordSchema = ReturnType<(typeof shapes)[RecordKind]>;
const made = new Map<RecordKind, RecordSchema>();

export function recordSchema(kind: RecordKind): RecordSchema {
  const known = made.get(kind);
  if (known !== undefined) return known;
  const schema = shapes[kind]();
  made.set(kind, schema);
  return schema;
}

/** The error in `body`, including the field; `undefined` for a valid record. */
export function problemWith(body: RecordBody): string | undefined {
  const result = recordSchema(body.kind).safeParse(body);
  if (result.success) return undefined;
  const [first] = result.error.issues;
  return `${[body.kind, ...(first?.path ?? [])].map(String).join('.')}: ${first?.message ?? 'unreadable'}`;
}

/** Every schema and literal that a record may contain, as text. */
export const vocabularyText = (): string =>
  JSON.stringify([
    z.toJSONSchema(z.object(Object.fromEntries(recordKinds.map((kind) => [kind, recordSchema(kind)]))), {
      unrepresentable: 'any',
    }),
    Object.keys(reasons),
  ]);

/** The kind at the beginning of a body's canonical text. */
export const kindOf = (text: string): string =>
  /^\{"kind":"(?<kind>[a-z_]{1,40})"/u.exec(text)?.groups?.['kind'] ?? '';

/** Parses a body that the schemas of this version have already checked, because checking again would take most of a start. */
export const trusted = (text: string): RecordBody => JSON.parse(text) as RecordBody; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the caller knows that it was checked

/** Parses the canonical text of a body stored as `kind`. @throws Error with a message if this version cannot parse it. */
export function readBodyText(kind: string, text: string): RecordBody {
  if (!isRecordKind(kind)) throw new Error(`unknown kind of record "${kind}"`);
  return recordSchema(kind).parse(JSON.parse(text));
}

type Shape<K extends RecordKind> = z.output<ReturnType<(typeof shapes)[K]>>;
type Typed<K extends RecordKind> = Extract<RecordBody, { kind: K }>;
type Agrees<K extends RecordKind> = [Shape<K>, keyof Shape<K>] extends [Typed<K>, keyof Typed<K>]
  ? [Typed<K>, keyof Typed<K>] extends [Shape<K>, keyof Shape<K>]
    ? true
    : K
  : K;
/** If a kind's schema and type disagree, `tsc` reports the kind here. */
const agreement: { readonly [K in RecordKind]: Agrees<K> } = {
  started: true,
  stopped: true,
  strategy: true,
  wake: true,
  intent: true,
  quote: true,
  attempt: true,
  fill: true,
  slice: true,
  balances: true,
  maximum: true,
  resolved: true,
  approval: true,
  correction: true,
  shown: true,
  process: true,
  reload: true,
  settings: true,
  control: true,
  alert: true,
  person: true,
};
void agreement;
