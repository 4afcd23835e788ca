import { describe, expect, it } from 'vitest';
import { NINE } from '../../operate/notify/notices.ts';
import { expectRan, expectRefused, runLine } from '../../support/command.ts';
import type { Ran } from '../../support/command.ts';
import { receiver } from './receiver.ts';
import { aFolder } from '../../support/folder.ts';

async function run(url: string, ...line: readonly string[]): Promise<Ran> {
  const channel = '{ name: chat, type: webhook, format: slack, url_file: hook }';
  const cwd = aFolder({
    hook: url,
    'config.yaml': `mode: live
venue: { base_url: "https://venue.example" }
strategies: []
operate: { notify: { channels: [${channel}] } }
`,
  });
  return await runLine(['notify', ...line], { cwd, now: NINE });
}

describe('tranche notify test', () => {
  it('sends one message over the channel and needs no token of the venue', async () => {
    const server = await receiver();
    expectRan(
      await run(`${server.url}/hook`, 'test', 'chat'),
      0,
      'channel chat: the message was delivered\n',
    );
    expect(server.posts).toHaveLength(1);
    expect(server.posts[0]?.body).toContain('a test of this channel');
  });

  it('reports why a channel rejected the message, and the existing channels for an unknown name', async () => {
    const server = await receiver();
    server.answer = { status: 404 };
    expectRefused(await run(`${server.url}/hook`, 'test', 'chat'), 69, 'channel chat: status 404\n');
    expectRefused(await run(`${server.url}/hook`, 'test', 'chart'), 64, 'it has chat');
  });
});
