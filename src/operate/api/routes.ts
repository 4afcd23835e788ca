import { z } from 'zod';
import { reportSchema } from '../../report/json/schema.ts';
import type { Role } from '../access.ts';
import * as approvals from './schema-approvals.ts';
import * as commands from './schema-commands.ts';
import * as desk from './schema-desk.ts';
import * as journal from './schema-journal.ts';
import { moment, name, order, page, paging, severity, span } from './schema-parts.ts';

/** One route of the API. Its parameters and its response are plain JSON. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST';
  /** Lowest role that may call it. Omitted: anybody, because the caller signs in with it. */
  readonly role?: Role | undefined;
  /** Summary for the OpenAPI document and docs/api.md. */
  readonly summary: string;
  /** Parameters. Omitted: none. */
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly answer: z.ZodType;
  /** The response is a stream of server-sent events with this data. */
  readonly isStream?: true | undefined;
}

const read = <A extends z.ZodType>(summary: string, answer: A) =>
  ({ method: 'GET', role: 'viewer', summary, answer }) as const;
const search = <A extends z.ZodType, Q extends z.ZodRawShape>(summary: string, answer: A, query: Q) => ({
  ...read(summary, answer),
  query: z.strictObject(query),
});
const command = <R extends Role, B extends z.ZodType>(role: R, summary: string, body: B) =>
  ({ method: 'POST', role, summary, body, answer: commandAnswer }) as const;

/** The result of a command. If the desk refuses, the status is 409 with the same fields. */
const commandAnswer = z.looseObject({
  done: z.boolean(),
  says: z.string().describe('The result in words'),
  ...desk.openWork,
});

const strategy = name.optional();
const records = { ...paging, order, ...span };

/** All routes of the API, in the order of docs/api.md. */
export const apiRoutes = {
  '/api/v1/openapi.json': read(
    'This API as an OpenAPI 3.1 document',
    z.looseObject({ openapi: z.literal('3.1.0') }),
  ),
  '/api/v1/me': read('Identity and role of the caller', desk.me),
  '/api/v1/status': read('Current state of the desk', desk.status),
  '/api/v1/doubts': read('Orders whose outcome is unknown', desk.doubts),
  '/api/v1/alerts': search('Alerts in the journal, and what to do about each', page(journal.alerts), {
    ...records,
    severity: severity.optional().describe('Only alerts of this severity or higher'),
  }),
  '/api/v1/strategies': search(
    'Progress of each strategy, and what the strategy waits for',
    page(desk.strategies),
    paging,
  ),
  '/api/v1/parents': search('Parents, with the remainder of each', page(desk.parents), {
    ...paging,
    strategy,
  }),
  '/api/v1/slices': search(
    'Slices: the schedule and the outcome, with attempts, quotes and fills',
    page(journal.slices),
    {
      ...records,
      strategy: strategy.describe('Only this strategy; the list then includes planned slices'),
      parent: name.optional().describe('Only this parent, without slots that passed unattempted'),
    },
  ),
  '/api/v1/wakes': search('Wakes of strategies, and their results', page(journal.wakes), {
    ...records,
    strategy,
    reason: name.optional(),
  }),
  '/api/v1/why': search('Why each slice traded or did not trade, as in `tranche why`', page(journal.why), {
    ...records,
    strategy: strategy.describe('Only this strategy, and events of the whole desk'),
    at: moment.optional().describe('Time to use instead of a period; covers 15 minutes before and after it'),
  }),
  '/api/v1/fills': search('Fills, as in `tranche journal export`', page(journal.fills), {
    ...records,
    strategy,
  }),
  '/api/v1/prices': search('Recent reference prices of this process', page(desk.prices), {
    pair: name.optional(),
    since: span.since,
  }),
  '/api/v1/limits': search(
    'Each limit and how much of it is used, counting every unknown outcome at its worst case',
    page(desk.limits),
    {},
  ),
  '/api/v1/plan': search('Planned slices and their feasibility, as in `tranche plan`', journal.plan, {
    strategy,
    days: z
      .stringFormat('count', /^(?:[1-9]|[12]\d|3[01])$/u)
      .transform(Number)
      .optional()
      .describe('1 to 31. Default: 7'),
  }),
  '/api/v1/costs': search('Cost of trading, as in `tranche report`', reportSchema, { ...span, strategy }),
  '/api/v1/records': search('Journal records as they are stored', page(journal.records), {
    ...records,
    kind: name.optional().describe('Only these kinds, separated by commas'),
  }),
  '/api/v1/chain': search('The newest record, and the last verified record of the chain', desk.chain, {}),
  '/api/v1/events': {
    ...search(
      'Server-sent events, one for each record; the desk disconnects a listener that does not read',
      journal.event,
      {
        after: z
          .stringFormat('count', /^\d{1,15}$/u)
          .transform(Number)
          .optional()
          .describe('The last record that the listener has; the header `Last-Event-ID` takes precedence'),
        kinds: name.optional().describe('Only these kinds of record, separated by commas'),
      },
    ),
    isStream: true,
  },
  '/api/v1/pause': command('operator', 'Starts no new slices', commands.pause),
  '/api/v1/resume': command('operator', 'Ends a pause', commands.resume),
  '/api/v1/halt': command('operator', 'Requests no quote and sends no order', commands.halt),
  '/api/v1/reload': command('operator', 'Reloads the strategies', commands.reload),
  '/api/v1/stop': command('operator', 'Stops a strategy permanently', commands.stop),
  '/api/v1/strategies/run': command('operator', 'Runs a strategy now', commands.stop),
  '/api/v1/rearm': command(
    'approver',
    'Lifts a halt. If it needs approval, an operator requests it and other people approve',
    commands.rearm,
  ),
  '/api/v1/doubts/resolve': command(
    'approver',
    'Ends a doubt, or attributes the rows that hold it open. If figures or rows need approval, an operator sends them and other people approve',
    commands.resolve,
  ),
  '/api/v1/approvals': search(
    'Requests for approval and their outcomes, newest first',
    approvals.approvals,
    approvals.query,
  ),
  '/api/v1/approvals/approve': command(
    'approver',
    'Approves the request with exactly this hash, with a passkey signature where one is required',
    commands.approve,
  ),
  '/api/v1/approvals/reject': command('operator', 'Rejects a request before it is used', commands.decide),
} as const satisfies Readonly<Record<string, ApiRoute>>;

export type ApiPath = keyof typeof apiRoutes;
