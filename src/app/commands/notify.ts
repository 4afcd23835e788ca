import { OperatorError, exitCodes } from '../../core/errors.ts';
import { forTerminal } from '../../core/text/escape.ts';
import { replaceableByOthers } from '../../files/rights.ts';
import { Undelivered, messageOf } from '../../operate/notify/channel.ts';
import { loadConfig } from '../config/config.ts';
import { systemClock } from '../daemon/clock.ts';
import { channelsOf } from '../notify/channels.ts';
import { commandFiles } from '../notify/notify-config.ts';
import type { AddCommands } from '../cli/options.ts';
import type { CommandIo } from './io.ts';

/** Adds `tranche notify test`. Exit codes: 0 when the receiver accepts the message, 69 when it does not, 64 for an unknown channel. */
export const addNotify: AddCommands = (cli, { io, config, done }) => {
  cli
    .command('notify')
    .description('test the channels of operate.notify')
    .command('test')
    .description('send one message over a channel now')
    .argument('<channel>', 'name of the channel in operate.notify.channels')
    .addOption(config())
    .action(async (channel, options) => {
      done(await notifyTest(channel, options.config, io));
    });
};

/** Sends one message over a channel from this process, bypassing the outbox. Returns the exit code. */
async function notifyTest(name: string, file: string, io: CommandIo): Promise<number> {
  // The test needs no venue token, and paper mode requires none.
  const { config } = loadConfig(file, { env: io.env, cwd: io.cwd, now: io.now, mode: 'paper' });
  const notify = config.operate?.notify;
  const all = channelsOf(notify?.channels ?? [], io.env);
  const channel = all.find((one) => one.name === name);
  if (channel === undefined) {
    const known = all.length === 0 ? 'it has none' : `it has ${all.map((one) => one.name).join(', ')}`;
    throw new OperatorError('usage', `operate.notify of ${file} has no channel "${name}": ${known}`);
  }
  for (const problem of commandFiles(notify).map(replaceableByOthers))
    if (problem !== undefined)
      io.stderr.write(`warning: live mode refuses this config: ${forTerminal(problem)}\n`);
  const at = systemClock.wall();
  const message = messageOf(
    {
      kind: 'test',
      severity: 'info',
      at,
      title: 'a test of this channel',
      lines: ['If you can read this, the channel works. No action is needed.'],
      page: '/#/now',
    },
    { key: `test-${config.desk}-${at}`, desk: config.desk, mode: 'test' },
    notify?.dashboard,
  );
  try {
    await channel.send(message);
  } catch (cause) {
    if (!(cause instanceof Undelivered)) throw cause;
    io.stderr.write(`channel ${name}: ${forTerminal(cause.message)}\n`);
    return exitCodes.unavailable;
  }
  io.stdout.write(`channel ${name}: the message was delivered\n`);
  return 0;
}
