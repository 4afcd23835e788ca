import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { compileCacheFolder } from '../../bin/cache-folder.js';
import { aFolder, put } from '../support/folder.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url));
let home = '';
beforeEach(() => {
  home = realpathSync(aFolder());
});

describe.runIf(process.platform !== 'win32')('the folder of the compile cache', () => {
  it('is in the home folder of the user and accessible only to that user', () => {
    const folder = compileCacheFolder({ HOME: home });
    expect(folder).toBe(join(home, '.cache/tranche/compiled'));
    expect(statSync(folder ?? '').mode & 0o777).toBe(0o700);
    expect(compileCacheFolder({ HOME: home, XDG_CACHE_HOME: join(home, 'own') })).toBe(
      join(home, 'own/tranche/compiled'),
    );
  });

  it.each([
    ['others can access it', '.cache/tranche/compiled', 0o755],
    ['others can write to a parent folder', '.cache/tranche', 0o777],
    ['the group can write to a parent folder', '.cache', 0o775],
  ])('is not used if %s', (_, name, mode) => {
    mkdirSync(join(home, '.cache/tranche/compiled'), { recursive: true, mode: 0o700 });
    chmodSync(join(home, name), mode);
    expect(compileCacheFolder({ HOME: home })).toBeUndefined();
  });

  it('is not used without a home folder, or with a relative path', () => {
    expect(compileCacheFolder({})).toBeUndefined();
    expect(compileCacheFolder({ XDG_CACHE_HOME: 'relative' })).toBeUndefined();
  });

  it('is never the shared temporary folder, where another user may have put code', () => {
    const shared = join(home, 'tmp');
    mkdirSync(join(shared, 'node-compile-cache'), { recursive: true });
    const env = { PATH: process.env['PATH'] ?? '', TMPDIR: shared, HOME: join(home, 'nobody') };
    const { status } = spawnSync(process.execPath, [PROGRAM, '--version'], { env });
    expect(status).toBe(0);
    expect(readdirSync(join(shared, 'node-compile-cache'))).toEqual([]);
    expect(existsSync(join(home, 'nobody/.cache/tranche/compiled'))).toBe(true);
  });
});

describe.runIf(process.platform === 'linux')('a start with a Node that is too old', () => {
  it('runs the Node of this program only, not one in a folder above', () => {
    const name = `node-linux-${process.arch}`;
    put(home, { [`node_modules/${name}/bin/node`]: '#!/bin/sh\necho planted\n' }, 0o755);
    cpSync(fileURLToPath(new URL('../../bin', import.meta.url)), join(home, 'checkout/bin'), {
      recursive: true,
    });
    put(home, { 'checkout/package.json': '{"type":"module"}' });
    const old = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.0.0' })`;
    const start = () =>
      spawnSync(process.execPath, ['--import', old, join(home, 'checkout/bin/tranche.js')], {
        encoding: 'utf8',
      });
    expect(start()).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('This program needs Node.js 26') as string,
    });
    put(home, { [`checkout/node_modules/${name}/bin/node`]: '#!/bin/sh\necho own\n' }, 0o755);
    expect(start().stdout).toBe('own\n');
  });
});
