import { beforeEach, describe, expect, it } from 'vitest';
import { loadAll } from '../../src/app/strategies/strategies.ts';
import { rightsProblems } from '../../src/app/strategies/rights-problems.ts';
import { instant } from '../../src/core/time.ts';
import { anIdentity } from '../venue/certificates.ts';
import { aFolder, put } from '../support/folder.ts';
import { aTwapText } from './support/texts.ts';

const CONFIG = `mode: dry_run
venue: { base_url: "https://127.0.0.1:1", token_file: ./token, ca_file: ./ca.pem }
strategies: ./strategies
`;

let folder = '';
const load = () => loadAll('desk.yaml', { env: {}, cwd: folder, now: instant(Date.UTC(2026, 11, 1)) });
beforeEach(() => {
  folder = aFolder({ 'desk.yaml': CONFIG, token: 'a-token', 'strategies/a.yaml': aTwapText() });
});

describe('venue.ca_file', () => {
  it('provides only the certificates in the file, without keys and comments', () => {
    const [one, two] = [anIdentity({ isAuthority: true }), anIdentity({ isAuthority: true })];
    put(folder, { 'ca.pem': `# ours\n${one.cert}\n${one.key}${two.cert}` });
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
    if (text !== undefined) put(folder, { 'ca.pem': text });
    expect(load).toThrow(why);
  });

  it.skipIf(process.platform === 'win32')(
    'is included in the check for files that other users can change',
    () => {
      const problems = (mode: number): readonly string[] => {
        put(folder, { 'ca.pem': anIdentity({ isAuthority: true }).cert }, mode);
        const { config, strategies } = load();
        return rightsProblems('desk.yaml', strategies, folder, [config.venue.caFile]);
      };
      expect(problems(0o600)).toEqual([]);
      expect(problems(0o666)).toEqual([expect.stringContaining('other users can change') as string]);
    },
  );
});
