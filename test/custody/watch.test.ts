import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import { aFolder } from '../support/folder.ts';
import { finish } from '../system/support/program.ts';
import { httpServer } from '../venue/servers.ts';
import { leaked, overheard } from './watch.ts';

const TOKEN = 'watched-5c1f0e9b7a';

/** Returns the leaks that the check finds when `speak` runs after a request with the token. */
async function found(speak: () => unknown): Promise<readonly string[]> {
  const url = await httpServer((_, response) => response.end('{}'));
  await (await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  await speak();
  return leaked();
}

describe('the token leak check of all tests', () => {
  it.each<[string, () => unknown]>([
    ['the text of an error', () => new OperatorError('data', `it said ${TOKEN}`)],
    ['the text of an error', () => new Error(Buffer.from(`x ${TOKEN}`).toString('base64'))],
    ['stderr', () => process.stderr.write(`${encodeURIComponent(TOKEN)}\n`)],
    ['output', () => overheard('output', JSON.stringify({ said: TOKEN }))],
  ])('finds the token of an earlier request in %s', async (where, speak) => {
    expect((await found(speak)).join('\n')).toContain(where);
    expect(leaked()).toEqual([]);
  });

  it('searches a temporary folder before its removal, except for token files', async () => {
    const folder = aFolder({ 'journal.db': `\0\0${TOKEN}`, token: TOKEN });
    const places = await found(() => {
      rmSync(folder, { recursive: true });
    });
    expect(places).toHaveLength(1);
    expect(places[0]).toContain('journal.db');
  });

  it('reports no leak of a token that stays in the environment of a program', async () => {
    const cwd = aFolder();
    const places = await found(async () => await finish(['validate', '--config', 'none.yaml'], { cwd, env: { TRANCHE_TOKEN: TOKEN } })); // prettier-ignore
    expect(places).toEqual([]);
  });
});
