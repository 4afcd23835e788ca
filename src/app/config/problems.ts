import { distance } from 'fastest-levenshtein';
import { styleText } from 'node:util';
import { REDACTED } from './secret.ts';

/** An error in a file: its location and how to correct it. */
export interface FileProblem {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in characters. */
  readonly column: number;
  /** The setting at fault, as in `total_quantity.currency` or `controls.pairs[1]`; empty for the whole document. */
  readonly path: string;
  readonly message: string;
  /** The source line; empty if there is none. Possible secrets are masked. */
  readonly excerpt: string;
}

export interface FormatOptions {
  readonly colour: boolean;
}

const EXCERPT_MAX = 120;
const SHOWN_MAX = 50;

/** Formats all problems in the order of the files, each with its line and a caret under the error. */
export function formatProblems(problems: readonly FileProblem[], { colour }: FormatOptions): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const all = inOrder(problems);
  const blocks = all.slice(0, SHOWN_MAX).map(({ file, line, column, path, message, excerpt }) => {
    const place = `${paint('bold', `${file}:${line}:${column}`)}${path === '' ? '' : `  ${paint('cyan', path)}`}`;
    const margin = String(line).length;
    const shown = window(excerpt, column);
    const drawn =
      excerpt === ''
        ? []
        : [
            `  ${String(line)} | ${shown.text}`,
            `  ${' '.repeat(margin)} | ${' '.repeat(shown.caret)}${paint('red', '^')}`,
          ];
    return [place, ...drawn, ...message.split('\n').map((text) => `  ${text}`)].join('\n');
  });
  const count = all.length === 1 ? '1 problem' : `${all.length} problems`;
  const shownPart = all.length > SHOWN_MAX ? `, the first ${SHOWN_MAX} are shown` : '';
  return `${[...blocks, paint('bold', count + shownPart)].join('\n\n')}\n`;
}

/** Sorts problems by location and removes duplicates. Files keep the order in which they first appear. */
function inOrder(problems: readonly FileProblem[]): readonly FileProblem[] {
  const files = [...new Set(problems.map(({ file }) => file))];
  const once = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...once.values()].toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}

/** Returns the part of a long line around the column. Shows each tab as one arrow, so that the caret stays aligned. */
function window(excerpt: string, column: number): { readonly text: string; readonly caret: number } {
  const cells = Array.from(excerpt.replaceAll('\t', '→'), (cell) => (isControl(cell) ? '?' : cell));
  const caret = Math.min(column - 1, cells.length);
  const from = caret < EXCERPT_MAX - 10 ? 0 : caret - 60;
  const text = cells
    .slice(from, from + EXCERPT_MAX)
    .join('')
    .trimEnd();
  return from === 0 ? { text, caret } : { text: `…${text}`, caret: caret - from + 1 };
}

/** Returns whether a character could control the operator's terminal. */
const isControl = (cell: string): boolean => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(cell);

const SECRET_KEY =
  /((?:tok|secret|passw|auth|bearer|credential|\burl|\bkey)\w*["']?\s*:\s*)("[^"]*"?|'[^']*'?|[^\s,}#][^,}#]*)/giu;

/** Masks possible secrets in a displayed line: values of keys named like secrets, and passwords in addresses. */
export function maskSecrets(line: string): string {
  return line
    .replace(SECRET_KEY, (whole, key: string, value: string) =>
      /^["']?\$\{\w*\}?["']?\s*$/u.test(value) || /(?:token|url|key|password)_file/iu.test(key)
        ? whole
        : `${key}${REDACTED}`,
    )
    .replaceAll(/(:\/\/)[^/@\s"']+@/gu, `$1${REDACTED}@`);
}

/** Returns the candidate nearest to `word`, if the difference could be a typing error: a letter in four, or two swapped letters. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = word.toLowerCase();
  const most = Math.max(1, Math.floor(typed.length / 4));
  const away = (candidate: string): number => {
    const isSwapped = lettersOf(candidate.toLowerCase()) === lettersOf(typed);
    return distance(typed, candidate.toLowerCase()) - (isSwapped ? 1 : 0);
  };
  const [best] = [...candidates].toSorted((a, b) => away(a) - away(b));
  return best !== undefined && away(best) <= most ? best : undefined;
}

const lettersOf = (word: string): string => word.split('').toSorted().join('');

/** Formats a path as in `controls.pairs[1]`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${String(step)}`))
    .join('');
