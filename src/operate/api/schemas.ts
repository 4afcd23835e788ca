import { z } from 'zod';
import type { ApiPath } from './routes.ts';
import * as approvals from './schema-approvals.ts';
import * as commands from './schema-commands.ts';
import * as desk from './schema-desk.ts';
import { event } from './schema-journal.ts';

/** The query, the body and the answer of a route. */
export interface RouteSchema {
  /** Parameters. Omitted: none. */
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly answer: z.ZodType;
  /** The answer is a stream of server-sent events, each with such data. */
  readonly isStream?: true | undefined;
}

const command = (body: z.ZodType): RouteSchema => ({ body, answer: commands.answer });

/** Of every route: `apiRoutes` and this table name the same paths. */
export const routeSchemas = {
  '/api/v1/openapi.json': { answer: z.looseObject({ openapi: z.literal('3.1.0') }) },
  '/api/v1/me': { answer: desk.me },
  '/api/v1/status': { answer: desk.status },
  '/api/v1/doubts': { answer: desk.doubts },
  '/api/v1/events': { answer: event, isStream: true },
  '/api/v1/pause': command(commands.pause),
  '/api/v1/resume': command(commands.resume),
  '/api/v1/halt': command(commands.halt),
  '/api/v1/reload': command(commands.reload),
  '/api/v1/stop': command(commands.stop),
  '/api/v1/strategies/run': command(commands.stop),
  '/api/v1/rearm': command(commands.rearm),
  '/api/v1/doubts/resolve': command(commands.resolve),
  '/api/v1/overrides': command(commands.propose),
  '/api/v1/overrides/approve': command(commands.judge),
  '/api/v1/overrides/withdraw': command(commands.judge),
  '/api/v1/overrides/reject': command(commands.judge),
  '/api/v1/approvals': { query: approvals.approvalsQuery, answer: approvals.approvals },
  '/api/v1/approvals/approve': command(commands.approve),
  '/api/v1/approvals/reject': command(commands.decide),
  '/api/v1/approvals/withdraw': command(commands.decide),
} as const satisfies Readonly<Record<ApiPath, RouteSchema>>;
