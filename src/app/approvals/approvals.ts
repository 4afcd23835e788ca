import { exitCodes } from '../../core/errors.ts';
import { ask, tell } from '../commands/desk/daemon-client.ts';
import type { DaemonOptions } from '../commands/desk/daemon-client.ts';
import type { CommandIo } from '../commands/io.ts';
import { command } from '../commands/desk/steer.ts';
import type { SteerOptions } from '../commands/desk/steer.ts';

/** The fields of a request from the API that the commands print. */
interface Shown {
  readonly id: string;
  readonly hash: string;
  readonly kind: string;
  readonly state: string;
  readonly asks: string;
  readonly difference?: readonly string[];
  readonly proposed_by: string;
  readonly why: string;
  readonly expires_at: string;
  readonly count: number;
  readonly approved_by: readonly string[];
  readonly passkey?: string;
  readonly may_i: string;
}

export interface ApprovalsOptions extends DaemonOptions {
  readonly all?: boolean | undefined;
}

const LIMIT = 500;

async function requests(options: DaemonOptions, io: CommandIo, query: string): Promise<readonly Shown[]> {
  const { body } = await ask(options, io, { path: `/api/v1/approvals?limit=${LIMIT}${query}` });
  return (body as { readonly items?: readonly Shown[] }).items ?? [];
}

/** Lists the requests that await approval or, with `all`, every request. Exit codes: 0, 69. */
export async function approvals(options: ApprovalsOptions, io: CommandIo): Promise<number> {
  const items = await requests(options, io, options.all === true ? '' : '&state=open');
  const lines = items.flatMap(linesOf);
  tell(io, options.json, { items }, lines.length === 0 ? ['no request waits for approval'] : lines);
  return 0;
}

function linesOf(one: Shown): readonly string[] {
  const { approved_by: have } = one;
  const who = have.length === 0 ? '' : ` (${have.join(', ')})`;
  const key = one.passkey === undefined ? '' : ', with a passkey';
  return [
    `${one.id} ${one.kind} ${one.state}: ${one.asks}`,
    ...(one.difference ?? []).map((line) => `    ${line}`),
    `    asked by ${one.proposed_by}: ${one.why}; until ${one.expires_at}; hash ${one.hash.slice(0, 12)}`,
    `    has ${have.length} of ${one.count} approvals${who}${key}; may I approve it: ${one.may_i}`,
  ];
}

/** Approves or rejects a request as currently shown. Exit codes: 0, 64, 69, 75 when the desk refuses or has no such request. */
export async function decide(
  how: 'approve' | 'reject',
  id: string,
  options: SteerOptions,
  io: CommandIo,
): Promise<number> {
  const one = (await requests(options, io, '')).find((item) => item.id === id);
  if (one === undefined) {
    io.stderr.write(`there is no request ${id}: tranche approvals --all lists them\n`);
    return exitCodes.again;
  }
  if (options.json !== true) io.stderr.write(`${linesOf(one).join('\n')}\n`);
  return await command(options, io, `/api/v1/approvals/${how}`, { id, hash: one.hash, why: options.why });
}
