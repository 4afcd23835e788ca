import type { Clock } from '../../engine/ports.ts';
import type { Channel } from '../../operate/notify/channel.ts';
import { command } from './command.ts';
import { mail } from './mail.ts';
import type { ChannelConfig } from './notify-config.ts';
import { webhook } from './webhook.ts';

/** Creates the channels of a config. Commands receive a few variables of `env`. */
export const channelsOf = (
  configs: readonly ChannelConfig[],
  clock: Pick<Clock, 'wall'>,
  env: Readonly<Record<string, string | undefined>>,
): readonly Channel[] =>
  configs.map((config) => {
    const { name, severity } = config;
    return { name, severity, send: sendOf(config, clock, env) };
  });

function sendOf(
  config: ChannelConfig,
  clock: Pick<Clock, 'wall'>,
  env: Readonly<Record<string, string | undefined>>,
): Channel['send'] {
  switch (config.way) {
    case 'webhook':
      return webhook(config, clock);
    case 'smtp':
      return mail(config);
    case 'command':
      return command(config, env);
  }
}
