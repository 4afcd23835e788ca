import { z } from 'zod';
import { reportSchema } from '../../report/json/schema.ts';
import type { ApiPath } from './routes.ts';
import * as approvals from './schema-approvals.ts';
import * as commands from './schema-commands.ts';
import * as desk from './schema-desk.ts';
import * as journal from './schema-journal.ts';
import { moment, name, order, page, paging, severity, span } from './schema-parts.ts';

/** The query, body and response of a route. */
export interface RouteSchema {
  /** Parameters. Omitted: none. */
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly answer: z.ZodType;
  /** The response is a stream of server-sent events with this data. */
  readonly isStream?: true | undefined;
}

const command = (body: z.ZodType): RouteSchema => ({ body, answer: commands.answer });

/** Schemas of every route; `apiRoutes` and this table have the same paths. */
export const routeSchemas = {
  '/api/v1/openapi.json': { answer: z.looseObject({ openapi: z.literal('3.1.0') }) },
  '/api/v1/me': { answer: desk.me },
  '/api/v1/status': { answer: desk.status },
  '/api/v1/doubts': { answer: desk.doubts },
  '/api/v1/alerts': {
    query: z.strictObject({
      ...paging,
      order,
      ...span,
      severity: severity.optional().describe('Only alerts of this severity or higher'),
    }),
    answer: page(journal.alerts),
  },
  '/api/v1/strategies': { query: z.strictObject({ ...paging }), answer: page(desk.strategies) },
  '/api/v1/parents': {
    query: z.strictObject({ ...paging, strategy: name.optional() }),
    answer: page(desk.parents),
  },
  '/api/v1/slices': {
    query: z.strictObject({
      ...paging,
      order,
      ...span,
      strategy: name.optional().describe('Only this strategy; the list then includes planned slices'),
      parent: name.optional().describe('Only this parent, without slots that passed unattempted'),
    }),
    answer: page(journal.slices),
  },
  '/api/v1/wakes': {
    query: z.strictObject({ ...paging, order, ...span, strategy: name.optional(), reason: name.optional() }),
    answer: page(journal.wakes),
  },
  '/api/v1/why': {
    query: z.strictObject({
      ...paging,
      order,
      ...span,
      strategy: name.optional().describe('Only this strategy, and events of the whole desk'),
      at: moment
        .optional()
        .describe('Time to use instead of a period; covers 15 minutes before and after it'),
    }),
    answer: page(journal.why),
  },
  '/api/v1/fills': {
    query: z.strictObject({ ...paging, order, ...span, strategy: name.optional() }),
    answer: page(journal.fills),
  },
  '/api/v1/prices': {
    query: z.strictObject({ pair: name.optional(), since: span.since }),
    answer: page(desk.prices),
  },
  '/api/v1/limits': { query: z.strictObject({}), answer: page(desk.limits) },
  '/api/v1/plan': {
    query: z.strictObject({
      strategy: name.optional(),
      days: z
        .stringFormat('count', /^(?:[1-9]|[12]\d|3[01])$/u)
        .transform(Number)
        .optional()
        .describe('1 to 31. Default: 7'),
    }),
    answer: journal.plan,
  },
  '/api/v1/costs': {
    query: z.strictObject({ ...span, strategy: name.optional() }),
    answer: reportSchema,
  },
  '/api/v1/records': {
    query: z.strictObject({
      ...paging,
      order,
      ...span,
      kind: name.optional().describe('Only these kinds, separated by commas'),
    }),
    answer: page(journal.records),
  },
  '/api/v1/chain': { query: z.strictObject({}), answer: desk.chain },
  '/api/v1/events': {
    query: z.strictObject({
      after: z
        .stringFormat('count', /^\d{1,15}$/u)
        .transform(Number)
        .optional()
        .describe('The last record that the listener has; the header `Last-Event-ID` takes precedence'),
      kinds: name.optional().describe('Only these kinds of record, separated by commas'),
    }),
    answer: journal.event,
    isStream: true,
  },
  '/api/v1/pause': command(commands.pause),
  '/api/v1/resume': command(commands.resume),
  '/api/v1/halt': command(commands.halt),
  '/api/v1/reload': command(commands.reload),
  '/api/v1/stop': command(commands.stop),
  '/api/v1/strategies/run': command(commands.stop),
  '/api/v1/rearm': command(commands.rearm),
  '/api/v1/doubts/resolve': command(commands.resolve),
  '/api/v1/approvals': { query: approvals.approvalsQuery, answer: approvals.approvals },
  '/api/v1/approvals/approve': command(commands.approve),
  '/api/v1/approvals/reject': command(commands.decide),
} as const satisfies Readonly<Record<ApiPath, RouteSchema>>;
