import type { Command } from '@commander-js/extra-typings';
import type { CliWorld } from '../cli/options.ts';
import type { RunIo } from '../commands/io.ts';

/** Adds `tranche init`. */
export function addInit(cli: Command, { io, done }: Omit<CliWorld<RunIo>, 'config'>): void {
  cli
    .command('init')
    .description('write commented configs and strategies into a folder; never overwrites files')
    .argument('[folder]', 'target folder', '.')
    .action(async (folder) => {
      const { init } = await import('./init.ts');
      done(init({ folder }, io));
    });
}
