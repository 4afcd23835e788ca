import type { Command } from '@commander-js/extra-typings';
import type { ControlCli } from './control-cli.ts';

/** Adds `tranche notify`, the commands for the channels of `operate.notify`. */
export function addNotify(cli: Command, { io, config, done }: ControlCli): void {
  const notify = cli.command('notify').description('test the channels of operate.notify');
  notify
    .command('test')
    .description('send one message over a channel now')
    .argument('<channel>', 'name of the channel in operate.notify.channels')
    .addOption(config())
    .action(async (channel, options) => {
      const { notifyTest } = await import('../commands/notify/notify-test.ts');
      done(await notifyTest({ ...options, channel }, io));
    });
}
