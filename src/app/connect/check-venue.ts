import { randomUUID } from 'node:crypto';
import { lastValueFrom } from 'rxjs';
import { VenueError } from '../../core/errors.ts';
import { spanText } from '../../core/time.ts';
import type { Reply } from '../../venue/call.ts';
import { venueHttp } from '../../venue/http.ts';
import type { VenueHttp } from '../../venue/http.ts';
import { reachableRoutes } from '../../venue/routes.ts';
import { venueRoutes } from '../../wire/routes.ts';
import type { Config } from '../config/config.ts';
import { deskSettingsOf } from '../config/desk-settings.ts';
import { systemClock } from '../daemon/clock.ts';
import { version } from '../version.ts';
import type { Finding } from './finding.ts';

/**
 * Checks the venue: whether it responds and accepts the token, what the token may do, which routes exist, and the
 * clock. This client can call only routes that read.
 */
export async function checkVenue(config: Config, isRunning: boolean): Promise<readonly Finding[]> {
  const { baseUrl, token, ca } = config.venue;
  if (baseUrl === undefined || token === undefined)
    return [{ check: 'venue', verdict: 'ok', says: 'the simulated venue starts with the desk' }];
  const http = venueHttp({
    baseUrl,
    token,
    ca,
    routes: [
      ...reachableRoutes(({ method }) => method === 'GET'),
      { method: 'GET', path: NO_ROUTE, capBytes: 4_096 },
    ],
    clock: systemClock,
    version,
    mayMoveMoney: () => false,
  });
  try {
    const first = await ask(http, venueRoutes.currencies.path);
    if (typeof first === 'string')
      return [{ check: 'venue', verdict: 'fail', says: `it does not respond: ${first}`, where: baseUrl, fix: 'check the network and the URL', exit: 'unavailable' }]; // prettier-ignore
    const venue: Finding =
      first.status >= 500 || first.status === 429
        ? { check: 'venue', verdict: 'fail', says: `it is unavailable: status ${first.status}`, where: baseUrl, fix: 'try again later', exit: 'unavailable' } // prettier-ignore
        : { check: 'venue', verdict: 'ok', says: `${baseUrl} responds`, where: baseUrl };
    const clock = clockFinding(config, http.skewMs());
    if (venue.verdict === 'fail') return [venue, clock];
    const isRefused = first.status === 401 || first.status === 403;
    if (isRefused || first.status !== 200) {
      const says = isRefused
        ? `the venue refuses it: status ${first.status}`
        : `the venue returns status ${first.status} instead of the currencies of the account`;
      return [venue, { check: 'token', verdict: 'fail', says, where: baseUrl, fix: 'set a valid token of the account that the desk will trade, and check base_url' }, clock]; // prettier-ignore
    }
    return [venue, { check: 'token', verdict: 'ok', says: 'the venue accepts it' }, await custody(http), clock, ...(await capabilities(config, http, isRunning))]; // prettier-ignore
  } finally {
    await http.close();
  }
}

/** A path that no venue has. The response to it helps to distinguish a missing route from a missing order. */
const NO_ROUTE = '/v1/tranche-no-such-route';
const TIMEOUT_MS = 10_000;

/** Sends a request. Returns the response, or why there is none. */
async function ask(http: VenueHttp, path: string): Promise<Reply | string> {
  try {
    return await lastValueFrom(http.exchange({ method: 'GET', path, timeoutMs: TIMEOUT_MS }));
  } catch (error) {
    if (error instanceof VenueError)
      return error.said === undefined ? error.code : `${error.code}, ${error.said}`;
    throw error;
  }
}

/** Checks whether the token can read the settings for withdrawals. No read route shows whether it may withdraw. */
async function custody(http: VenueHttp): Promise<Finding> {
  const own = { check: 'token_rights' };
  const answer = await ask(http, venueRoutes.approvalRules.path);
  const status = typeof answer === 'string' ? undefined : answer.status;
  if (status === 200)
    return {
      ...own,
      verdict: 'warn',
      says: 'the token can read the approval rules of the account, so it may be able to withdraw',
      fix: 'ask the venue for a token that can only trade; Tranche itself never calls a route that withdraws',
    };
  if (status === 401 || status === 403)
    return { ...own, verdict: 'ok', says: 'the token cannot read the settings for withdrawals' };
  return {
    ...own,
    verdict: 'skipped',
    says: `it is unknown whether the token can withdraw: no route of the venue shows it (status ${status ?? 'none'})`,
  };
}

