import type { Command } from '@commander-js/extra-typings';
import type { ControlCli } from '../cli/control-cli.ts';
import { modeOption } from '../cli/mode-option.ts';

/** Adds `tranche approvals`, `approve` and `reject`. */
export function addApprovals(cli: Command, { io, config, done }: ControlCli): void {
  const leaf = (name: string, does: string) =>
    cli
      .command(name)
      .description(does)
      .addOption(config())
      .option('--journal <journal>', 'journal of the desk, instead of a config')
      .addOption(modeOption('mode of the desk'))
      .option('--url <url>', "URL of another machine's API; the token is read from TRANCHE_OPERATOR_TOKEN")
      .option('--json', 'print one JSON object to stdout');
  leaf('approvals', 'list requests that wait for approval: what changes, and who must agree')
    .option('--all', 'include requests that were approved, rejected or used, or that expired')
    .action(async (options) => {
      const { approvals } = await import('./approvals.ts');
      done(await approvals(options, io));
    });
  for (const [how, does] of [
    ['approve', "approve another person's request, with your own token"],
    ['reject', 'reject a request before it is used'],
  ] as const)
    leaf(how, does)
      .argument('<id>', 'id, as shown by tranche approvals')
      .requiredOption('--why <reason>', 'reason, recorded in the journal')
      .option('--by <name>', 'your name (default: user name on this machine)')
      .action(async (id, options) => {
        const { decide } = await import('./approvals.ts');
        done(await decide(how, id, options, io));
      });
}
