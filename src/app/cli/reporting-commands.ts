import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { PlanIo } from '../commands/plan.ts';
import { cacheOption, collect, journalCommand, modeOption } from './options.ts';
import type { CliWorld } from './options.ts';

/** Adds `tranche plan`, `why`, `alerts` and `report`. None of these commands needs a daemon. */
export function addLook(cli: Command, { io, config, done }: CliWorld<PlanIo>): void {
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
  const journal = journalCommand(config);
  journal(
    cli,
    'why',
    'explain from the journal why each slice traded or did not trade; safe while the daemon runs',
  )
    .option('--since <time>', 'start: a day, a time, or a duration before now such as PT4H')
    .option('--strategy <id>', 'only this strategy')
    .option(
      '--zone <zone>',
      "IANA time zone of all times (default: with --strategy, the strategy's zone; otherwise, this machine's zone)",
    )
    .option('--json', 'print one JSON object per line to stdout')
    .action(async (file, options) => {
      const { why } = await import('../commands/why.ts');
      done(why({ ...options, file }, io));
    });
  journal(
    cli,
    'alerts',
    'list the alerts in the journal and what to do about them; safe while the daemon runs',
  )
    .option('--since <time>', 'start: a day, a time, or a duration before now such as PT4H')
    .addOption(
      new Option('--severity <severity>', 'only alerts of this severity or higher').choices([
        'info',
        'warning',
        'critical',
      ] as const),
    )
    .option('--zone <zone>', 'IANA time zone of all times (default: the zone of this machine)')
    .option('--json', 'print one JSON object per line to stdout')
    .action(async (file, options) => {
      const { alerts } = await import('../commands/alerts.ts');
      done(alerts({ ...options, file }, io));
    });
  journal(cli, 'report', 'report trades and their cost from the journal; safe while the daemon runs')
    .option('--strategy <id>', 'only this strategy')
    .option(
      '--since <time>',
      'only parents that started at or after this: a day, a time, or a duration before now such as P7D',
    )
    .option(
      '--until <time>',
      'only parents that started before this: a day, a time, or a duration before now',
    )
    .option(
      '--data <pair=file>',
      'prices of a pair for benchmarks and mark-outs: a tape or a file that data import reads; repeatable',
      collect,
      [],
    )
    .addOption(cacheOption())
    .option(
      '--oversight',
      'also judge each order by the limits of its time, and list outliers, refusals, doubts and who did what',
    )
    .option('--out <folder>', 'write the report files to this folder')
    .option('--overwrite', 'replace an existing report')
    .option('--json', 'print report.json to stdout instead of the summary')
    .action(async (file, options) => {
      const { report } = await import('../commands/report.ts');
      done(await report({ ...options, file }, io));
    });
}
