import type { Command } from '@commander-js/extra-typings';
import type { PlanIo } from '../commands/plan.ts';
import { collect, modeOption } from './options.ts';
import type { CliWorld } from './options.ts';

/** Adds `tranche plan`. */
export function addPlan(cli: Command, { io, config, done }: CliWorld<PlanIo>): void {
  cli
    .command('plan')
    .description('list every upcoming slot and check feasibility; does not trade')
    .argument('[files...]', 'strategy files, instead of those in the config')
    .addOption(config())
    .addOption(modeOption())
    .option('--days <n>', 'days to plan, 1 to 400 (default: 7)', Number)
    .option('--from <time>', 'start of the plan: a day or time (default: now)')
    .option('--zone <zone>', 'IANA time zone of all local times (default: the zone of each strategy)')
    .option(
      '--holdings <amounts>',
      'current balances, such as usd=250000,btc=1.5 (default: read from the venue)',
    )
    .option('--price <pair=price>', 'price of a pair (default: read from the venue); repeatable', collect, [])
    .option('--offline', 'do not contact the venue; checks that need the venue are reported as not done')
    .option('--brief', 'omit the list of slots')
    .option('--json', 'print one JSON object to stdout')
    .action(async (files, options) => {
      const { plan } = await import('../commands/plan.ts');
      done(await plan({ ...options, files }, io));
    });
}
