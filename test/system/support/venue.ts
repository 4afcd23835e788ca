import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '../../../src/app/daemon/clock.ts';
import type { VenueInput } from '../../../src/simulator/options/options.ts';
import type { ServerHooks } from '../../../src/simulator/http/server.ts';
import { startVenue } from '../../../src/simulator/venue.ts';
import { start } from './program.ts';
import type { Program } from './program.ts';

/** A venue that a desk of another process can reach, with what is needed to reach it. */
export interface ServedVenue {
  readonly baseUrl: string;
  readonly wsUrl: string;
  readonly token: string;
}

/** A venue that is a process of its own. */
export type VenueProcess = ServedVenue & { readonly program: Program };

/** The simulated venue inside the test, to be watched and disturbed. The account holds plenty of everything. */
export async function aServedVenue(
  token: string,
  input: VenueInput = {},
  hooks: ServerHooks = {},
): Promise<ServedVenue> {
  const venue = await startVenue(
    {
      accounts: [{ name: 'desk', token, balances: { usd: '10000000', btc: '100', eth: '1000' } }],
      pairs: { btcusd: { startPrice: '60000' }, ethusd: { startPrice: '3000' } },
      ...input,
    },
    { clock: systemClock, ...hooks },
  );
  onTestFinished(async () => {
    await venue.close();
  });
  return { baseUrl: venue.baseUrl, wsUrl: venue.wsUrl, token };
}

/** `tranche venue` as a process of its own, once it is ready. `imports` are loaded before it. */
export async function aVenueProcess(
  args: readonly string[],
  cwd: string,
  imports: readonly string[] = [],
): Promise<VenueProcess> {
  const program = start(['venue', '--port', '0', ...args], { cwd, imports });
  // All of it: a line may come in pieces.
  await program.said(/"tokens".*\n/u);
  const line = JSON.parse(program.stdout.slice(0, program.stdout.indexOf('\n'))) as {
    readonly base_url: string;
    readonly ws_url: string;
    readonly tokens: readonly string[];
  };
  return { baseUrl: line.base_url, wsUrl: line.ws_url, token: line.tokens[0] ?? '', program };
}

/** Sends a request such as `PUT faults` to the admin API of the venue. @throws if it is refused. */
export async function admin({ program }: VenueProcess, line: string, body?: object): Promise<string> {
  const ready = program.events()[0];
  const [method = '', path = ''] = line.split(' ');
  const answer = await fetch(`${String(ready?.['admin_url'])}/admin/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${String(ready?.['admin_token'])}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect({ line, status: answer.status }).toEqual({ line, status: 200 });
  return await answer.text();
}

/** Plays a script of faults from now on, instead of the one before. */
export async function playFaults(venue: VenueProcess, file: string): Promise<void> {
  await admin(venue, 'PUT faults', parse(readFileSync(file, 'utf8')) as object);
}

export interface FaultCount {
  readonly name: string;
  readonly met: number;
  readonly struck: number;
}

/** How often each fault has struck. */
export const faultsOf = async (venue: VenueProcess): Promise<readonly FaultCount[]> =>
  (JSON.parse(await admin(venue, 'GET faults')) as { readonly rules: readonly FaultCount[] }).rules;
