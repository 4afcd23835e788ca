import { footer, sectionLines } from '../message.ts';
import type { Message } from '../message.ts';

const HEADER_MAX = 150;
const TEXT_MAX = 2_900;
/** Maximum length of all sections. Slack refuses blocks of more than about 13,000 characters in total (`msg_blocks_too_long`). */
const ALL_MAX = 9_000;

/**
 * The body for a Slack incoming webhook. Every text is `plain_text`, in which mentions, links and formatting have no
 * effect; the only link is our own. https://docs.slack.dev/reference/block-kit/
 */
export function slackBody(message: Message): object {
  let left = ALL_MAX;
  const section = (text: string): readonly object[] => {
    if (left <= 0) return [];
    const max = Math.min(TEXT_MAX, left);
    left -= Math.min(text.length, max);
    return [{ type: 'section', text: plain(text, max) }];
  };
  return {
    // The text on a phone, which is the only text that Slack parses as markup.
    text: escaped(cut(message.title, TEXT_MAX)),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(message.title, HEADER_MAX) },
      ...message.sections.flatMap((one) => section(sectionLines(one).join('\n'))),
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
  };
}

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
