import { accessSync, constants } from 'node:fs';
import { lookup } from 'node:dns/promises';
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import type { ChannelConfig } from '../notify/channels.ts';
import { checkOf } from './finding.ts';
import type { Finding } from './finding.ts';

/** Checks the channels and the publication of heads. Sends nothing. */
export async function checkChannels({ operate }: Config): Promise<readonly Finding[]> {
  const { heads, notify } = operate ?? {};
  const findings: Finding[] = [];
  for (const channel of notify?.channels ?? []) findings.push(await channelFinding(channel));
  if (notify?.heartbeat !== undefined)
    findings.push(await hostFinding('operate.notify.heartbeat', new URL(notify.heartbeat.reveal()).hostname));
  if (heads?.webhook !== undefined)
    findings.push(await hostFinding('operate.heads.webhook', new URL(heads.webhook).hostname));
  if (heads?.file !== undefined) findings.push(folderFinding('operate.heads.file', heads.file));
  return findings.length > 0
    ? findings
    : [
        checkOf('channels').warn(
          'nobody is notified of alerts: they appear only in the journal and the log',
          'add a channel under operate.notify (docs/notifications.md)',
        ),
      ];
}

async function channelFinding(channel: ChannelConfig): Promise<Finding> {
  const setting = `operate.notify ${channel.name}`;
  switch (channel.type) {
    case 'webhook':
    case 'smtp':
      // The rest of the address is secret.
      return await hostFinding(setting, new URL(channel.url.reveal()).hostname);
    case 'command':
      return programFinding(setting, channel.run[0]);
  }
}

/** Checks whether a host name can be resolved. */
async function hostFinding(setting: string, hostname: string): Promise<Finding> {
  const { ok, warn } = checkOf('channels', setting);
  try {
    await lookup(hostname.replaceAll(/^\[|\]$/gu, ''));
    return ok(`${setting}: ${hostname} can be resolved`);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return warn(
      `${setting}: ${hostname} cannot be resolved (${why})`,
      'check the address and the name resolution of this machine',
    );
  }
}

function programFinding(setting: string, program: string): Finding {
  const { ok, warn } = checkOf('channels', program);
  try {
    accessSync(program, constants.X_OK);
    return ok(`${setting}: its program can be run`);
  } catch {
    return warn(
      `${setting}: its program does not exist or is not executable`,
      `check the path ${program}, and run "chmod +x" on it`,
    );
  }
}

function folderFinding(setting: string, file: string): Finding {
  const { ok, warn } = checkOf('channels', file);
  try {
    accessSync(dirname(file), constants.W_OK);
    return ok(`${setting}: its folder can be written to`);
  } catch {
    return warn(
      `${setting}: its folder does not exist or is not writable`,
      `create ${dirname(file)}, writable by the desk's user`,
    );
  }
}
