import { exitCodes } from '../../../core/errors.ts';
import { ask, tell } from './daemon-client.ts';
import type { CommandIo } from '../io.ts';
import { command } from './steer.ts';
import { daemonCommand } from '../../cli/options.ts';
import type { AddCommands, DaemonOptions } from '../../cli/options.ts';

/** Adds `tranche approvals`, `approve` and `reject`. Exit codes: 0, 64, 69, 75 when the desk refuses or has no such request. */
export const addApprovals: AddCommands = (cli, { io, config, done }) => {
  const leaf = daemonCommand(config);
  leaf(cli, 'approvals', 'list requests that wait for approval: what changes, and who must agree')
    .option('--all', 'include requests that were approved, rejected or used, or that expired')
    .action(async (options) => {
      const items = await requests(options, io, options.all === true ? '' : '&state=open');
      const lines = items.flatMap(linesOf);
      tell(io, options.json, { items }, lines.length === 0 ? ['no request waits for approval'] : lines);
      done(0);
    });
  for (const [how, does] of [
    ['approve', "approve another person's request, with your own token"],
    ['reject', 'reject a request before it is used'],
  ] as const)
    leaf(cli, how, does)
      .argument('<id>', 'id, as shown by tranche approvals')
      .requiredOption('--why <reason>', 'reason, recorded in the journal')
      .option('--by <name>', 'your name (default: user name on this machine)')
      .action(async (id, options) => {
        const one = (await requests(options, io, '')).find((item) => item.id === id);
        if (one === undefined) {
          io.stderr.write(`there is no request ${id}: tranche approvals --all lists them\n`);
          done(exitCodes.again);
          return;
        }
        if (options.json !== true) io.stderr.write(`${linesOf(one).join('\n')}\n`);
        const body = { id, hash: one.hash, why: options.why };
        done(await command(options, io, `/api/v1/approvals/${how}`, body));
      });
};

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

const LIMIT = 500;

async function requests(options: DaemonOptions, io: CommandIo, query: string): Promise<readonly Shown[]> {
  const { body } = await ask(options, io, { path: `/api/v1/approvals?limit=${LIMIT}${query}` });
  return (body as { readonly items?: readonly Shown[] }).items ?? [];
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
