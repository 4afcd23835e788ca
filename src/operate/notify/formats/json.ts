import { isoOf } from '../../../core/time.ts';
import type { Message } from '../message.ts';

/**
 * A message for programs: the body of a generic webhook, and the stdin of a command. Fields may be added, but are never
 * removed or changed.
 */
export const jsonBody = ({
  key,
  desk,
  mode,
  at,
  severity,
  title,
  sections,
  dropped,
  link,
}: Message): object => ({
  key,
  desk,
  mode,
  at: isoOf(at),
  severity,
  title,
  notices: sections.map((section) => ({
    kind: section.kind,
    topic: section.topic,
    severity: section.severity,
    title: section.title,
    count: section.count,
    details: section.notices,
    link: section.link,
  })),
  dropped,
  link,
});
