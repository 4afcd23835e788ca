import { z } from 'zod';
import { bookingFields } from '../options/options-booking.ts';
import { listFields } from '../options/options-lists.ts';

/**
 * Fault plans: errors of the simulated venue for drills. Read from `config/faults/*.yaml`, or set through the admin
 * API. A plan defines which requests (or feed messages) each rule matches, how often the rule applies, and its effect.
 */
export type FaultPlan = z.output<typeof faultPlanSchema>;
export type FaultPlanInput = z.input<typeof faultPlanSchema>;
export type RestRule = FaultPlan['rules'][number];
export type FeedRule = FaultPlan['feeds'][number];
/** Effect on a request. */
export type RestFault = z.output<typeof restFaultSchema>;
/** Effect on a WebSocket message, or on an authentication. */
export type FeedFault = z.output<typeof feedFaultSchema>;

const milliseconds = () => z.int().min(0).max(600_000);
const share = () => z.number().min(0).max(1);
const processing = () =>
  z
    .enum(['before', 'after'])
    .default('before')
    .describe(
      'before: the exchange never receives the request. after: it executes the request, but the client receives no reply',
    );

const restFaultSchema = z.lazy(() =>
  z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('error'),
      status: z.int().min(400).max(599),
      error: z.string().max(500).default('temporarily offline').describe('Text of the JSON error'),
      processing: processing(),
      retry_after_s: z.int().min(0).max(3_600).optional().describe('Header Retry-After, seconds'),
    })
    .describe('A JSON error with this status'),
  z
    .strictObject({
      kind: z.literal('html'),
      status: z.int().min(200).max(599).default(502),
      processing: processing(),
    })
    .describe("A gateway's HTML page in place of JSON"),
  z
    .strictObject({
      kind: z.literal('body'),
      status: z.int().min(200).max(599).default(200),
      text: z.string().max(65_536).describe('Body of the response, sent unchanged: any JSON, or no JSON at all'),
      processing: processing(),
    })
    .describe('Any text in place of the response'),
  z
    .strictObject({ kind: z.literal('lost'), processing: processing() })
    .describe('The connection breaks; with processing: after, the reply is lost but the request is executed'),
  z
    .strictObject({
      kind: z.literal('delay'),
      ms: milliseconds().describe('Delay of the request, before the exchange sees it'),
      reply_ms: milliseconds().default(0).describe('Delay of the reply, after the exchange has acted'),
      spread_ms: milliseconds().default(0).describe('Random delay, drawn uniformly from zero to this, that is added to ms and, unless it is 0, to reply_ms'),
    })
    .describe('The venue is slow'),
  z
    .strictObject({
      kind: z.literal('slow_body'),
      bytes_per_second: z.int().min(1).max(1_000_000),
    })
    .describe('The response arrives in small pieces'),
  z
    .strictObject({ kind: z.literal('truncated'), keep: share().describe('Share of the body that is sent') })
    .describe('The headers are valid, then the connection ends within the body'),
  z
    .strictObject({
      kind: z.literal('edit'),
      set: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .default({})
        .describe('Fields of the response and the values to give them, such as a wrong pair, side or quantity'),
      scale: z
        .record(z.string(), z.number())
        .default({})
        .describe('Numbers in the response and the factors to multiply them by, for example to make a price absurd'),
    })
    .describe('The response is valid JSON with wrong content'),
  z
    .strictObject({
      kind: z.literal('expired'),
      by_ms: milliseconds().min(1).default(1).describe('How long before it arrives the quote expires'),
    })
    .describe('Quotes arrive after their expiry'),
  z
    .strictObject({ kind: z.literal('canceled') })
    .describe('The order is accepted and ends as Canceled: nothing trades, and the quote is used up'),
  z
    .strictObject({ kind: z.literal('booking'), ...bookingFields })
    .describe('The order is booked differently from the booking settings, such as in several trades, late, or twice'),
  z
    .strictObject({ kind: z.literal('lists'), ...listFields })
    .describe('The transactions show the rows of orders differently from the lists settings, such as without client ids'),
  z
    .strictObject({ kind: z.literal('quote_date'), ms: z.int().min(-3_600_000).max(3_600_000) })
    .describe('date_quote is wrong by `ms`, and date_expiry is not'),
  z
    .strictObject({ kind: z.literal('odd_order') })
    .describe('The response to an order has status_code as text and quantity null'),
  z
    .strictObject({ kind: z.literal('partial'), fill: share().gt(0).describe('Share of the size that is filled') })
    .describe("A fill-or-kill order is filled in part, against the venue's rules"),
  z
    .strictObject({
      kind: z.literal('duplicate'),
      what: z.enum(['request', 'rows']).describe('request: the request is executed twice, and the second response is sent. rows: lists contain each row twice'),
    })
    .describe('The request or its rows are duplicated'),
  z
    .strictObject({ kind: z.literal('clock_skew'), ms: z.int().min(-86_400_000).max(86_400_000) })
    .describe('Every time in the response, and its Date header, is wrong by `ms`'),
]),
); // prettier-ignore

