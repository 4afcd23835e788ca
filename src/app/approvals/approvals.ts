import { OperatorError, exitCodes } from '../../core/errors.ts';
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
  readonly needs: readonly { readonly count: number; readonly groups: readonly string[]; readonly have: readonly string[] }[]; // prettier-ignore
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
  const needs = one.needs.map(({ count, groups, have }) => {
    const who = have.length === 0 ? '' : ` (${have.join(', ')})`;
    return `${have.length} of ${count} of ${groups.join(' or ')}${who}`;
  });
  const key = one.passkey === undefined ? '' : ', with a passkey';
  return [
    `${one.id} ${one.kind} ${one.state}: ${one.asks}`,
    ...(one.difference ?? []).map((line) => `    ${line}`),
    `    asked by ${one.proposed_by}: ${one.why}; until ${one.expires_at}; hash ${one.hash.slice(0, 12)}`,
    `    has ${needs.join(' and ')}${key}; may I approve it: ${one.may_i}`,
  ];
}

export interface DecideOptions extends SteerOptions {
  readonly hash?: string | undefined;
}

const HASH_MIN = 12;

/** Approves or rejects a request as currently shown. Exit codes: 0, 64, 69, 75 when the desk refuses or has no such request. */
export async function decide(
  how: 'approve' | 'reject',
  id: string,
  options: DecideOptions,
  io: CommandIo,
): Promise<number> {
  const { hash: seen } = options;
  if (seen !== undefined && (seen.length < HASH_MIN || !/^[0-9a-f]+$/u.test(seen)))
    throw new OperatorError('usage', `--hash: expected ${HASH_MIN} to 64 characters of 0-9 and a-f`);
  const one = (await requests(options, io, '')).find((item) => item.id === id);
  if (one === undefined) {
    io.stderr.write(`there is no request ${id}: tranche approvals --all lists them\n`);
    return exitCodes.again;
  }
  if (seen !== undefined && !one.hash.startsWith(seen)) {
    io.stderr.write(`request ${id} does not have the hash ${seen}; it asks: ${one.asks}\n`);
    return exitCodes.again;
  }
  if (options.json !== true) io.stderr.write(`${linesOf(one).join('\n')}\n`);
  return await command(options, io, `/api/v1/approvals/${how}`, { id, hash: one.hash, why: options.why });
}
