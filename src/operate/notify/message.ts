import type { Severity } from '../../core/alerts.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { severityRank, topics } from './notice.ts';
import type { Notice, Topic } from './notice.ts';

/** The unit of delivery over a channel: one notice, or all notices of the grouping window. */
export interface Message {
  /** The same for every delivery attempt, and unique to this message, so that receivers recognize a repeat by it. */
  readonly key: string;
  readonly desk: string;
  readonly mode: string;
  readonly at: Instant;
  /** Severity of the most severe notice. */
  readonly severity: Severity;
  readonly title: string;
  /** The most severe first. */
  readonly sections: readonly Section[];
  /** Notices that were dropped before this message because too many waited. */
  readonly dropped: number;
  /** URL of the dashboard page that shows it, if the desk has a dashboard. */
  readonly link: string | undefined;
}

/** All notices of one kind. */
export interface Section {
  readonly kind: string;
  readonly topic: Topic;
  readonly severity: Severity;
  readonly title: string;
  /** Total number; `notices` contains the newest. */
  readonly count: number;
  readonly notices: readonly { readonly at: string; readonly lines: readonly string[] }[];
  readonly link: string | undefined;
}

export interface MessageFacts {
  readonly key: string;
  readonly desk: string;
  readonly mode: string;
  readonly at: Instant;
  readonly dropped: number;
  /** Base URL of the dashboard pages, without a trailing slash. */
  readonly base: string | undefined;
}

const SECTIONS_MAX = 20;
const NOTICES_MAX = 5;
const LINES_MAX = 60;

/** Builds one message from `notices`, of which there is at least one. They are grouped by kind, counted and bounded. */
export function messageOf(notices: readonly Notice[], facts: MessageFacts): Message {
  const byKind = Map.groupBy(notices, ({ kind }) => kind);
  const all = [...byKind.values()]
    .map((same) => sectionOf(same, facts.base))
    .toSorted((a, b) => severityRank(b.severity) - severityRank(a.severity));
  const severity = all[0]?.severity ?? 'info';
  return {
    key: facts.key,
    desk: facts.desk,
    mode: facts.mode,
    at: facts.at,
    severity,
    title: `${facts.desk} (${facts.mode}): ${titleOf(all)}`,
    sections: boundedLines(all.slice(0, SECTIONS_MAX)),
    dropped: facts.dropped,
    link: all[0]?.link ?? facts.base,
  };
}

function sectionOf(same: readonly Notice[], base: string | undefined): Section {
  // The title comes from the most severe notice; the newest are shown.
  const [worst] = same.toSorted((a, b) => severityRank(b.severity) - severityRank(a.severity) || b.at - a.at);
  const count = same.reduce((sum, { others = 0 }) => sum + 1 + others, 0);
  const { kind = '', topic = 'alerts', severity = 'info', title = '', page } = worst ?? {};
  return {
    kind,
    topic,
    severity,
    title,
    count,
    notices: same.slice(-NOTICES_MAX).map(({ at, lines }) => ({ at: isoOf(at), lines })),
    link: base === undefined || page === undefined ? undefined : `${base}${page}`,
  };
}

/** A digest keeps all of its lines; in a storm, only the first sections keep theirs. */
function boundedLines(sections: readonly Section[]): readonly Section[] {
  let left = LINES_MAX;
  return sections.map((section) => ({
    ...section,
    notices: section.notices.map(({ at, lines }) => {
      const shown = lines.slice(0, Math.max(0, left));
      left -= shown.length;
      return { at, lines: shown };
    }),
  }));
}

const NAMES: Readonly<Record<Topic, readonly [one: string, many: string]>> = {
  alerts: ['alert', 'alerts'],
  approvals: ['request for approval', 'requests for approval'],
  fills: ['fill', 'fills'],
  parents: ['strategy ended', 'strategies ended'],
  digest: ['digest', 'digests'],
  operator: ['operator action', 'operator actions'],
};

function titleOf(sections: readonly Section[]): string {
  const [first] = sections;
  if (first === undefined) return 'nothing';
  const label = first.severity === 'info' ? '' : `${first.severity}: `;
  if (sections.length === 1) return `${label}${first.title}${times(first.count)}`;
  const counts = topics.flatMap((topic) => {
    const count = sections.reduce((sum, one) => sum + (one.topic === topic ? one.count : 0), 0);
    return count === 0 ? [] : [`${count} ${NAMES[topic][count === 1 ? 0 : 1]}`];
  });
  return `${label}${first.title}${times(first.count)}; in all ${counts.join(', ')}`;
}

export const times = (count: number): string => (count === 1 ? '' : ` (${count} times)`);

/** The text of one section for a reader: the title, then the facts of each notice. */
export function sectionLines({ title, severity, count, notices }: Section): readonly string[] {
  const shown = notices.reduce((sum, { lines }) => sum + lines.length, 0);
  return [
    `${severity === 'info' ? '' : `${severity}: `}${title}${times(count)}`,
    ...notices.flatMap(({ at, lines }) =>
      notices.length === 1 ? lines : lines.map((line, i) => (i === 0 ? `${at}: ${line}` : `  ${line}`)),
    ),
    ...(count > notices.length && shown > 0 ? [`and ${count - notices.length} more`] : []),
  ];
}

/** The footer of every message. */
export const footer = ({ at, dropped }: Message): string =>
  `${isoOf(at)}${dropped === 0 ? '' : `; ${dropped} earlier notices were dropped because too many waited`}`;
