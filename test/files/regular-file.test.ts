import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readRegularFile } from '../../src/files/regular-file.ts';
import { changeableByOthers, replaceableByOthers } from '../../src/files/rights.ts';
import { aFolder } from '../support/folder.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});
const isPosix = process.platform !== 'win32';
const isLinux = process.platform === 'linux';

describe('readRegularFile', () => {
  const read = (name: string, maxBytes = 10): string =>
    readRegularFile(join(folder, name), { maxBytes }).toString('utf8');

  it('returns the bytes of a regular file, also through a link, and rejects a file above the size limit', () => {
    writeFileSync(join(folder, 'ten'), '0123456789');
    symlinkSync(join(folder, 'ten'), join(folder, 'link'));
    expect(read('ten')).toBe('0123456789');
    expect(read('link')).toBe('0123456789');
    writeFileSync(join(folder, 'empty'), '');
    expect(read('empty')).toBe('');
    writeFileSync(join(folder, 'eleven'), '01234567890');
    expect(() => read('eleven')).toThrow('it has 11 bytes or more; at most 10 are read');
  });

  it('rejects a sparse file by its size without reading it', () => {
    writeFileSync(join(folder, 'sparse'), '');
    truncateSync(join(folder, 'sparse'), 1_500_000_000);
    expect(() => read('sparse', 262_144)).toThrow('it has 1500000000 bytes or more; at most 262144 are read');
    rmSync(join(folder, 'sparse'));
  });

  it.runIf(isPosix)('rejects a named pipe without a writer immediately', () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(() => read('pipe')).toThrow('it is a named pipe, not a regular file');
  });

  it.runIf(isPosix)('rejects devices, folders and sockets', async () => {
    expect(() => readRegularFile('/dev/zero', { maxBytes: 10 })).toThrow('it is a device');
    expect(() => read('.')).toThrow('it is a folder: name the files in it');
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    expect(() => read('socket')).toThrow('it is a socket, not a regular file');
    server.close();
  });

  it.runIf(isLinux)('stops at the size limit when an endless file reports a size of zero', () => {
    expect(() => readRegularFile('/proc/self/pagemap', { maxBytes: 20_000 })).toThrow(
      'at most 20000 are read',
    );
  });

  it.runIf(isPosix)(
    'rejects a link if links are not allowed, and rejects a file for which the refuse function returns a reason',
    () => {
      writeFileSync(join(folder, 'file'), 'x');
      symlinkSync(join(folder, 'file'), join(folder, 'link'));
      expect(() => readRegularFile(join(folder, 'link'), { maxBytes: 10, isLinkRefused: true })).toThrow(
        'ELOOP',
      );
      const refuse = ({ mode }: { readonly mode: number }): string => `mode ${(mode & 0o777).toString(8)}`;
      chmodSync(join(folder, 'file'), 0o640);
      expect(() => readRegularFile(join(folder, 'file'), { maxBytes: 10, refuse })).toThrow('mode 640');
    },
  );
});

describe.runIf(isPosix)('the check of who can change a file', () => {
  const withMode = (name: string, mode: number): string => {
    const path = join(folder, name);
    writeFileSync(path, '');
    chmodSync(path, mode);
    return path;
  };

  it.each([0o600, 0o644, 0o755])('reports nobody but the owner for mode %o', (mode) => {
    expect(changeableByOthers(withMode('file', mode))).toBeUndefined();
  });

  it.each([0o620, 0o602, 0o666])('reports other users for mode %o', (mode) => {
    const path = withMode('file', mode);
    expect(changeableByOthers(path)).toBe(`other users can change ${path}: run "chmod go-w ${path}"`);
  });

  it('reports other users who can change the folder, unless the sticky bit protects its files', () => {
    const path = withMode('file', 0o600);
    chmodSync(folder, 0o777);
    expect(replaceableByOthers(path)).toContain(`other users can change ${folder}`);
    chmodSync(folder, 0o1777);
    expect(replaceableByOthers(path)).toBeUndefined();
    expect(changeableByOthers(folder)).toContain('other users can change');
  });
});
