import { exitCodes } from '../../core/errors.ts';
import type { ExitName } from '../../core/errors.ts';

/** Result of one check of `tranche validate --connect`. */
export interface Finding {
  /** Name of the check, stable for scripts. */
  readonly check: string;
  /** `skipped`: the check could not be performed; the text states why. */
  readonly verdict: 'ok' | 'warn' | 'fail' | 'skipped';
  readonly says: string;
  /** The file, folder or URL that was checked. */
  readonly where?: string | undefined;
  readonly fix?: string | undefined;
  /** For a `fail`: the exit code that a start would return. */
  readonly exit?: ExitName | undefined;
}

type Said = (says: string, fix?: string, exit?: ExitName) => Finding;

/** Returns the possible findings of one check of a file, a folder or a URL. */
export function checkOf(check: string, where?: string): Readonly<Record<Finding['verdict'], Said>> {
  const of =
    (verdict: Finding['verdict']): Said =>
    (says, fix, exit) => ({ check, verdict, says, where, fix, exit });
  return { ok: of('ok'), warn: of('warn'), fail: of('fail'), skipped: of('skipped') };
}

/** Exit codes, the worst first. The exit code names the first problem to fix, because later checks depend on earlier ones. */
const WORST: readonly ExitName[] = ['data', 'storage', 'config', 'unavailable', 'again'];

/** Returns the exit code: 0 unless a check failed. */
export function exitOf(findings: readonly Finding[]): number {
  const failed = findings.filter(({ verdict }) => verdict === 'fail');
  if (failed.length === 0) return 0;
  const worst = WORST.find((exit) => failed.some((each) => (each.exit ?? 'config') === exit));
  return exitCodes[worst ?? 'config'];
}

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL', skipped: '-   ' } as const;

/** Returns one line for each finding, with the place and the fix of a warning or failure. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const counts = (['fail', 'warn', 'skipped'] as const).flatMap((verdict) => {
    const count = findings.filter((each) => each.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${COUNTED[verdict]}`];
  });
  return [
    ...findings.flatMap(({ check, verdict, says, where, fix }) => {
      const isGood = verdict === 'ok' || verdict === 'skipped';
      const [first = '', ...more] = says.split('\n');
      return [
        `${MARKS[verdict]}  ${check.padEnd(width)}  ${first}`,
        ...more.map((line) => `      ${line}`),
        ...(where === undefined || isGood ? [] : [`      where: ${where}`]),
        ...(fix === undefined || verdict === 'ok' ? [] : [`      fix:   ${fix}`]),
      ];
    }),
    counts.length === 0
      ? `all ${findings.length} checks passed`
      : `${findings.length} checks: ${counts.join(', ')}`,
  ];
}
const COUNTED = { fail: 'failed', warn: 'with a warning', skipped: 'not made' } as const;
