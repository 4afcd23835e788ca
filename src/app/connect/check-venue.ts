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
import { checkOf } from './finding.ts';
import type { Finding } from './finding.ts';

/**
 * Checks the venue: whether it responds and accepts the token, what the token may do, which routes exist, and the
 * clock. This client can call only routes that read.
 */
export async function checkVenue(config: Config, isRunning: boolean): Promise<readonly Finding[]> {
  const { baseUrl, token, ca, proxy } = config.venue;
  if (baseUrl === undefined || token === undefined)
    return [checkOf('venue').ok('the simulated venue starts with the desk')];
  const http = venueHttp({
    baseUrl,
    token,
    ca,
    proxy,
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
    const { ok, fail } = checkOf('venue', baseUrl);
    if (typeof first === 'string')
      return [fail(`it does not respond: ${first}`, 'check the network and the URL', 'unavailable')];
    const venue =
      first.status >= 500 || first.status === 429
        ? fail(`it is unavailable: status ${first.status}`, 'try again later', 'unavailable')
        : ok(`${baseUrl} responds`);
    const clock = clockFinding(config, http.skewMs());
    if (venue.verdict === 'fail') return [venue, clock];
    const isRefused = first.status === 401 || first.status === 403;
    if (isRefused || first.status !== 200) {
      const says = isRefused
        ? `the venue refuses it: status ${first.status}`
        : `the venue returns status ${first.status} instead of the currencies of the account`;
      const fix = 'set a valid token of the account that the desk will trade, and check base_url';
      return [venue, checkOf('token', baseUrl).fail(says, fix), clock];
    }
    const accepted = checkOf('token').ok('the venue accepts it');
    return [venue, accepted, await custody(http), clock, ...(await capabilities(config, http, isRunning))];
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
  const { ok, warn, skipped } = checkOf('token_rights');
  const answer = await ask(http, venueRoutes.approvalRules.path);
  const status = typeof answer === 'string' ? undefined : answer.status;
  if (status === 200)
    return warn(
      'the token can read the approval rules of the account, so it may be able to withdraw',
      'ask the venue for a token that can only trade; Tranche itself never calls a route that withdraws',
    );
  if (status === 401 || status === 403) return ok('the token cannot read the settings for withdrawals');
  return skipped(
    `it is unknown whether the token can withdraw: no route of the venue shows it (status ${status ?? 'none'})`,
  );
}

function clockFinding(config: Config, skewMs: number | undefined): Finding {
  const { skew } = deskSettingsOf(config, { configHash: '', adoptFills: false });
  const { ok, warn, fail } = checkOf('clock');
  const fix = 'set the clock of this machine (NTP)';
  if (skewMs === undefined)
    return warn("the venue's responses have no Date header, so the clocks cannot be compared");
  const off = Math.abs(skewMs);
  const words = `the clock of this machine is ${spanText(off)} ${skewMs > 0 ? 'behind' : 'ahead of'} the venue's`;
  if (off > skew.refuseMs) return fail(`${words}: a live desk refuses to start`, fix, 'again');
  return off > skew.warnMs ? warn(words, fix) : ok(`the clocks agree within ${spanText(skew.warnMs)}`);
}

/** Requests each enabled capability once. */
async function capabilities(
  { venue }: Config,
  http: VenueHttp,
  isRunning: boolean,
): Promise<readonly Finding[]> {
  const { capabilities: on, sellPath } = venue;
  const { ok, skipped } = checkOf('capability');
  const findings: Finding[] = [];
  if (on.pairs)
    findings.push(routeFinding('pairs', venueRoutes.pairs.path, await ask(http, venueRoutes.pairs.path)));
  if (on.balances)
    findings.push(
      isRunning
        ? skipped('balances: not read, because the venue limits reads and the running desk needs them')
        : routeFinding('balances', venueRoutes.balances.path, await ask(http, venueRoutes.balances.path)),
    );
  if (on.orderLookup) findings.push(await lookupFinding(http));
  findings.push(
    ok(
      sellPath === undefined
        ? 'selling is off: venue.sell_path is not set'
        : `sell orders go to ${sellPath}; that route cannot be checked without sending an order`,
    ),
  );
  return findings;
}

function routeFinding(name: string, path: string, answer: Reply | string): Finding {
  const { ok, fail } = checkOf('capability', path);
  const status = typeof answer === 'string' ? answer : answer.status;
  if (status === 200) return ok(`${name}: the venue has it`);
  return fail(
    `${name}: venue.capabilities.${name} is on, but GET ${path} returns ${typeof status === 'number' ? `status ${status}` : status}`,
    `set venue.capabilities.${name}: false, or ask the venue for it`,
    status === 404 || status === 401 || status === 403 ? 'config' : 'unavailable',
  );
}

async function lookupFinding(http: VenueHttp): Promise<Finding> {
  const order = await ask(http, `/v1/orders/tranche-check-${randomUUID().slice(0, 8)}`);
  const nothing = await ask(http, NO_ROUTE);
  const { ok, warn, fail } = checkOf('capability', venueRoutes.order.path);
  if (typeof order === 'string' || order.status >= 500 || order.status === 429)
    return fail(
      `order lookup: ${typeof order === 'string' ? order : `status ${order.status}`}`,
      'try again later',
      'unavailable',
    );
  const isLikeNothing =
    typeof nothing !== 'string' && nothing.status === order.status && nothing.body === order.body;
  return order.status === 404 && !isLikeNothing
    ? ok('order lookup: the venue has it')
    : warn(
        'order lookup: venue.capabilities.order_lookup is on, but the venue responds as if the route did not exist',
        'set venue.capabilities.order_lookup: false, unless the venue has confirmed that it has the route',
      );
}
