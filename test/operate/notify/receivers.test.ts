import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { slackBody, teamsBody } from '../../../src/operate/notify/formats.ts';
import { aMessage, aNotice } from './notices.ts';

/**
 * The parts of Slack's Block Kit that the desk uses, with the limits that Slack publishes:
 * https://docs.slack.dev/reference/block-kit/blocks/header-block (150 characters, plain text alone),
 * https://docs.slack.dev/reference/block-kit/blocks/section-block (1 to 3,000),
 * https://docs.slack.dev/reference/block-kit/blocks/context-block (10 elements),
 * https://docs.slack.dev/reference/block-kit/blocks (50 blocks a message).
 */
const plainText = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(max), emoji: z.boolean() });
const markdown = z.strictObject({
  type: z.literal('mrkdwn'),
  text: z.string().min(1).max(3_000),
  verbatim: z.boolean(),
});
const slack = z.strictObject({
  // https://docs.slack.dev/reference/methods/chat.postMessage: 4,000 recommended, cut beyond 40,000.
  text: z.string().min(1).max(4_000),
  mrkdwn: z.boolean(),
  unfurl_links: z.boolean(),
  unfurl_media: z.boolean(),
  blocks: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('header'), text: plainText(150) }),
        z.strictObject({ type: z.literal('section'), text: z.union([plainText(3_000), markdown]) }),
        z.strictObject({
          type: z.literal('context'),
          elements: z.array(plainText(3_000)).min(1).max(10),
        }),
      ]),
    )
    .min(1)
    .max(50),
});
/** Not published; users found it: https://github.com/slackapi/bolt-js/issues/2509. */
const SLACK_ALL_MAX = 13_000;

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

const long = (text: string) =>
  aMessage(aNotice({ title: text.repeat(300), lines: Array.from({ length: 30 }, () => text.repeat(300)) }));
const messages = {
  'of an alert': aMessage(),
  'of a desk without an address': aMessage(aNotice(), { base: undefined }),
  'with long texts': long('x'),
  'in letters of three bytes': long('\u{5E01}'),
  'with a title alone': aMessage(aNotice({ lines: [] })),
};

describe.each(Object.entries(messages))('a message %s', (_name, message) => {
  it('conforms to the Block Kit of Slack', () => {
    const { blocks } = slack.parse(slackBody(message));
    expect(JSON.stringify(blocks).length).toBeLessThan(SLACK_ALL_MAX);
  });

  it('conforms to the adaptive cards of Teams', () => {
    const body = teamsBody(message);
    expect(teams.safeParse(body).error).toBeUndefined();
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(TEAMS_BYTES_MAX);
  });
});
