import type { Command } from '@commander-js/extra-typings';
import { JOURNAL } from './journal-cli.ts';
import type { WatchIo } from '../commands/notify/watch.ts';
import type { ControlCli } from './control-cli.ts';
import { modeOption } from './mode-option.ts';

export interface WatchCli {
  readonly io: WatchIo;
  readonly done: (code: number) => void;
}

/** Adds `tranche watch`, which monitors desks from another host. */
export function addWatch(cli: Command, { io, done }: WatchCli): void {
  cli
    .command('watch')
    .description(
      'watch desks from another host: notify people when a desk is silent, cannot trade or has stalled',
    )
    .argument(
      '[urls...]',
      "URLs of desks, or postgres://… for all desks of a fleet, in addition to those in the watchman's config",
    )
    .option('--config <file>', 'file with the desks, the times and the channels under notify (default: none)')
    .option('--token-file <file>', 'token with the viewer role, for the desks on the command line')
    .option('--ca-file <file>', 'certificates of a private authority, for the desks on the command line')
    .option('--state <file>', 'file that remembers sent notices across restarts (default: none)')
    .option(
      '--once',
      'check once and notify nobody; exit 69 if a desk is silent, 75 if anything else is wrong',
    )
    .option('--json', 'print one JSON object per line to stdout')
    .action(async (urls, options) => {
      const { watch } = await import('../commands/notify/watch.ts');
      done(await watch({ ...options, urls }, io));
    });
}

/** Adds `tranche notify`, the commands for the channels of `operate.notify`. */
export function addNotify(cli: Command, { io, config, done }: ControlCli): void {
  const notify = cli
    .command('notify')
    .description('test the channels of operate.notify, and list notices that wait for delivery');
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
    .description('list notices that wait for delivery; safe while the daemon runs')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(modeOption('mode that wrote the journal'))
    .option('--json', 'print one JSON object per notice to stdout')
    .action(async (file, options) => {
      const { notifyList } = await import('../commands/notify/notify-list.ts');
      done(notifyList({ ...options, file }, io));
    });
}
