import { Argument } from '@commander-js/extra-typings';
import type { Command, Option } from '@commander-js/extra-typings';
import type { CommandIo } from '../commands/io.ts';
import { commandNodes } from './command-tree.ts';
import { completionScript, shells } from './scripts.ts';

export interface CompletionCli {
  readonly io: CommandIo;
  readonly config: () => Option<'--config <file>', undefined, string>;
  readonly done: (code: number) => void;
  /** The program with every command. */
  readonly program: () => Promise<Command>;
}

/** Adds `tranche completion`, which prints the script that a shell sources. */
export function addCompletion(cli: Command, { io, config, done, program }: CompletionCli): void {
  const completion = cli
    .command('completion')
    .description('print the completion script of a shell: source <(tranche completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(async (shell) => {
      io.stdout.write(completionScript(shell, commandNodes(await program())));
      done(0);
    });
  completion
    .command('strategies', { hidden: true })
    .description('print the ids of the strategies in a config, one per line')
    .addOption(config())
    .action(async (options) => {
      const { strategyIds } = await import('./strategy-ids.ts');
      for (const id of strategyIds(options.config, io)) io.stdout.write(`${id}\n`);
      done(0);
    });
}
