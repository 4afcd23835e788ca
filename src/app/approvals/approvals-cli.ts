import type { Command } from '@commander-js/extra-typings';
import { daemonCommand } from '../cli/options.ts';
import type { CliWorld } from '../cli/options.ts';

/** Adds `tranche approvals`, `approve` and `reject`. */
export function addApprovals(cli: Command, { io, config, done }: CliWorld): void {
  const leaf = daemonCommand(config);
  leaf(cli, 'approvals', 'list requests that wait for approval: what changes, and who must agree')
    .option('--all', 'include requests that were approved, rejected or used, or that expired')
    .action(async (options) => {
      const { approvals } = await import('./approvals.ts');
      done(await approvals(options, io));
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
        const { decide } = await import('./approvals.ts');
        done(await decide(how, id, options, io));
      });
}
