import { footer, sectionLines } from '../message.ts';
import type { Message } from '../message.ts';

const HEADER_MAX = 150;
const TEXT_MAX = 2_900;

/**
 * The body for an incoming webhook of Slack. Every text is `plain_text`, which knows no mentions, links or formatting; the one link
 * is our own. https://docs.slack.dev/reference/block-kit/
 */
export const slackBody = (message: Message): object => ({
  // What a phone shows: the one text that Slack would read as its own markup.
  text: escaped(cut(message.title, TEXT_MAX)),
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
  blocks: [
    { type: 'header', text: plain(message.title, HEADER_MAX) },
    ...message.sections.map((section) => ({
      type: 'section',
      text: plain(sectionLines(section).join('\n'), TEXT_MAX),
    })),
    { type: 'context', elements: [plain(footer(message), TEXT_MAX)] },
    ...(message.link === undefined
      ? []
      : [
          {
            type: 'section',
            text: {
              type: 'mrkdwn',
              text: `<${escaped(message.link).replaceAll('|', '%7C')}|Open in the dashboard>`,
              verbatim: true,
            },
          },
        ]),
  ],
});

const plain = (text: string, max: number): object => ({
  type: 'plain_text',
  text: cut(text, max),
  emoji: false,
});

const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;

/** The three characters that begin Slack's own markup. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
