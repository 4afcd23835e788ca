import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { JOURNAL } from './journal-cli.ts';
import type { ControlCli } from './control-cli.ts';

/** `tranche notify`: the channels of operate.notify. */
export function addNotify(cli: Command, { io, config, done }: ControlCli): void {
  const notify = cli
    .command('notify')
    .description('test the channels of operate.notify, list what waits for delivery');
  notify
    .command('test')
    .description('send one message over a channel now')
    .argument('<channel>', 'name of the channel in operate.notify.channels')
    .addOption(config())
    .action(async (channel, options) => {
      const { notifyTest } = await import('../commands/notify/notify-test.ts');
      done(await notifyTest({ ...options, channel }, io));
    });
  notify
    .command('list')
    .description('list what waits for delivery; safe while the daemon runs')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(
      new Option('--mode <mode>', 'mode that wrote the journal').choices([
        'paper',
        'dry_run',
        'live',
      ] as const),
    )
    .option('--json', 'print one JSON object per notice to stdout')
    .action(async (file, options) => {
      const { notifyList } = await import('../commands/notify/notify-list.ts');
      done(notifyList({ ...options, file }, io));
    });
}
