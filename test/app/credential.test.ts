import { spawnSync } from 'node:child_process';
import { chownSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readCredential, readSystemdToken, readTokenFile } from '../../src/app/config/credential.ts';
import { aFolder, put } from '../support/folder.ts';

const TOKEN = 'canary-c0ffee-token';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});
const fileOf = (content: string, mode?: number): string => {
  put(folder, { tranche_token: content }, mode);
  return join(folder, 'tranche_token');
};

const problem = (says: string): object => ({ problem: expect.stringContaining(says) as string });

describe('a token file', () => {
  it('is accepted if only its owner can access it', () => {
    expect(readTokenFile(fileOf(`${TOKEN}\n`))).toEqual({ text: TOKEN });
  });

  it.each([0o640, 0o604, 0o620, 0o602, 0o644, 0o660, 0o666])('is rejected with mode %o', (mode) => {
    expect(readTokenFile(fileOf(TOKEN, mode))).toEqual(problem('chmod 600'));
  });

  it('is rejected if it is a symbolic link, a folder, a device, missing or too large', () => {
    symlinkSync(fileOf(TOKEN), join(folder, 'link'));
    expect(readTokenFile(join(folder, 'link'))).toEqual(problem('name the file itself'));
    for (const path of [folder, '/dev/zero', join(folder, 'nothing'), fileOf('x'.repeat(70_000))])
      expect(readTokenFile(path)).toHaveProperty('problem');
  });

  // Only root can change the owner of a file.
  it.runIf(process.getuid?.() === 0)('is rejected if it belongs to another user', () => {
    const path = fileOf(TOKEN);
    chownSync(path, 12_345, 12_345);
    expect(readTokenFile(path)).toEqual(problem('belongs to another user'));
  });

  it('may be readable by its group, but not by others, in the folder of systemd, which may lack it', () => {
    for (const none of [undefined, '', folder]) expect(readSystemdToken(none)).toBeUndefined();
    fileOf(TOKEN, 0o440);
    expect(readSystemdToken(folder)).toEqual({ text: TOKEN });
    fileOf(TOKEN, 0o444);
    expect(readSystemdToken(folder)).toHaveProperty('problem');
  });
});

describe('a token on stdin', () => {
  it.each([
    ['is read to its end', `${TOKEN}\n`, 0],
    ['is refused if it is not one', 'two words', 78],
  ])('%s', (_, input, status) => {
    put(folder, { 'desk.yaml': 'mode: dry_run\nvenue: { base_url: "http://127.0.0.1:1", token_file: "-" }\nstrategies: []\n' }); // prettier-ignore
    const line = [join(import.meta.dirname, '../../bin/tranche.js'), 'validate', '--config', 'desk.yaml'];
    const ran = spawnSync(process.execPath, line, { cwd: folder, input, encoding: 'utf8' });
    expect([ran.status, ran.stdout + ran.stderr]).toEqual([status, expect.not.stringContaining(TOKEN)]);
  });
});

describe('a venue token', () => {
  it('without an origin may be sent to any configured address', () => {
    expect(readCredential(TOKEN)).toMatchObject({ origins: undefined });
  });

  it.each([
    '',
    '{}',
    '{',
    `{"token":"${TOKEN}"}`,
    `{"origin":"https://v.example"}`,
    `{"origin":"nonsense","token":"${TOKEN}"}`,
    `{"origin":[],"token":"${TOKEN}"}`,
    `{"origin":"file:///x","token":"${TOKEN}"}`,
    `{"origin":"https://v.example","token":"two words"}`,
    `{"origin":"https://v.example","token":"${TOKEN}","more":1}`,
    `{"origin":"https://v.example","token":5}`,
  ])('is not read from %s, and the problem does not show it', (text) => {
    const read = readCredential(text);
    expect(read).toHaveProperty('problem');
    expect(JSON.stringify(read)).not.toContain(TOKEN);
  });
});
