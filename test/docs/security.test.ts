import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('SECURITY.md', 'utf8');
/** The sections in which every list item and every row of a table is a claim. */
const SECTIONS = ['What Tranche does', 'Threats and tests', 'What a browser can reach', 'The token'];

/** List items and rows of tables, without heads. */
function claimsOf(section: string): readonly string[] {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [body = ''] = text.split('\n## ');
  const items = body.split(/^(?=- |\| )|\n\n/mu).filter((part) => /^(?:- |\| (?!-))/u.test(part));
  return items.filter((item) => !/^- Not covered|^\| (?:threat|from) /u.test(item));
}

describe('SECURITY.md', () => {
  it.each(SECTIONS)('names a test beside each claim: %s', (section) => {
    const claims = claimsOf(section);
    expect(claims.length).toBeGreaterThan(4);
    expect(claims.filter((claim) => !claim.includes('`test/'))).toEqual([]);
  });

  it('names only tests that exist', () => {
    const named = [...page.matchAll(/`(?<path>test\/[\w./-]+)`/gu)].map(
      ({ groups }) => groups?.['path'] ?? '',
    );
    expect(named.length).toBeGreaterThan(80);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});