const feedFaultSchema = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('drop') }).describe('The connection breaks without a close frame'),
    z
      .strictObject({
        kind: z.literal('stall'),
        ms: milliseconds().describe(
          'Nothing is sent for this long, not even pings; the connection stays open',
        ),
      })
      .describe('The feed goes silent'),
    z
      .strictObject({ kind: z.literal('gap'), messages: z.int().min(1).max(1_000).default(1) })
      .describe('Messages are missing, and their sequence numbers are skipped'),
    z
      .strictObject({ kind: z.literal('reorder'), by: z.int().min(1).max(100).default(1) })
      .describe('The message arrives after `by` later messages'),
    z.strictObject({ kind: z.literal('duplicate') }).describe('The message arrives twice'),
    z
      .strictObject({ kind: z.literal('garble'), text: z.string().max(4_096).default('{"sequence":') })
      .describe('`text` is sent in place of the message'),
    z.strictObject({ kind: z.literal('delay'), ms: milliseconds() }).describe('The message arrives late'),
    z
      .strictObject({ kind: z.literal('refuse_authentication') })
      .describe('A valid key is rejected; only for the event authenticate'),
  ]),
);

/** How often a rule applies. All given conditions must be met; omitted conditions do not limit it. */
const frequency = () => ({
  name: z.string().min(1).max(64).describe('Unique name, used by counts and the admin API'),
  enabled: z.boolean().default(true).describe('false: inactive until enabled through the admin API'),
  account: z.string().min(1).max(64).optional().describe('Only requests of this account'),
  probability: share().default(1).describe('Probability for each request that the rule matches'),
  script: z
    .array(z.enum(['pass', 'fault']))
    .min(1)
    .max(1_000)
    .optional()
    .describe('`pass` or `fault` for each matching request, in order; after the last entry, requests pass'),
  repeat: z.boolean().default(false).describe('true: the script repeats'),
  skip: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe('Number of requests that pass before the rule applies'),
  times: z.int().min(1).max(1_000_000).optional().describe('Maximum number of faults'),
  from_ms: z
    .int()
    .min(0)
    .default(0)
    .describe('Time after the start of the plan from which the rule applies, ms'),
  until_ms: z
    .int()
    .min(1)
    .optional()
    .describe('Time after the start of the plan until which the rule applies, ms'),
});

const isDistinct = (rules: readonly { readonly name: string }[]): boolean =>
  new Set(rules.map(({ name }) => name)).size === rules.length;
const distinct = { error: 'two rules have the same name' };

export const faultPlanSchema = z.lazy(() => z.strictObject({
  description: z.string().max(2_000).optional().describe("Purpose of the drill and the desk's expected reaction"),
  seed: z
    .union([z.string(), z.int()])
    .transform(String)
    .default('1')
    .describe('The same seed and the same requests give the same faults'),
  rules: z
    .array(
      z.strictObject({
        ...frequency(),
        route: z
          .string()
          .regex(/^(?:\*|(?:\*|[A-Z]+) \/\S{1,200})$/u, { error: 'expected a method and a path, such as "POST /v1/quote", or *' })
          .describe('Method and path in the form that the interface specification uses, such as "POST /v1/orders/*"; * matches any text'),
        fault: restFaultSchema,
      }),
    )
    .max(200)
    .refine(isDistinct, distinct)
    .default([])
    .describe('Rules for requests. Every matching rule applies, in this order'),
  feeds: z
    .array(
      z.strictObject({
        ...frequency(),
        on: z
          .string()
          .min(1)
          .max(128)
          .default('*')
          .describe('Feed such as "ticker.sfox.*", or the events "authenticate" and "subscribe"'),
        fault: feedFaultSchema,
      }),
    )
    .max(200)
    .refine(isDistinct, distinct)
    .default([])
    .describe('Rules for WebSocket messages. The first matching rule applies'),
})); // prettier-ignore
