import { accessSync, constants } from 'node:fs';
import { lookup } from 'node:dns/promises';
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import type { ChannelConfig } from '../notify/channels.ts';
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
    : [{ check: 'channels', verdict: 'warn', says: 'nobody is notified of alerts: they appear only in the journal and the log', fix: 'add a channel under operate.notify (docs/notifications.md)' }]; // prettier-ignore
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
  const own = { check: 'channels', where: setting };
  try {
    await lookup(hostname.replaceAll(/^\[|\]$/gu, ''));
    return { ...own, verdict: 'ok', says: `${setting}: ${hostname} can be resolved` };
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { ...own, verdict: 'warn', says: `${setting}: ${hostname} cannot be resolved (${why})`, fix: 'check the address and the name resolution of this machine' }; // prettier-ignore
  }
}

function programFinding(setting: string, program: string): Finding {
  const own = { check: 'channels', where: program };
  try {
    accessSync(program, constants.X_OK);
    return { ...own, verdict: 'ok', says: `${setting}: its program can be run` };
  } catch {
    return { ...own, verdict: 'warn', says: `${setting}: its program does not exist or is not executable`, fix: `check the path ${program}, and run "chmod +x" on it` }; // prettier-ignore
  }
}

function folderFinding(setting: string, file: string): Finding {
  const own = { check: 'channels', where: file };
  try {
    accessSync(dirname(file), constants.W_OK);
    return { ...own, verdict: 'ok', says: `${setting}: its folder can be written to` };
  } catch {
    return { ...own, verdict: 'warn', says: `${setting}: its folder does not exist or is not writable`, fix: `create ${dirname(file)}, writable by the desk's user` }; // prettier-ignore
  }
}