function clockFinding(config: Config, skewMs: number | undefined): Finding {
  const { skew } = deskSettingsOf(config, { configHash: '', adoptFills: false });
  const own = { check: 'clock' };
  const fix = 'set the clock of this machine (NTP)';
  if (skewMs === undefined)
    return {
      ...own,
      verdict: 'warn',
      says: "the venue's responses have no Date header, so the clocks cannot be compared",
    };
  const off = Math.abs(skewMs);
  const words = `the clock of this machine is ${spanText(off)} ${skewMs > 0 ? 'behind' : 'ahead of'} the venue's`;
  if (off > skew.refuseMs)
    return { ...own, verdict: 'fail', says: `${words}: a live desk refuses to start`, fix, exit: 'again' };
  return off > skew.warnMs
    ? { ...own, verdict: 'warn', says: words, fix }
    : { ...own, verdict: 'ok', says: `the clocks agree within ${spanText(skew.warnMs)}` };
}

/** Requests each enabled capability once. */
async function capabilities(
  { venue }: Config,
  http: VenueHttp,
  isRunning: boolean,
): Promise<readonly Finding[]> {
  const { capabilities: on, sellPath } = venue;
  const findings: Finding[] = [];
  if (on.pairs)
    findings.push(routeFinding('pairs', venueRoutes.pairs.path, await ask(http, venueRoutes.pairs.path)));
  if (on.balances)
    findings.push(
      isRunning
        ? {
            check: 'capability',
            verdict: 'skipped',
            says: 'balances: not read, because the venue limits reads and the running desk needs them',
          }
        : routeFinding('balances', venueRoutes.balances.path, await ask(http, venueRoutes.balances.path)),
    );
  if (on.orderLookup) findings.push(await lookupFinding(http));
  findings.push({
    check: 'capability',
    verdict: 'ok',
    says:
      sellPath === undefined
        ? 'selling is off: venue.sell_path is not set'
        : `sell orders go to ${sellPath}; that route cannot be checked without sending an order`,
  });
  return findings;
}

function routeFinding(name: string, path: string, answer: Reply | string): Finding {
  const own = { check: 'capability', where: path };
  const status = typeof answer === 'string' ? answer : answer.status;
  if (status === 200) return { ...own, verdict: 'ok', says: `${name}: the venue has it` };
  return {
    ...own,
    verdict: 'fail',
    says: `${name}: venue.capabilities.${configName(name)} is on, but GET ${path} returns ${typeof status === 'number' ? `status ${status}` : status}`,
    fix: `set venue.capabilities.${configName(name)}: false, or ask the venue for it`,
    exit: status === 404 || status === 401 || status === 403 ? 'config' : 'unavailable',
  };
}
const configName = (name: string): string => name.replaceAll(' ', '_');

async function lookupFinding(http: VenueHttp): Promise<Finding> {
  const order = await ask(http, `/v1/orders/tranche-check-${randomUUID().slice(0, 8)}`);
  const nothing = await ask(http, NO_ROUTE);
  const own = { check: 'capability', where: venueRoutes.order.path };
  if (typeof order === 'string' || order.status >= 500 || order.status === 429)
    return { ...own, verdict: 'fail', says: `order lookup: ${typeof order === 'string' ? order : `status ${order.status}`}`, fix: 'try again later', exit: 'unavailable' }; // prettier-ignore
  const isLikeNothing =
    typeof nothing !== 'string' && nothing.status === order.status && nothing.body === order.body;
  return order.status === 404 && !isLikeNothing
    ? { ...own, verdict: 'ok', says: 'order lookup: the venue has it' }
    : { ...own, verdict: 'warn', says: 'order lookup: venue.capabilities.order_lookup is on, but the venue responds as if the route did not exist', fix: 'set venue.capabilities.order_lookup: false, unless the venue has confirmed that it has the route' }; // prettier-ignore
}
