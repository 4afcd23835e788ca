import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../../src/app/config/secret.ts';
import { openToken, readTokenKey, sealToken } from '../../../../src/app/fleet/tokens/sealed-token.ts';
import { KEY_TEXT, OTHER_KEY_TEXT, keyFrom } from './keys.ts';

const place = { desk: 'a', version: 3 };
const kept = {
  account: 'account-1',
  origin: 'https://venue.example',
  token: new Secret('canary-token'),
  former: ['f00d'],
};

describe('a sealed token', () => {
  it('opens with its key, desk and version, does not contain the token, and differs each time', () => {
    const sealed = sealToken(kept, place, keyFrom(KEY_TEXT));
    const opened = openToken(sealed, place, keyFrom(KEY_TEXT));
    expect({ ...opened, token: opened?.token.reveal() }).toEqual({ ...kept, token: 'canary-token' });
    expect(sealed).not.toContain('canary');
    expect(sealToken(kept, place, keyFrom(KEY_TEXT))).not.toBe(sealed);
  });

  it('does not open with another key, or for another desk or version', () => {
    const sealed = sealToken(kept, place, keyFrom(KEY_TEXT));
    expect(openToken(sealed, place, keyFrom(OTHER_KEY_TEXT))).toBeUndefined();
    expect(openToken(sealed, { ...place, desk: 'b' }, keyFrom(KEY_TEXT))).toBeUndefined();
    expect(openToken(sealed, { ...place, version: 2 }, keyFrom(KEY_TEXT))).toBeUndefined();
  });

  it('does not open if a part is changed, truncated or missing', () => {
    const key = keyFrom(KEY_TEXT);
    const parts = sealToken(kept, place, key).split('.');
    for (let i = 0; i < parts.length; i += 1) {
      const part = parts[i] ?? '';
      const changed = parts.with(i, `${part.startsWith('A') ? 'B' : 'A'}${part.slice(1)}`).join('.');
      expect(openToken(changed, place, key)).toBeUndefined();
      // A short authentication tag would be easier to guess.
      const short = parts.with(i, i === 0 ? '' : part.slice(0, 6)).join('.');
      expect(openToken(short, place, key)).toBeUndefined();
      expect(openToken(parts.slice(0, i).join('.'), place, key)).toBeUndefined();
    }
  });
});

describe('the key for tokens', () => {
  it('is optional, and must consist of 32 bytes in base64', () => {
    expect(readTokenKey({})).toBeUndefined();
    expect(readTokenKey({ TRANCHE_TOKEN_KEY: KEY_TEXT })?.text?.reveal()).toBe(KEY_TEXT);
    for (const text of [
      '',
      'short',
      `${KEY_TEXT}AA==`,
      'x'.repeat(44),
      Buffer.alloc(16, 1).toString('base64'),
    ])
      expect(() => readTokenKey({ TRANCHE_TOKEN_KEY: text })).toThrow('is not a key for tokens');
    expect(() => readTokenKey({ TRANCHE_TOKEN_KEY: KEY_TEXT, TRANCHE_TOKEN_KEY_FILE: 'x' })).toThrow(
      'not both',
    );
  });

  it.runIf(process.platform !== 'win32')(
    'is read only from a file that nobody but its owner can read',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'tranche-key-'));
      onTestFinished(() => {
        rmSync(folder, { recursive: true });
      });
      const put = (name: string, mode: number): string => {
        writeFileSync(join(folder, name), `${KEY_TEXT}\n`, { mode });
        return join(folder, name);
      };
      expect(readTokenKey({ TRANCHE_TOKEN_KEY_FILE: put('good', 0o600) })).toBeDefined();
      expect(() => readTokenKey({ TRANCHE_TOKEN_KEY_FILE: put('open', 0o644) })).toThrow('chmod 600');
      expect(() => readTokenKey({ TRANCHE_TOKEN_KEY_FILE: join(folder, 'none') })).toThrow('no such file');
    },
  );
});
