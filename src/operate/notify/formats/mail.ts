import { footer, sectionLines } from '../message.ts';
import type { Message } from '../message.ts';

const SUBJECT_MAX = 200;

/** A mail in plain text, without markup. */
export const mailText = (message: Message): { readonly subject: string; readonly text: string } => ({
  subject: message.title.replaceAll(/[\r\n]+/gu, ' ').slice(0, SUBJECT_MAX),
  text: [
    message.title,
    ...message.sections.flatMap((section) => [
      '',
      ...sectionLines(section),
      ...(section.link === undefined || message.sections.length === 1 ? [] : [section.link]),
    ]),
    '',
    ...(message.link === undefined ? [] : [message.link]),
    footer(message),
    '',
  ].join('\n'),
});
