import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { PlanIo } from './commands/plan.ts';
import type { ControlCli } from './control-cli.ts';
import { JOURNAL } from './journal-cli.ts';
import { cacheOption } from './tape-options.ts';

export interface LookCli extends ControlCli {
  readonly io: PlanIo;
}

/** `tranche plan`, `why` and `report`: what will happen, why what happened did, and what it cost. None needs a daemon. */
export function addLook(cli: Command, { io, config, done }: LookCli): void {
  cli
    .command('plan')
    .description('every slot ahead with its size, and whether the desk can do it; trades nothing')
    .argument('[files...]', 'strategy files instead of those that the config names')
    .addOption(config())
    .addOption(
      new Option('--mode <mode>', 'instead of the mode in the config').choices([
        'paper',
        'dry_run',
        'live',
      ] as const),
    )
    .option('--days <n>', 'days to plan, 1 to 400; 7 when left out', Number)
    .option('--from <time>', 'plan as if it were that day or time')
    .option('--zone <zone>', 'IANA zone of all local times, instead of that of each strategy')
    .option('--holdings <amounts>', 'funds now, such as usd=250000,btc=1.5, instead of asking the venue')
    .option(
      '--price <pair=price>',
      'price of a pair, instead of asking the venue; may be given again',
      collect,
      [],
    )
    .option('--offline', 'ask no venue; what is then unknown is told as not done')
    .option('--brief', 'leave the slots out')
    .option('--ics <file>', 'also write a calendar file')
    .option('--json', 'print one JSON object on stdout')
    .action(async (files, options) => {
      const { plan } = await import('./commands/plan.ts');
      done(await plan({ ...options, files }, io));
    });
  cli
    .command('why')
    .description('why each slice did or did not trade, from the journal; works while the daemon runs')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .option('--journal <journal>', 'the same, as an option')
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
    .action(async (file, options) => {
      const { why } = await import('./commands/why.ts');
      done(why({ ...options, file }, io));
    });
  addReport(cli, { io, config, done });
}

function addReport(cli: Command, { io, config, done }: LookCli): void {
  cli
    .command('report')
    .description('what was traded and what it cost, from the journal; works while the daemon runs')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .option('--journal <journal>', 'the same, as an option')
    .addOption(
      new Option('--mode <mode>', 'the mode whose journal it is').choices([
        'paper',
        'dry_run',
        'live',
      ] as const),
    )
    .option('--strategy <id>', 'only this strategy')
    .option('--since <time>', 'only parents begun from then on: a day, a time, or a duration such as P7D')
    .option('--until <time>', 'only parents begun before')
    .option(
      '--data <pair=file>',
      'prices of a pair, for benchmarks and mark-outs: a tape, or a file that data import reads; may be given again',
      collect,
      [],
    )
    .addOption(cacheOption())
    .option('--out <folder>', 'write the files of the report into this folder')
    .option('--overwrite', 'replace a report that is there')
    .option('--json', 'print report.json on stdout instead of the summary')
    .action(async (file, options) => {
      const { report } = await import('./commands/report.ts');
      done(await report({ ...options, file }, io));
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];
