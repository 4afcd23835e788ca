import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { ControlCli } from './control-cli.ts';

/** `tranche plan` and `tranche why`: what will happen, and why what happened did. Neither needs a daemon. */
export function addLook(cli: Command, { io, config, done }: ControlCli): void {
  cli
    .command('why')
    .description('why each slice did or did not trade, from the journal; works while the daemon runs')
    .addOption(config())
    .option('--journal <journal>', 'the journal itself, instead of a config')
    .addOption(
      new Option('--mode <mode>', 'the mode whose journal it is').choices([
        'paper',
        'dry_run',
        'live',
      ] as const),
    )
    .option('--since <time>', 'only from then on: a day, a time, or a duration such as PT4H (that long ago)')
    .option('--strategy <id>', 'only this strategy')
    .option('--zone <zone>', 'IANA zone of all times, instead of that of each strategy')
    .option('--json', 'print one JSON object a line on stdout')
    .action(async (options) => {
      const { why } = await import('./commands/why.ts');
      done(why(options, io));
    });
}
