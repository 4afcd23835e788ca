import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md']);

/** Links to files of this repository: their text, file and heading. */
function linksOf(page: string): readonly { readonly file: string; readonly heading: string | undefined }[] {
  const prose = readFileSync(page, 'utf8').replaceAll(/^```[^]*?^```$/gmu, '');
  return [...prose.matchAll(/\]\((?!https?:)(?<target>[^)\s]+)\)/gu)].map(({ groups }) => {
    const [path = '', heading] = (groups?.['target'] ?? '').split('#');
    return { file: path === '' ? page : join(dirname(page), path), heading };
  });
}

/** The anchor of a heading, as code hosts generate it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/gu, '-');

const anchorsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (?<heading>.+)$/gmu)].map(({ groups }) =>
    anchorOf(groups?.['heading'] ?? ''),
  );

describe('the documentation', () => {
  it.each(pages)('links only to existing files and headings in %s', (page) => {
    const broken = linksOf(page).filter(
      ({ file, heading }) =>
        !existsSync(file) ||
        (heading !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(heading)),
    );

    expect(broken).toEqual([]);
  });

  it('has a map that lists every guide', () => {
    const mapped = new Set(linksOf('docs/README.md').map(({ file }) => file));
    const guides = globSync(['docs/*.md', 'docs/strategies/*.md']).filter(
      (file) => file !== 'docs/README.md',
    );

    expect(guides.filter((guide) => !mapped.has(guide))).toEqual([]);
  });
});
