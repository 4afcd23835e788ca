import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';

const BYTES_MAX = 60_000;

describe('the built dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-dashboard-'));
  const files = (): readonly { readonly name: string; readonly text: string }[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => ({
        name: entry.name,
        text: readFileSync(join(entry.parentPath, entry.name), 'utf8'),
      }));
  beforeAll(async () => {
    await buildDashboard(folder);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('transfers at most 60 kB to a browser, compressed', () => {
    const sizes = files()
      .filter(({ name }) => name !== 'LICENSES.txt')
      .map(({ name, text }) => ({ name, bytes: gzipSync(text, { level: 9 }).length }));

    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(BYTES_MAX);
    expect(sizes.length).toBeGreaterThan(2);
  });

  it('loads no files from other servers', () => {
    const addresses = files()
      .filter(({ name }) => /\.(?:html|css|js)$/u.test(name))
      .flatMap(({ text }) => [...text.matchAll(/https?:\/\/[\w.-]+/gu)].map(([address]) => address))
      // The name of an XML namespace: no request goes there.
      .filter((address) => address !== 'http://www.w3.org');

    expect(addresses).toStrictEqual([]);
  });

  it('contains no inline script or style, which its content security policy would refuse', () => {
    const page = files().find(({ name }) => name === 'index.html')?.text ?? '';

    expect(page).toMatch(/<script type="module" crossorigin src="\/assets\/[\w.-]+"><\/script>/u);
    expect(page).not.toMatch(/<style|style=|onload=|<script(?![^>]* src=)/u);
  });

  it('never creates elements from text', () => {
    const script = files()
      .filter(({ name }) => name.endsWith('.js'))
      .map(({ text }) => text)
      .join('\n');

    // The library itself has one such property, which no component uses.
    expect(script).not.toMatch(/insertAdjacentHTML|outerHTML|document\.write|\beval\(|new Function/u);
  });

  it('includes the licences of the code that it contains', () => {
    const text = files().find(({ name }) => name === 'LICENSES.txt')?.text ?? '';

    for (const name of ['preact', '@preact/signals', 'uplot']) expect(text).toContain(`${name} `);
  });
});
