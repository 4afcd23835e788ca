import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { compileCacheFolder } from '../../bin/cache-folder.js';
import { changeableByOthers } from '../../src/files/rights.ts';
import { bars } from '../app/support/backtest.ts';
import { aSharedFolder, put } from '../support/folder.ts';

/**
 * Another user of the same machine, without privileges, attacks a desk of root. Only root can become that user: run this as root, or
 * see its result in CI.
 */
const isRoot = process.getuid?.() === 0;
const STRANGER = 65_534;
const PROGRAM = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url));

const machine = aSharedFolder();
const desk = join(machine, 'desk');
beforeAll(() => {
  chmodSync(machine, 0o755);
  mkdirSync(join(machine, 'tmp'));
  chmodSync(join(machine, 'tmp'), 0o1777);
  mkdirSync(join(machine, 'home'), { mode: 0o700 });
  mkdirSync(join(desk, 'strategies'), { recursive: true });
  put(desk, { token: 'a-token-of-the-desk' });
  put(desk, { 'desk.yaml': CONFIG, 'strategies/a.yaml': TWAP }, 0o644);
});

const CONFIG = `mode: paper
venue: { simulated: {} }
journal: sqlite:desk.db
operate: { listen: 127.0.0.1:0 }
strategies: ./strategies
`;
const TWAP = `id: a
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: "0.02", currency: btc }
duration: PT2S
slices: 2
`;

interface Ended {
  readonly status: number | null;
  readonly output: string;
}
const ended = ({ status, stdout, stderr }: ReturnType<typeof spawnSync>): Ended => ({
  status,
  output: `${String(stdout)}${String(stderr)}`,
});
/** Runs a shell script as the other user. */
const asStranger = (script: string): Ended =>
  ended(spawnSync('/bin/sh', ['-c', script], { uid: STRANGER, gid: STRANGER, cwd: '/', timeout: 20_000 }));
const tranche = (...args: readonly string[]): Ended =>
  ended(
    spawnSync(process.execPath, [PROGRAM, ...args], {
      cwd: desk,
      env: { PATH: process.env['PATH'] ?? '', HOME: join(machine, 'home'), TMPDIR: join(machine, 'tmp') },
      timeout: 60_000,
    }),
  );

describe.skipIf(!isRoot)(
  `another user of the machine, without privileges${isRoot ? '' : ' (skipped: only root can act as that user)'}`,
  () => {
    it('cannot plant compiled code: the program ignores a compile cache in the temporary folder', () => {
      expect(asStranger(`mkdir -m 777 ${machine}/tmp/node-compile-cache`).status).toBe(0);
      expect(tranche('run', '--until-done', '--config', 'desk.yaml').status).toBe(0);
      expect(readdirSync(join(machine, 'tmp/node-compile-cache'))).toEqual([]);
      expect(statSync(join(machine, 'home/.cache/tranche/compiled')).mode & 0o777).toBe(0o700);
    });

    it('cannot own the folder that the program uses for compiled code', () => {
      const his = join(machine, 'tmp/his');
      expect(asStranger(`mkdir -p -m 700 ${his}/tranche/compiled`).status).toBe(0);
      expect(compileCacheFolder({ XDG_CACHE_HOME: his })).toBeUndefined();
    });

    it.each(['token', 'desk.db', 'desk.db.log'])('cannot read %s', (name) => {
      expect(existsSync(join(desk, name))).toBe(true);
      const { status, output } = asStranger(`cat ${desk}/${name}`);
      expect(status).not.toBe(0);
      expect(output).toContain('Permission denied');
    });

    it('can read only the config and the strategies of the desk, and can change no file', () => {
      const readable = asStranger(`find ${desk} -type f -readable`).output.trim().split('\n').toSorted();
      expect(readable).toEqual([join(desk, 'desk.yaml'), join(desk, 'strategies/a.yaml')]);
      expect(asStranger(`find ${desk} ${machine}/home -writable`).output).not.toContain(desk);
    });

    it('cannot put a strategy, a named pipe or a module into the strategies folder', () => {
      expect(asStranger(`mkfifo ${desk}/strategies/b.yaml`).status).not.toBe(0);
      expect(asStranger(`echo x > ${desk}/strategies/own.ts`).status).not.toBe(0);
      expect(readdirSync(join(desk, 'strategies'))).toEqual(['a.yaml']);
    });

    it('is reported as able to change a strategies folder that root gave away or made writable to everybody', () => {
      const given = join(machine, 'given');
      mkdirSync(given);
      chownSync(given, STRANGER, STRANGER);
      expect(changeableByOthers(given)).toContain('belongs to another user');
      chownSync(given, 0, 0);
      chmodSync(given, 0o777);
      expect(changeableByOthers(given)).toContain('other users can change');
    });

    it('cannot supply a token: a token file that belongs to another user is rejected', () => {
      expect(asStranger(`umask 077; echo his-token > ${machine}/tmp/token`).status).toBe(0);
      const live = CONFIG.replace('mode: paper\nvenue: { simulated: {} }', `mode: live\nvenue: { base_url: "http://127.0.0.1:1", token_file: ${machine}/tmp/token }`); // prettier-ignore
      put(desk, { 'live.yaml': live });
      const { status, output } = tranche('validate', '--config', 'live.yaml');
      expect(status).toBe(78);
      expect(output).toContain('it belongs to another user');
      expect(output).not.toContain('his-token');
    });

    it('cannot supply a cached tape: a cache folder that belongs to another user is neither read nor written', () => {
      put(desk, { 'btc.csv': bars(2, () => 1) });
      const cache = join(machine, 'tmp/tapes');
      expect(asStranger(`mkdir -m 777 ${cache}`).status).toBe(0);
      const { status, output } = tranche('data', 'import', 'btc.csv', '--pair', 'btcusd', '--cache', cache);
      expect([status, output]).toEqual([0, expect.stringContaining('belongs to another user')]);
      expect(readdirSync(cache)).toEqual([]);
    });
  },
);
