import { lookup } from 'node:dns/promises';
import { dirname } from 'node:path';
import { accessSync, constants } from 'node:fs';
import type { Config } from '../config/config.ts';
import type { Finding } from './finding.ts';

/** Where the desk tells people and other systems something. Nothing is sent. */
export async function checkChannels({ operate }: Config): Promise<readonly Finding[]> {
  const { heads } = operate ?? {};
  const findings: Finding[] = [];
  if (heads?.webhook !== undefined)
    findings.push(await addressFinding('operate.heads.webhook', heads.webhook));
  if (heads?.file !== undefined) findings.push(folderFinding('operate.heads.file', heads.file));
  return findings.length > 0
    ? findings
    : [{ check: 'channels', verdict: 'ok', says: 'no channel is configured' }];
}

/** Whether the name of an address can be resolved. */
async function addressFinding(setting: string, address: string): Promise<Finding> {
  const own = { check: 'channels', where: setting };
  const { hostname, origin } = new URL(address);
  try {
    await lookup(hostname.replaceAll(/^\[|\]$/gu, ''));
    return { ...own, verdict: 'ok', says: `${setting}: ${origin} can be resolved` };
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { ...own, verdict: 'warn', says: `${setting}: ${origin} cannot be resolved (${why})`, fix: 'see whether the address is right and this machine resolves names' }; // prettier-ignore
  }
}

function folderFinding(setting: string, file: string): Finding {
  const own = { check: 'channels', where: file };
  try {
    accessSync(dirname(file), constants.W_OK);
    return { ...own, verdict: 'ok', says: `${setting}: its folder can be written to` };
  } catch {
    return { ...own, verdict: 'warn', says: `${setting}: its folder is not there, or may not be written to`, fix: `make ${dirname(file)} for the user of the desk` }; // prettier-ignore
  }
}
