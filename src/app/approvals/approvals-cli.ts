import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { requestKinds } from '../../core/approvals/approval-policy.ts';
import type { ControlCli } from '../cli/control-cli.ts';
import { modeOption } from '../cli/mode-option.ts';

/** Adds `tranche approvals`, `approve`, `reject` and `policy test`. */
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
      .option('--hash <hash>', 'hash of the request that you reviewed, or at least its first 12 characters')
      .option('--by <name>', 'your name (default: user name on this machine)')
      .action(async (id, options) => {
        const { decide } = await import('./approvals.ts');
        done(await decide(how, id, options, io));
      });
  const policy = cli
    .command('policy')
    .description('show which approvals operate.policy requires; sends nothing');
  policy
    .command('test')
    .description('show what a request would need; exit code 0: nothing, 75: approvals, 77: blocked')
    .addOption(config())
    .addOption(modeOption())
    .addOption(
      new Option('--kind <kind>', 'kind of the request').choices(
        Object.keys(requestKinds).filter((kind) => !['parent', 'strategy', 'rearm'].includes(kind)),
      ),
    )
    .option(
      '--parent <amount>',
      'request for a parent with this total, in the currency of the limits, such as 150000usd',
    )
    .option(
      '--strategy <file>',
      'requests for the strategies in this file, whether new or changed, and for their parents',
    )
    .option('--rearm', 'request to lift a halt')
    .option('--override <limit>', 'request for an override of this limit')
    .option('--of <id>', 'with --parent: id of the strategy')
    .option('--by <name>', 'name of the requester')
    .option('--json', 'print one JSON object to stdout')
    .action(async (options) => {
      const { policyTest } = await import('./policy-test.ts');
      done(policyTest(options, io));
    });
}
