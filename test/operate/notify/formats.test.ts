import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { jsonBody, mailText, slackBody, teamsBody } from '../../../src/operate/notify/formats.ts';
import { signatureOf } from '../../../src/app/notify/webhook.ts';
import { foreign } from '../../../src/operate/notify/notice.ts';
import { aMessage, aNotice } from './notices.ts';

/** Text that a hostile venue or person may write. */
const EVIL =
  '<!channel> <@U123> <https://evil.example|click> *bold* [x](https://evil.example) <at>all</at> @here\r\nBcc: a@b.example\u202e\u0000 www.evil.example';

const hostile = aMessage(aNotice({ title: `paused by ${foreign(EVIL)}`, lines: [`why: ${foreign(EVIL)}`] }));

/** All texts in a body, with the path of each. */
function textsOf(body: unknown, path = ''): readonly (readonly [string, string])[] {
  if (typeof body === 'string') return [[path, body]];
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([key, value]) => textsOf(value, `${path}/${key}`));
}

describe('foreign text in a message', () => {
  it('loses control characters, addresses, mentions and host names', () => {
    const text = foreign(EVIL);
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).not.toContain('://');
    expect(text).not.toContain('@');
    expect(text).not.toMatch(/\w\.[a-z]/u);
    expect(foreign('0.5 btc at 61000.25')).toBe('0.5 btc at 61000.25');
    expect(foreign('x'.repeat(1_000))).toHaveLength(300);
    expect(foreign({ a: 1 })).toBe('{"a":1}');
  });

  it('is shown in Slack only where markup is not interpreted', () => {
    const body = slackBody(hostile);
    const texts = textsOf(body);
    const raw = texts.filter(([, text]) => text.includes('evil') && /[<>]/u.test(text)).map(([path]) => path);
    // Only in blocks of plain text.
    for (const path of raw) {
      const block = path.split('/').slice(1, -1).reduce((at: unknown, key) => (at as Record<string, unknown>)[key], body); // prettier-ignore
      expect(block).toMatchObject({ type: 'plain_text', emoji: false });
    }
    expect(raw.length).toBeGreaterThan(0);
    expect((body as { text: string }).text).not.toMatch(/[<>]/u);
    const marked = texts.filter(([, text]) => text.startsWith('<'));
    expect(marked.map(([, text]) => text)).toEqual(['<https://desk.example/#/now|Open in the dashboard>']);
  });

  it('is shown in Teams only in text runs, without mentions', () => {
    const body = JSON.stringify(teamsBody(hostile));
    expect(body).not.toContain('"TextBlock"');
    expect(body).not.toContain('entities');
    const actions = [...body.matchAll(/"type":"Action\.(?<kind>\w+)"/gu)].map(
      (found) => found.groups?.['kind'],
    );
    expect(actions).toEqual(['OpenUrl']);
    expect(Buffer.byteLength(body)).toBeLessThan(28_000);
  });

  it('cannot add a header to a mail', () => {
    const { subject, text } = mailText(hostile);
    expect(subject).not.toMatch(/[\r\n]/u);
    expect(text).not.toContain('\r');
    expect(text.split('\n')).not.toContainEqual(expect.stringMatching(/^Bcc:/u));
  });
});

describe('a message', () => {
  it('says what happened, with its facts, and where to read on', () => {
    expect(jsonBody(aMessage())).toEqual({
      key: 'k1',
      desk: 'main',
      mode: 'paper',
      at: '2026-12-01T09:00:00.000Z',
      severity: 'critical',
      kind: 'venue_unreachable',
      title: 'main (paper): critical: the venue has not responded for 30 seconds',
      lines: ['pair: btcusd'],
      link: 'https://desk.example/#/now',
    });
    expect(mailText(aMessage()).text).toContain('\npair: btcusd\n');
  });

  it('contains a link only if the dashboard has an address, and contains no actions', () => {
    expect(JSON.stringify(jsonBody(aMessage(aNotice(), { base: undefined })))).not.toContain('link');
    expect(JSON.stringify([slackBody(aMessage()), teamsBody(aMessage())])).not.toMatch(
      /approve|Submit|Http"/u,
    );
  });
});

describe('the signature of a webhook', () => {
  it('is an HMAC over time and body, which a receiver can compute', () => {
    const body = JSON.stringify(jsonBody(aMessage()));
    const expected = createHmac('sha256', 'a key of ours').update(`1796115600.${body}`).digest('hex');
    expect(signatureOf('a key of ours', 1_796_115_600, body)).toBe(`v1=${expected}`);
    expect(signatureOf('a key of ours', 1_796_115_601, body)).not.toBe(`v1=${expected}`);
  });
});
