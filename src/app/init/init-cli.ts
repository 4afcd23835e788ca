import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { RunIo } from '../commands/run.ts';
import { questions } from './desk-answers.ts';
import type { Terminal } from './ask.ts';

export interface InitCli {
  readonly io: RunIo;
  readonly terminal: Terminal;
  readonly done: (code: number) => void;
}

/** Adds `tranche init`, with one option for each question that it asks in a terminal. */
export function addInit(cli: Command, { io, terminal, done }: InitCli): void {
  const command = cli
    .command('init')
    .description(
      'create a desk: in a terminal, ask what it should do; otherwise write examples. Never overwrites files',
    )
    .argument('[folder]', 'target folder', '.')
    .option(
      '--yes',
      'do not ask: use defaults for options that are not given; without --does, write the examples',
    );
  for (const { flag, asks, hint, otherwise, choices } of Object.values(questions)) {
    const option = new Option(
      `${flag} <${flag.slice(2)}>`,
      `${asks} ${hint}${otherwise === undefined ? '' : ` (default: ${otherwise})`}`,
    );
    command.addOption(choices === undefined ? option : option.choices(choices.map(({ value }) => value)));
  }
  command.action(async (folder, options) => {
    const { init } = await import('./init.ts');
    done(await init({ folder, given: options }, io, terminal));
  });
}
