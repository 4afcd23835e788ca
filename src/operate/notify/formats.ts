import type { Message } from './channel.ts';

/** The bodies that channels expect; programs get the message itself. Foreign text never becomes markup, a link or a mention. */

const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;

const textOf = ({ title, lines, link, at }: Message, max: number): string =>
  [cut([title, ...lines].join('\n'), max), link, at].filter((line) => line !== undefined).join('\n');

/** A mail in plain text. */
export const mailText = (message: Message): { readonly subject: string; readonly text: string } => ({
  subject: cut(message.title.replaceAll(/[\r\n]+/gu, ' '), 200),
  text: `${textOf(message, 100_000)}\n`,
});

/** For a Slack incoming webhook: text without markup, whose control characters are escaped. https://docs.slack.dev/messaging/formatting-message-text/ */
export const slackBody = (message: Message): object => ({
  text: textOf(message, 2_900).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
});

const COLOURS = { info: 'default', warning: 'warning', critical: 'attention' } as const;

/** For a Teams webhook: an adaptive card of text runs, which support no Markdown. https://adaptivecards.io/explorer/TextRun.html */
export function teamsBody({ title, lines, at, severity, link }: Message): object {
  const run = (text: string, more: object = {}): object => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...more }],
  });
  const content = {
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
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
  };
}
