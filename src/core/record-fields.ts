import { z } from 'zod';
import { guardedNames } from './approvals/approval-settings.ts';
import { isAmountText } from './money.ts';
import { isReason } from './reasons.ts';
import type { Reason } from './reasons.ts';
import { instant } from './time.ts';

/** The fields that several kinds of record share. Objects are strict, because a silently dropped field would change a record. */

/** A decimal as the journal writes it: digits and at most one point, no exponent. */
export const amount = z
  .string()
  .regex(/^-?\d+(?:\.\d+)?$/u, { error: 'expected an amount as text, such as "0.25"' });
/** A number from a YAML document, as the document's author wrote it. */
const asWritten = z.string().refine(isAmountText, { error: 'expected a number as text' });
export const at = z.int().transform(instant);
export const count = z.int().nonnegative();
/** A time on the boot clock, and which boot. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const boot = () => z.strictObject({ id: z.string(), ms: z.number().nonnegative() });
export const side = z.enum(['buy', 'sell']);
export const sizedBy = z.enum(['quantity', 'amount']);
export const reason = z.custom<Reason>((code) => typeof code === 'string' && isReason(code), {
  error: 'unknown reason',
});
export const list = <T extends z.ZodType>(element: T): z.ZodReadonly<z.ZodArray<T>> =>
  z.array(element).readonly();

/** The token behind a command. `machine`: the token that a daemon writes beside its journal. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const token = () =>
  z.strictObject({ name: z.string(), kind: z.enum(['person', 'program', 'machine']) });

/** `operate.approvals`. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const approvals = () =>
  z.strictObject({
    for: list(z.enum(guardedNames)),
    parents_above: amount.optional(),
    count: z.int().positive(),
    passkey: z.enum(['required', 'optional']),
  });

/** Rows of the account that belong to an order, with the figures that each showed. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const rows = () =>
  list(
    z.strictObject({
      id: z.string(),
      currency: z.string(),
      /** Signed, in `currency`. */
      amount,
      /** In `currency`. Omitted: none. */
      fees: amount.optional(),
      order_id: z.string().optional(),
      trade_id: z.string().optional(),
      /** The row is a fee or a rebate, not a leg. */
      is_fee: z.literal(true).optional(),
      /** The row shows our client id exactly. */
      is_named: z.literal(true).optional(),
    }),
  );

/** Fees by currency; negative for a rebate. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const otherFees = () => z.record(z.string(), amount);

/**
 * The part of a traded order that the account does not show. It counts as filled, at its worst price, until rows show
 * it or a person resolves it, so the strategy does not trade it again.
 */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const missing = () =>
  z.strictObject({
    quantity: amount,
    amount,
    /** In the currency of the limits. */
    notional_usd: amount,
  });

/** A condition that a strategy waits for. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const wait = () =>
  z.discriminatedUnion('on', [
    z.strictObject({ on: z.literal('at'), at }),
    z.strictObject({
      on: z.literal('drift'),
      /** Weight of each currency; they sum to 1. */
      targets: z.record(z.string(), asWritten),
      cash: z.string(),
      /** Currencies that trade against a currency other than cash; see `Basis`. */
      via: z.record(z.string(), z.string()).optional(),
      /** Cash that does not belong to the portfolio. */
      aside: asWritten.optional(),
      driftType: z.enum(['absolute', 'relative']),
      /** A fraction: "0.02". */
      threshold: asWritten,
      /** Not before this instant; so in every wait that has it. */
      notBefore: at,
    }),
    z.strictObject({
      on: z.literal('price'),
      pair: z.string(),
      /** On which side of the level the reference price must be. */
      is: z.enum(['at_or_below', 'at_or_above']),
      /** Quote per base. */
      level: amount,
      notBefore: at,
    }),
    z.strictObject({
      on: z.literal('inflow'),
      currency: z.string(),
      /** The balance must rise above this amount of the currency. */
      above: amount,
      notBefore: at,
    }),
    /** A negative balance, once it is time to close it. */
    z.strictObject({
      on: z.literal('debt'),
      /** Pairs that may close it; debts in other currencies are ignored. */
      pairs: list(z.string()),
      /** How long before the grace period ends, ms. */
      beforeGraceMs: z.number().nonnegative().optional(),
      /** Largest carry, in basis points; the debt is closed before the carry exceeds it. */
      carryBpsMax: amount.optional(),
      /** How long before the carry exceeds it, ms. */
      leadMs: z.number().nonnegative(),
      /** Modes of a pair in which the debt is closed immediately. */
      modes: list(z.enum(['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only'])),
      /** If the debt is closed in pieces: the largest piece, in quote currency, and the time that each piece takes, ms. */
      pieces: z.strictObject({ largest: amount, intervalMs: z.number().nonnegative() }).optional(),
      /** Distance of equity / exposure from the liquidation level below which debts are reduced. */
      headroom: amount.optional(),
      notBefore: at,
    }),
    /**
     * A limit that refused a trade may allow it now, because a balance changed, or because an operator or a new
     * process may have lifted the limit.
     */
    z.strictObject({
      on: z.literal('lifted'),
      /** Balances at the refusal, by currency. */
      held: z.record(z.string(), amount),
      /** When it was refused. */
      since: at,
      notBefore: at,
    }),
    z.strictObject({ on: z.literal('outcome'), leg: z.string(), slice: count }),
  ]);

/** How a slice is quoted, apart from its limit price; a running slice keeps its tactics. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const tactics = () =>
  z.strictObject({
    /** Largest slippage of a quote from the arrival price, in basis points; positive is bad. */
    slippage_bps: amount.optional(),
    /** Largest spread of a quote, basis points: twice its distance from the mid price. */
    spread_bps: amount.optional(),
    /** Largest extra cost of a piece compared with the smallest probed size, in basis points. */
    impact_bps: amount.optional(),
    /** Balance that must remain of the currency that the order pays with. */
    keep: asWritten.optional(),
    /** Smallest order that is sent, in quote currency. */
    min_notional: asWritten.optional(),
    /** A slice above a per-order limit is traded in pieces within it; omitted: it is refused. */
    split: z.literal(true).optional(),
    /** Largest random increase of waits between quotes, percent, drawn from the seed. */
    jitter: z.strictObject({ pct: z.number(), seed: count }).optional(),
  });

/** An intent as text. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const intentText = () =>
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
    /** Reference price when the strategy decided, if one was known. */
    decision_price: amount.optional(),
  });
