import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from './support/desk.ts';
import { ROOT, start } from './support/program.ts';
import { aVenueProcess } from './support/venue.ts';

describe('the dry run of the README', () => {
  it('trades within a minute after init, and ends the demo without a halt', async () => {
    const cwd = aFolder();
    const venue = await aVenueProcess([], cwd);
    expect(await start(['init', '.'], { cwd }).ended()).toMatchObject({ code: 0 });
    const config = readFileSync(join(ROOT, 'config/dry-run.yaml'), 'utf8')
      .replace('https://venue.example', venue.baseUrl)
      .replace('127.0.0.1:8321', '127.0.0.1:0');
    writeFileSync(join(cwd, 'config/dry-run.yaml'), config);
    const desk = start(['run', '--json', '--until-done', '--config', 'config/dry-run.yaml'], {
      cwd,
      env: { TRANCHE_TOKEN: venue.token },
    });
    expect(await desk.event('fill', { withinMs: 60_000 })).toMatchObject({
      strategy: expect.stringMatching(/^demo-/u) as unknown,
    });
    expect(await desk.ended(180_000)).toEqual({ code: 0, signal: null });
    expect(desk.events().filter(({ event }) => event === 'control')).toEqual([]);
    const log = readFileSync(join(cwd, 'var/dry-run/journal.db.log'), 'utf8');
    expect(log).toContain('the token comes from an environment variable');
  });
});
