import type { Command, Option } from '@commander-js/extra-typings';
import type { CommandIo } from '../commands/io.ts';
import { JOURNAL } from '../cli/journal-cli.ts';
import { modeOption } from '../cli/mode-option.ts';
import { cacheOption } from '../cli/tape-options.ts';

export interface TwinCli {
  readonly io: CommandIo;
  readonly config: () => Option<'--config <file>', undefined, string>;
  readonly done: (code: number) => void;
}

const EXAMPLES = `
Examples:
  tranche twin --day 2026-12-01 --model ./model.yaml                  compare live with the model on that day
  tranche twin var/live.db --data btcusd=btcusd-1m.csv.gz --out twin  compare the whole journal, with minute prices; write files
  tranche twin --candidate new-twap.yaml --out twin                   estimate the cost of another text of a strategy`;

/** Adds `tranche twin`, which compares a desk with the model, from the journal. */
export function addTwin(cli: Command, { io, config, done }: TwinCli): void {
  cli
    .command('twin')
    .description(
      'compare each slice with the backtest model, and explain the differences; safe while the daemon runs',
    )
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .option('--journal <journal>', 'journal; the same as the argument')
    .addOption(modeOption('mode that wrote the journal'))
    .option('--day <day>', 'only slices of this day, such as 2026-12-01 (default: the whole journal)')
    .option('--zone <zone>', 'IANA time zone in which the day begins (default: the zone of this machine)')
    .option('--model <model>', 'model of the venue: tight, normal, stressed, or a YAML file', 'normal')
    .option(
      '--assume <setting=value>',
      'one setting of the model, such as half_spread_bps=5; repeatable',
      collect,
      [],
    )
    .option(
      '--data <pair=file>',
      'prices of a pair, finer than the references in the journal: a tape or a file that data import reads; repeatable',
      collect,
      [],
    )
    .addOption(cacheOption())
    .option(
      '--bound <bps>',
      'largest difference that is not a finding, in basis points of the traded value',
      '5',
    )
    .option(
      '--candidate <file>',
      'estimate the cost of another text of one strategy instead, compared with live',
    )
    .option(
      '--out <folder>',
      'write twin.html and twin.json, or candidate.html and candidate.json, to this folder',
    )
    .option('--overwrite', 'replace existing files')
    .option('--json', 'print the JSON file to stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (file, options) => {
      const { twin } = await import('./twin.ts');
      done(await twin({ ...options, file }, io));
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];
