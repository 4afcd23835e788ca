import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { changedLines, hashOf, readDeskFiles, writeDeskFiles } from '../../../src/app/fleet/desk-files.ts';
import { storedVersionSettings } from '../../../src/app/daemon/stored-version.ts';

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-files-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

describe('desk files in the store', () => {
  it('keep their relative paths, and get the journal of the store in their config', () => {
    const from = aFolder();
    mkdirSync(join(from, 'config'));
    mkdirSync(join(from, 'strategies'));
    const config = join(from, 'config', 'desk.yaml');
    writeFileSync(config, '# ours\ndesk: a\njournal: sqlite:./x.db\n');
    writeFileSync(join(from, 'strategies', 's.yaml'), 'id: s\n');
    const files = readDeskFiles(config, [join(from, 'strategies', 's.yaml')]);
    expect(files.config).toBe('config/desk.yaml');

    const hostile = `\${HOME} "\n\u001b[2J`;
    const folder = aFolder();
    const path = writeDeskFiles(files, {
      folder,
      journal: 'postgres://t@localhost/t?desk=a',
      address: 'here',
      stored: { version: 3, author: 'trader', person: hostile },
    });
    expect(path).toBe(join(folder, 'config', 'desk.yaml'));
    expect(readFileSync(path, 'utf8')).toBe(
      '# ours\ndesk: a\njournal: postgres://t@localhost/t?desk=a\nfleet:\n  address: here\n',
    );
    expect(readFileSync(join(folder, 'strategies', 's.yaml'), 'utf8')).toBe('id: s\n');
    // The text is as stored: no variable in it is replaced.
    expect(storedVersionSettings(path).texts).toEqual({
      'fleet.version': '3',
      'fleet.author': 'trader',
      'fleet.person': hostile,
    });
  });

  it('are never written outside the folder of the desk', () => {
    const files = { config: 'desk.yaml', texts: { 'desk.yaml': '', '../other/desk.yaml': 'desk: b' } };
    const stored = { version: 1, author: 'trader' };
    expect(() => writeDeskFiles(files, { folder: aFolder(), journal: 'x', address: 'here', stored })).toThrow(
      /outside the desk's folder/u,
    );
  });

  it('are compared line by line between two versions', () => {
    const before = { config: 'c', texts: { c: 'a: 1\nb: 2\n', gone: 'x\n' } };
    const now = { config: 'c', texts: { c: 'a: 1\nb: 3\n', fresh: 'y\n' } };
    expect(changedLines(before, now)).toEqual(['c:', '- b: 2', '+ b: 3', 'fresh:', '+ y', 'gone:', '- x']);
    expect(hashOf(before)).not.toBe(hashOf(now));
    expect(changedLines(now, now)).toEqual([]);
  });
});
