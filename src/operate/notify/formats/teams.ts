import { footer, sectionLines } from '../message.ts';
import type { Message } from '../message.ts';

const COLOURS = { info: 'default', warning: 'warning', critical: 'attention' } as const;
/** A card of more than 28 KB is refused; a character may take three bytes. */
const TEXT_MAX = 6_000;

/**
 * The body for a Teams webhook (Workflows): an adaptive card. All text is in text runs, which do not support Markdown.
 * A mention needs an entity, and the card contains none. https://adaptivecards.io/explorer/TextRun.html
 */
export function teamsBody(message: Message): object {
  let left = TEXT_MAX;
  const run = (text: string, more: object = {}): object => {
    const shown = text.slice(0, Math.max(1, left)).toWellFormed();
    left -= shown.length;
    return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: shown, ...more }] };
  };
  const body = [
    run(message.title, { weight: 'bolder', color: COLOURS[message.severity] }),
    ...message.sections.flatMap((section) =>
      left <= 0 ? [] : sectionLines(section).map((line, i) => run(line, i === 0 ? { weight: 'bolder' } : {})),
    ),
    run(footer(message), { isSubtle: true }),
  ];
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body,
          ...(message.link === undefined
            ? {}
            : { actions: [{ type: 'Action.OpenUrl', title: 'Open in the dashboard', url: message.link }] }),
        },
      },
    ],
  };
}
