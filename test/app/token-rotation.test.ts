import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/app/config/config.ts';
import { tokenRotation } from '../../src/app/daemon/token-rotation.ts';
import type { TokenRotation, TokenTrial } from '../../src/app/daemon/token-rotation.ts';
import { instant } from '../../src/core/time.ts';
import { sanitize, secretsOf } from '../../src/venue/sanitize.ts';
import { systemClock } from '../venue/servers.ts';
import { aFolder, put as putFiles } from '../support/folder.ts';

let folder = '';
let rotation: TokenRotation | undefined;
const put = (text: string, mode?: number): void => {
  putFiles(folder, { token: text }, mode);
};
const config = (venue: string): string => `mode: dry_run\nvenue: { ${venue} }\nstrategies: ./strategies\n`;
const BASE = 'base_url: "https://venue.example"';
beforeEach(() => {
  folder = aFolder({
    'strategies/a.yaml': '',
    'desk.yaml': config(`${BASE}, token_file: ./token`),
    token: 'the-old-token',
  });
});
afterEach(() => {
  rotation?.close();
});

/** A desk whose venue answers trials of new tokens with `trials` in order, then with `accepted`. */
function running(trials: TokenTrial[] = [], env = {}) {
  const { config: loaded } = loadConfig('desk.yaml', { env, cwd: folder, now: instant(0) });
  const { token } = loaded.venue;
  if (token === undefined) throw new Error('no token');
  const heard: string[] = [];
  rotation = tokenRotation(loaded, {
    clock: systemClock,
    tryToken: async () => await Promise.resolve(trials.shift() ?? 'accepted'),
    onReplaced: (replaced) => heard.push(`replaced ${replaced.reveal()}`),
    onRefused: (why) => heard.push(why),
  });
  return { token, heard, reread: rotation.reread };
}

describe.runIf(process.platform !== 'win32')('the token after its file is read again', () => {
  it('does not change if the file contains the same token', async () => {
    const { reread, heard } = running();
    put('  the-old-token\n');
    expect(await reread()).toBeUndefined();
    expect(heard).toEqual([]);
  });

  it('is the new one in later requests, and both tokens are redacted', async () => {
    const { token, reread, heard } = running();
    put('{"origin": "https://venue.example", "token": "the-new-token"}');
    expect(await reread()).toBe('new requests carry the new token');
    expect(token.reveal()).toBe('the-new-token');
    expect(heard).toEqual(['replaced the-new-token']);
    expect(sanitize('the-new-token or the-old-token?', secretsOf(token))).toBe('[token] or [token]?');
  });

  it.each([
    ['is readable by others', () => { put('the-new-token', 0o644); }, 'run "chmod 600'],
    ['is a symbolic link', () => { rmSync(join(folder, 'token')); symlinkSync(join(folder, 'desk.yaml'), join(folder, 'token')); }, 'is a symbolic link'],
    ['is a named pipe', () => { rmSync(join(folder, 'token')); execFileSync('mkfifo', ['-m', '600', join(folder, 'token')]); }, 'it is a named pipe'],
    ['does not exist', () => { rmSync(join(folder, 'token')); }, 'cannot be read'],
    ['is empty', () => { put(''); }, 'not a valid token'],
    ['is bound to another address', () => { put('{"origin": "https://elsewhere.example", "token": "the-new-token"}'); }, 'must not be sent to https://venue.example'],
  ])('remains the old one if the file %s, and the reason is reported', async (_, change, why) => {
    const { token, reread, heard } = running();
    change();
    expect(await reread()).toContain('the desk keeps its token: ');
    expect(token.reveal()).toBe('the-old-token');
    expect(heard).toEqual([expect.stringContaining(why)]);
  }); // prettier-ignore

  it('remains the old one if the venue refuses the new one', async () => {
    const { token, reread, heard } = running(['refused']);
    put('a-mistyped-token');
    expect(await reread()).toMatch(/^the desk keeps its token: the venue refuses the token in /u);
    expect(token.reveal()).toBe('the-old-token');
    expect(heard).toEqual([expect.stringContaining('the venue refuses the token in ')]);
  });

  it('is tested again automatically while the venue does not respond', async () => {
    const { token, reread, heard } = running(['no_answer', 'no_answer']);
    put('the-new-token');
    expect(await reread()).toBe('the desk keeps its current token until the venue accepts the new one');
    expect(token.reveal()).toBe('the-old-token');
    await expect.poll(() => token.reveal(), { timeout: 15_000, interval: 100 }).toBe('the-new-token');
    expect(heard).toEqual(['replaced the-new-token']);
  });

  it('does not change if it did not come from a file', async () => {
    putFiles(folder, { 'desk.yaml': config(BASE) });
    const { reread, heard } = running([], { TRANCHE_TOKEN: 'a-token' });
    expect([await reread(), heard]).toEqual([undefined, []]);
  });
});
