import { ask, tell } from './daemon-client.ts';
import type { DaemonOptions } from './daemon-client.ts';
import type { CommandIo } from '../io.ts';
import { overrideWords } from './status.ts';
import { command } from './steer.ts';
import type { SteerOptions } from './steer.ts';

export interface ProposeOptions extends SteerOptions {
  readonly to?: string | undefined;
  readonly parent?: string | undefined;
  readonly slice?: string | undefined;
  readonly pair?: string | undefined;
  readonly side?: 'buy' | 'sell' | undefined;
  readonly minutes?: string | undefined;
}

/** Lists the overrides of limits: proposed, approved, used. Exit codes: 0, 69. */
export async function overrides(options: DaemonOptions, io: CommandIo): Promise<number> {
  const { body } = await ask(options, io, { path: '/api/v1/status' });
  const lines = overrideWords(body);
  tell(io, options.json, { overrides: body['overrides'] ?? [] }, lines.length === 0 ? ['none'] : lines);
  return 0;
}

/** Requests a looser limit for one order. Exit codes: 0, 69, 75 when the desk refuses. */
export const proposeOverride = async (
  limit: string,
  { to: value, parent, slice, pair, side, minutes, ...options }: ProposeOptions,
  io: CommandIo,
): Promise<number> =>
  await command(options, io, '/api/v1/overrides', {
    limit,
    why: options.why,
    ...(value === undefined ? {} : { value }),
    ...(parent === undefined ? {} : { parent }),
    ...(slice === undefined ? {} : { slice: Number(slice) }),
    ...(pair === undefined ? {} : { pair }),
    ...(side === undefined ? {} : { side }),
    ...(minutes === undefined ? {} : { minutes: Number(minutes) }),
  });

/** Ends an unused override: its proposer withdraws it, anybody else rejects it. Exit codes: 0, 69, 75 when the desk refuses. */
export const endOverride = async (
  how: 'withdraw' | 'reject',
  id: string,
  options: SteerOptions,
  io: CommandIo,
): Promise<number> =>
  await command(options, io, `/api/v1/overrides/${how}`, { override: id, why: options.why });

/** Approves an override as a second person, who needs a token of their own. Exit codes: 0, 69, 75 when the desk refuses. */
export const approveOverride = async (id: string, options: SteerOptions, io: CommandIo): Promise<number> =>
  await command(options, io, '/api/v1/overrides/approve', { override: id, why: options.why });
