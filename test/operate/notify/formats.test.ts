import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mailText, slackBody, teamsBody } from '../../../src/operate/notify/formats.ts';
import { foreign } from '../../../src/operate/notify/notice.ts';
import { aMessage, aNotice } from './notices.ts';

/** Text that a hostile venue or person may write. */
const EVIL =
  '<!channel> <@U123> <https://evil.example|click> *bold* [x](https://evil.example) <at>all</at> @here\r\nBcc: a@b.example\u202e\u0000 www.evil.example';

const hostile = aMessage(aNotice({ title: `paused by ${foreign(EVIL)}`, lines: [`why: ${foreign(EVIL)}`] }));

/**
 * The parts of Adaptive Cards 1.4 that the desk uses, by http://adaptivecards.io/schemas/adaptive-card.json and
 * https://adaptivecards.io/explorer/, in the envelope that webhooks of Teams expect:
 * https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using (28 KB).
 */
const teams = z.strictObject({
  type: z.literal('message'),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal('application/vnd.microsoft.card.adaptive'),
      content: z.strictObject({
        $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
        type: z.literal('AdaptiveCard'),
        version: z.literal('1.4'),
        body: z.array(
          z.strictObject({
            type: z.literal('RichTextBlock'),
            inlines: z
              .array(
                z.strictObject({
                  type: z.literal('TextRun'),
                  text: z.string().min(1),
                  weight: z.enum(['default', 'lighter', 'bolder']).optional(),
                  color: z.enum(['default', 'dark', 'light', 'accent', 'good', 'warning', 'attention']).optional(), // prettier-ignore
                  isSubtle: z.boolean().optional(),
                }),
              )
              .min(1),
          }),
        ),
        actions: z
          .array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() }))
          .optional(),
      }),
    }),
  ]),
});
const TEAMS_BYTES_MAX = 28 * 1024;

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

  it('is shown in Slack without markup', () => {
    const body = slackBody(hostile);
    expect(body).toMatchObject({ mrkdwn: false, unfurl_links: false });
    expect((body as { text: string }).text).not.toMatch(/[<>]/u);
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
    expect(aMessage()).toEqual({
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

  const long = (text: string) =>
    aMessage(aNotice({ title: text.repeat(300), lines: Array.from({ length: 30 }, () => text.repeat(300)) }));
  it.each([
    ['of an alert', aMessage()],
    ['of a desk without an address', { ...aMessage(), link: undefined }],
    ['with long texts', long('x')],
    ['in letters of three bytes', long('\u{5E01}')],
    ['with a title alone', aMessage(aNotice({ lines: [] }))],
  ])('%s fits into what Slack and Teams accept, and contains no action', (_, message) => {
    const card = teamsBody(message);
    expect(teams.safeParse(card).error).toBeUndefined();
    expect(Buffer.byteLength(JSON.stringify(card))).toBeLessThan(TEAMS_BYTES_MAX);
    const chat = slackBody(message) as { text: string };
    // https://docs.slack.dev/reference/methods/chat.postMessage: 4,000 recommended, cut beyond 40,000.
    expect(chat.text.length).toBeLessThan(4_000);
    expect(JSON.stringify([card, chat])).not.toMatch(/approve|Submit|Http"/u);
  });
});
