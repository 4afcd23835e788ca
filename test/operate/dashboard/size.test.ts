import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { aSharedFolder } from '../../support/folder.ts';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';

const BYTES_MAX = 60_000;

describe('the built dashboard', () => {
  const folder = aSharedFolder();
  let files: readonly { readonly name: string; readonly text: string }[] = [];
  const textOf = (ending: RegExp): string =>
    files.flatMap(({ name, text }) => (ending.test(name) ? [text] : [])).join('\n');
  beforeAll(async () => {
    await buildDashboard(folder);
    files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => ({ name, text: readFileSync(join(parentPath, name), 'utf8') }));
  });

  it('transfers at most 60 kB to a browser, compressed', () => {
    const sizes = files
      .filter(({ name }) => name !== 'LICENSES.txt')
      .map(({ text }) => gzipSync(text, { level: 9 }).length);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(BYTES_MAX);
    expect(sizes.length).toBeGreaterThan(2);
  });

  it('loads no files from other servers', () => {
    const addresses = textOf(/\.(?:html|css|js)$/u).match(/https?:\/\/[\w.-]+/gu) ?? [];
    // The name of an XML namespace: no request goes there.
    expect(addresses.filter((address) => address !== 'http://www.w3.org')).toStrictEqual([]);
  });

  it('contains no inline script or style, which its content security policy would refuse', () => {
    const page = textOf(/^index\.html$/u);
    expect(page).toMatch(/<script type="module" crossorigin src="\/assets\/[\w.-]+"><\/script>/u);
    expect(page).not.toMatch(/<style|style=|onload=|<script(?![^>]* src=)/u);
  });

  it('never creates elements from text', () => {
    // The library itself has one such property, which no component uses.
    const making = /insertAdjacentHTML|outerHTML|document\.write|\beval\(|new Function/u;
    expect(textOf(/\.js$/u)).not.toMatch(making);
  });

  it('includes the licences of the code that it contains', () => {
    const text = textOf(/^LICENSES\.txt$/u);
    for (const name of ['preact', '@preact/signals', 'uplot']) expect(text).toContain(`${name} `);
  });
});
