import type { Message } from './message.ts';

/** The bodies that channels expect. Foreign text never becomes markup, a link or a mention. */

const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;

/** For programs: the body of a generic webhook, and the stdin of a command. Fields may be added, but are never removed or changed. */
export const jsonBody = (message: Message): object => message;

/** A mail in plain text. */
export const mailText = (message: Message): { readonly subject: string; readonly text: string } => ({
  subject: cut(message.title.replaceAll(/[\r\n]+/gu, ' '), 200),
  text: [message.title, '', ...message.lines, '', message.link, message.at, '']
    .filter((line) => line !== undefined)
    .join('\n'),
});

const plain = (text: string, max: number): object => ({
  type: 'plain_text',
  text: cut(text, max),
  emoji: false,
});

/** The three characters that begin Slack's own markup. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** For a Slack incoming webhook: all text is `plain_text`. https://docs.slack.dev/reference/block-kit/ */
export const slackBody = ({ title, lines, at, link }: Message): object => ({
  // The text on a phone, which is the only text that Slack parses as markup.
  text: escaped(cut(title, 2_900)),
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
  blocks: [
    { type: 'header', text: plain(title, 150) },
    ...(lines.length === 0 ? [] : [{ type: 'section', text: plain(lines.join('\n'), 2_900) }]),
    { type: 'context', elements: [plain(at, 100)] },
    ...(link === undefined
      ? []
      : [
          {
            type: 'section',
            text: {
              type: 'mrkdwn',
              text: `<${escaped(link).replaceAll('|', '%7C')}|Open in the dashboard>`,
              verbatim: true,
            },
          },
        ]),
  ],
});

const COLOURS = { info: 'default', warning: 'warning', critical: 'attention' } as const;

/** For a Teams webhook: an adaptive card of text runs, which support no Markdown. https://adaptivecards.io/explorer/TextRun.html */
export function teamsBody({ title, lines, at, severity, link }: Message): object {
  const run = (text: string, more: object = {}): object => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...more }],
  });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            run(cut(title, 500), { weight: 'bolder', color: COLOURS[severity] }),
            // A card of more than 28 KB is refused; a character may take three bytes.
            ...lines.slice(0, 20).map((line) => run(cut(line, 400))),
            run(at, { isSubtle: true }),
          ],
          ...(link === undefined
            ? {}
            : { actions: [{ type: 'Action.OpenUrl', title: 'Open in the dashboard', url: link }] }),
        },
      },
    ],
  };
}
