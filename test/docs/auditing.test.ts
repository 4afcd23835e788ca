import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { aSharedFolder } from '../support/folder.ts';
import { anAuditedDesk } from './audited-desk.ts';

const PROGRAM = resolve('bin/tranche.js');

/** Each command on the page with the output below it. */
const examples = [
  ...readFileSync('docs/auditing.md', 'utf8').matchAll(
    /```sh\ntranche (?<line>.+)\n```\n\n```(?:text|json)\n(?<output>[^`]*)\n```/gu,
  ),
].map(({ groups }) => ({ line: groups?.['line'] ?? '', output: groups?.['output'] ?? '' }));

const folder = aSharedFolder();
beforeAll(() => {
  anAuditedDesk(folder);
});

it('docs/auditing.md answers ten questions, each with a command and its output', () => {
  const page = readFileSync('docs/auditing.md', 'utf8');
  expect(page.match(/^## \d+\. .+\?$/gmu)?.length).toBe(10);
  expect(page.match(/^```sh$/gmu)?.length).toBe(examples.length);
});

it.concurrent.each(examples)(
  'docs/auditing.md shows the exact output of: tranche $line',
  async ({ line, output }) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM, ...line.split(' ')], {
      cwd: folder,
    });
    expect(`${stdout}${stderr}`.trimEnd()).toBe(output);
  },
);
