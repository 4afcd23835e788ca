import { styleText } from 'node:util';
import { forTerminal } from '../../core/text/escape.ts';
import { isoOf } from '../../core/time.ts';
import type { AttemptRecord, ReloadRecord, StoredRecord } from '../../core/record.ts';
import { reasons } from '../../core/reasons.ts';
import { correctionWords, verdictWords } from '../../core/text/account-words.ts';
import { closingWords } from '../../engine/account/closing-read.ts';
import type { Desk } from '../../engine/desk.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { table } from './summary.ts';

/** The output that shows progress. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface Progress {
  /** Starts the view of a desk. `totals`: number of slices per strategy, if it is known in advance. */
  begin(desk: Desk, totals: ReadonlyMap<string, number>): void;
  record(stored: StoredRecord): void;
  say(line: string): void;
  /** Removes the live view; printed lines remain. */
  end(): void;
}

const REDRAW_MS = 200;
const FILLS_SHOWN = 4;

/** Shows a live view on a terminal, and plain lines elsewhere. */
export function progressOn(screen: Screen): Progress {
  return screen.isTTY === true ? liveView(screen) : plainLines(screen);
}

/** Shows nothing: for scripts that read JSON, and for daemons that log. */
export const noProgress: Progress = {
  begin: () => undefined,
  record: () => undefined,
  say: () => undefined,
  end: () => undefined,
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

function plainLines(screen: Screen): Progress {
  const say = (line: string): void => {
    screen.write(`${forTerminal(line)}\n`);
  };
  return {
    begin: () => undefined,
    record(stored) {
      const line = wordsFor(stored);
      if (line !== undefined) say(line);
    },
    say,
    end: () => undefined,
  };
}

/** Redraws the status lines at the bottom; printed lines scroll above them. */
function liveView(screen: Screen): Progress {
  let shown = 0;
  let view: (() => readonly string[]) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const fills: string[] = [];
  const clear = (): void => {
    if (shown > 0) screen.write(`\u001B[${shown}A\u001B[0J`);
    shown = 0;
  };
  const draw = (): void => {
    if (view === undefined) return;
    const lines = view().map((line) => line.slice(0, Math.max(20, (screen.columns ?? 100) - 1)));
    clear();
    screen.write(lines.map((line) => `${line}\n`).join(''));
    shown = lines.length;
  };
  const say = (line: string): void => {
    clear();
    screen.write(`${forTerminal(line)}\n`);
    draw();
  };
  return {
    begin(desk, totals) {
      view = () => [
        ...deskLines(desk, totals),
        ...fills.map((line) => styleText('green', line, { validateStream: false })),
      ];
      timer = setInterval(draw, REDRAW_MS);
      timer.unref();
      draw();
    },
    record(stored) {
      const line = wordsFor(stored);
      if (line === undefined) return;
      if (stored.body.kind !== 'fill') say(line);
      else {
        fills.push(forTerminal(line));
        if (fills.length > FILLS_SHOWN) fills.shift();
      }
    },
    say,
    end() {
      clearInterval(timer);
      clear();
      view = undefined;
    },
  };
}

/** Returns one line per strategy, and one for the desk. */
function deskLines(desk: Desk, totals: ReadonlyMap<string, number>): readonly string[] {
  const now = desk.ports.clock.wall();
  const rows = [...desk.strategies.sources.keys()].map((id) => {
    const life = desk.state.lives.get(id);
    const total = totals.get(id) ?? 0;
    const done = life?.slicesDone ?? 0;
    const next = life?.waits
      .filter((wait) => wait.on === 'at')
      .map((wait) => wait.at)
      .toSorted((a, b) => a - b)[0];
    const isWatching = life?.waits.some((wait) => wait.on !== 'at' && wait.on !== 'outcome') === true;
    const inSeconds = next === undefined ? '' : `${Math.max(0, Math.ceil((next - now) / 1000))} s`;
    const waiting =
      life?.finished !== undefined
        ? 'done'
        : isWatching
          ? `watching${next === undefined ? '' : `, ends in ${inSeconds}`}`
          : next === undefined
            ? 'trading'
            : `next in ${inSeconds}`;
    return [
      id,
      total > 0 ? `${bar(done / total)} ${done}/${total}` : `${done} done`,
      waiting,
      life?.lastReason ?? '',
    ];
  });
  const used = (route: 'quote' | 'order'): string =>
    `${Math.round(desk.rateLimiter.utilisation(route) * 100)} %`;
  const doubts = desk.state.doubts.length;
  return [
    '',
    ...table(rows),
    ...closingWords(desk),
    `${desk.control}  fills ${desk.state.fills}  quote budget ${used('quote')}  order budget ${used('order')}${doubts > 0 ? `  DOUBTS ${doubts}` : ''}`,
  ];
}

const BAR = 20;
function bar(part: number): string {
  const full = Math.round(Math.min(1, Math.max(0, part)) * BAR);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}]`;
}
