import { forTerminal } from '../../core/text/escape.ts';
import { isoOf } from '../../core/time.ts';
import type { AttemptRecord, ReloadRecord, StoredRecord } from '../../core/record.ts';
import { reasons } from '../../core/reasons.ts';
import { correctionWords, verdictWords } from '../../core/text/account-words.ts';
import { withSeparators } from '../../core/text/with-separators.ts';

/** The output that shows progress. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface Progress {
  record(stored: StoredRecord): void;
  say(line: string): void;
}

/** Shows nothing: for scripts that read JSON, and for daemons that log. */
export const noProgress: Progress = {
  record: () => undefined,
  say: () => undefined,
};

/** Describes a record for people; `undefined` for a record that matters only to an audit. */
export function wordsFor({ body, at }: StoredRecord): string | undefined {
  const time = isoOf(at).slice(11, 19);
  switch (body.kind) {
    case 'fill':
      return `${time}  ${body.strategy}  ${body.side} ${withSeparators(body.quantity)} ${body.base} at ${withSeparators(body.price)} ${body.quote}  (${withSeparators(body.amount)} ${body.quote})`;
    case 'slice':
      return body.reason === undefined
        ? undefined
        : `${time}  ${body.strategy}  slice ${body.slice} ${body.result}: ${reasons[body.reason]}`;
    case 'wake':
      if (body.finished !== undefined)
        return `${time}  ${body.strategy}  ends: ${body.note ?? reasons[body.finished]}`;
      return body.reason === undefined || body.reason === 'waiting'
        ? undefined
        : `${time}  ${body.strategy}  ${reasons[body.reason]}${body.note === undefined ? '' : ` (${body.note})`}`;
    case 'attempt':
      return body.result === 'doubt' ? `${time}  ${doubtWords(body)}` : undefined;
    case 'correction':
      return `${time}  ${correctionWords(body)}`;
    case 'resolved':
      return `${time}  ${body.by} says that ${verdictWords(body)}: ${body.why}`;
    case 'reload':
      return `${time}  ${reloadWords(body)}`;
    case 'control':
      return `${time}  ${body.state}: ${body.why}`;
    default:
      return undefined;
  }
}

function doubtWords({ client_order_id: id, proof }: AttemptRecord): string {
  if (proof?.proves === 'nothing') return `${id} traded; waiting for its figures`;
  const reads = proof?.reads_left === 1 ? '1 more read' : '2 reads';
  return `outcome of ${id} unknown; ${reads} of the account must show no trade`;
}

function reloadWords({ result, changes, by, why }: ReloadRecord): string {
  const asked = `${by}, ${why}`;
  if (result === 'refused') return `reload refused (${asked}): nothing was changed`;
  return `reload (${asked}): ${changes.map(({ strategy, what }) => `${strategy} ${what.replace('_', ' ')}`).join(', ')}`;
}

/** Prints one line per record that people want to see. */
export function progressOn(screen: Screen): Progress {
  const say = (line: string): void => {
    screen.write(`${forTerminal(line)}\n`);
  };
  return {
    record(stored) {
      const line = wordsFor(stored);
      if (line !== undefined) say(line);
    },
    say,
  };
}
