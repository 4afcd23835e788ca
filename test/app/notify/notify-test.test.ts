import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addNotify } from '../../../src/app/cli/desk-cli.ts';
import { NINE } from '../../operate/notify/notices.ts';
import { runLine } from '../support/cli.ts';
import type { Ran } from '../support/cli.ts';
import { receiver } from './receiver.ts';
import { aFolder } from '../../support/folder.ts';

async function run(url: string, ...line: readonly string[]): Promise<Ran> {
  const cwd = aFolder();
  writeFileSync(join(cwd, 'hook'), url, { mode: 0o600 });
  writeFileSync(
    join(cwd, 'desk.yaml'),
    `mode: live\nvenue: { base_url: "https://venue.example" }\nstrategies: []\noperate: { notify: { channels: [{ name: chat, type: webhook, format: slack, url_file: hook }] } }\n`,
  );
  return await runLine(addNotify, ['notify', ...line], {
    cwd,
    now: NINE,
    config: 'desk.yaml',
  });
}

describe('tranche notify test', () => {
  it('sends one message over the channel and needs no token of the venue', async () => {
    const server = await receiver();
    expect(await run(`${server.url}/hook`, 'test', 'chat')).toMatchObject({ code: 0, out: 'channel chat: the message was delivered\n' }); // prettier-ignore
    expect(server.posts).toHaveLength(1);
    expect(server.posts[0]?.body).toContain('a test of this channel');
  });

  it('reports why a channel rejected the message, and the existing channels for an unknown name', async () => {
    const server = await receiver();
    server.answer = { status: 404 };
    expect(await run(`${server.url}/hook`, 'test', 'chat')).toMatchObject({ code: 69, err: 'channel chat: status 404\n' }); // prettier-ignore
    expect(await run(`${server.url}/hook`, 'test', 'chart')).toMatchObject({ code: 64, err: expect.stringContaining('it has chat') as string }); // prettier-ignore
  });
});
