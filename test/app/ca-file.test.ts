import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadAll } from '../../src/app/strategies/strategies.ts';
import { rightsProblems } from '../../src/app/strategies/rights-problems.ts';
import { instant } from '../../src/core/time.ts';
import { anIdentity } from '../venue/certificates.ts';
import { aFolder } from '../support/folder.ts';

const CONFIG = `mode: dry_run
venue: { base_url: "https://127.0.0.1:1", token_file: ./token, ca_file: ./ca.pem }
strategies: ./strategies
`;
const TWAP = `id: a
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: "1.5", currency: btc }
duration: PT4H
slices: 48
`;

let folder = '';
const put = (name: string, text: string, mode = 0o600): void => {
  writeFileSync(join(folder, name), text, { mode });
};
const load = () => loadAll('desk.yaml', { env: {}, cwd: folder, now: instant(Date.UTC(2026, 11, 1)) });
beforeEach(() => {
  folder = aFolder();
  mkdirSync(join(folder, 'strategies'), 0o700);
  put('desk.yaml', CONFIG);
  put('token', 'a-token');
  put('strategies/a.yaml', TWAP);
});

describe('venue.ca_file', () => {
  it('provides only the certificates in the file, without keys and comments', () => {
    const [one, two] = [anIdentity({ isAuthority: true }), anIdentity({ isAuthority: true })];
    put('ca.pem', `# ours\n${one.cert}\n${one.key}${two.cert}`);
    expect(load().config.venue.ca?.replaceAll(/\s/gu, '')).toBe((one.cert + two.cert).replaceAll(/\s/gu, ''));
  });

  it.each([
    ['does not exist', undefined, /desk\.yaml:2:[\s\S]*ca\.pem cannot be read: there is no such file/u],
    ['contains only a key', anIdentity().key, /contains no certificate: expected PEM/u],
    [
      'contains a truncated certificate',
      anIdentity().cert.replace(/.{40}\n-----END/u, '\n-----END'),
      /certificate 1 of .* cannot be read/u,
    ],
  ])('rejects the config if the file %s', (_, text, why) => {
    if (text !== undefined) put('ca.pem', text);
    expect(load).toThrow(why);
  });

  it.skipIf(process.platform === 'win32')(
    'is included in the check for files that other users can change',
    () => {
      put('ca.pem', anIdentity({ isAuthority: true }).cert);
      const { config, strategies } = load();
      expect(rightsProblems('desk.yaml', strategies, folder, [config.venue.caFile])).toEqual([]);
      rmSync(join(folder, 'ca.pem'));
      const mask = process.umask(0);
      put('ca.pem', anIdentity({ isAuthority: true }).cert, 0o666);
      process.umask(mask);
      expect(rightsProblems('desk.yaml', strategies, folder, [config.venue.caFile])).toEqual([
        expect.stringContaining('other users can change') as string,
      ]);
    },
  );
});
