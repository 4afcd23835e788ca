import type { Role } from '../access.ts';

/** One route of the API. Its query, body and response are in `schemas.ts`, under the same path. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST';
  /** Lowest role that may call it. */
  readonly role: Role;
  /** Summary for the OpenAPI document and docs/api.md. */
  readonly summary: string;
}

/** All routes of the API, in the order of docs/api.md. */
export const apiRoutes = {
  '/api/v1/openapi.json': { method: 'GET', role: 'viewer', summary: 'This API as an OpenAPI 3.1 document' },
  '/api/v1/me': { method: 'GET', role: 'viewer', summary: 'Identity and role of the caller' },
  '/api/v1/status': { method: 'GET', role: 'viewer', summary: 'Current state of the desk' },
  '/api/v1/doubts': { method: 'GET', role: 'viewer', summary: 'Orders whose outcome is unknown' },
  '/api/v1/alerts': {
    method: 'GET',
    role: 'viewer',
    summary: 'Alerts in the journal, and what to do about each',
  },
  '/api/v1/strategies': {
    method: 'GET',
    role: 'viewer',
    summary: 'Progress of each strategy, and what the strategy waits for',
  },
  '/api/v1/parents': { method: 'GET', role: 'viewer', summary: 'Parents, with the remainder of each' },
  '/api/v1/slices': {
    method: 'GET',
    role: 'viewer',
    summary: 'Slices: the schedule and the outcome, with attempts, quotes and fills',
  },
  '/api/v1/wakes': {
    method: 'GET',
    role: 'viewer',
    summary: 'Wakes of strategies, and their results',
  },
  '/api/v1/why': {
    method: 'GET',
    role: 'viewer',
    summary: 'Why each slice traded or did not trade, as in `tranche why`',
  },
  '/api/v1/fills': { method: 'GET', role: 'viewer', summary: 'Fills, as in `tranche journal export`' },
  '/api/v1/prices': { method: 'GET', role: 'viewer', summary: 'Recent reference prices of this process' },
  '/api/v1/limits': {
    method: 'GET',
    role: 'viewer',
    summary: 'Each limit and how much of it is used, counting every unknown outcome at its worst case',
  },
  '/api/v1/plan': {
    method: 'GET',
    role: 'viewer',
    summary: 'Planned slices and their feasibility, as in `tranche plan`',
  },
  '/api/v1/costs': { method: 'GET', role: 'viewer', summary: 'Cost of trading, as in `tranche report`' },
  '/api/v1/records': { method: 'GET', role: 'viewer', summary: 'Journal records as they are stored' },
  '/api/v1/chain': {
    method: 'GET',
    role: 'viewer',
    summary: 'The newest record, and the last verified record of the chain',
  },
  '/api/v1/events': {
    method: 'GET',
    role: 'viewer',
    summary: 'Server-sent events, one for each record; the desk disconnects a listener that does not read',
  },
  '/api/v1/pause': { method: 'POST', role: 'operator', summary: 'Starts no new slices' },
  '/api/v1/resume': { method: 'POST', role: 'operator', summary: 'Ends a pause' },
  '/api/v1/halt': { method: 'POST', role: 'operator', summary: 'Requests no quote and sends no order' },
  '/api/v1/reload': { method: 'POST', role: 'operator', summary: 'Reloads the strategies' },
  '/api/v1/stop': { method: 'POST', role: 'operator', summary: 'Stops a strategy permanently' },
  '/api/v1/strategies/run': { method: 'POST', role: 'operator', summary: 'Runs a strategy now' },
  '/api/v1/rearm': {
    method: 'POST',
    role: 'approver',
    summary: 'Lifts a halt. If it needs approval, an operator requests it and other people approve',
  },
  '/api/v1/doubts/resolve': {
    method: 'POST',
    role: 'approver',
    summary:
      'Ends a doubt, or attributes the rows that hold it open. If figures or rows need approval, an operator sends them and other people approve',
  },
  '/api/v1/approvals': {
    method: 'GET',
    role: 'viewer',
    summary: 'Requests for approval and their outcomes, newest first',
  },
  '/api/v1/approvals/approve': {
    method: 'POST',
    role: 'approver',
    summary: 'Approves the request with exactly this hash, with a passkey signature where one is required',
  },
  '/api/v1/approvals/reject': {
    method: 'POST',
    role: 'operator',
    summary: 'Rejects a request before it is used',
  },
} as const satisfies Readonly<Record<string, ApiRoute>>;

export type ApiPath = keyof typeof apiRoutes;

/** Method of a path; `undefined` when the API does not have it. */
export const methodOf = (path: string): ApiRoute['method'] | undefined =>
  Object.hasOwn(apiRoutes, path) ? apiRoutes[path as ApiPath].method : undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion -- it has it
