import { exitCodes } from '../../core/errors.ts';
import type { ExitName } from '../../core/errors.ts';

/** What one check of `tranche doctor` found. */
export interface Finding {
  /** Name of the check: stable, for scripts. */
  readonly check: string;
  /** `skipped`: it could not be made, which is said in words. */
  readonly verdict: 'ok' | 'warn' | 'fail' | 'skipped';
  readonly says: string;
  /** The file, folder or address that was looked at. */
  readonly where?: string | undefined;
  readonly fix?: string | undefined;
  /** Of a `fail`: the exit code that a start would end with. */
  readonly exit?: ExitName | undefined;
}

/** What has to be mended first is what the exit code says: without the one before, the next cannot be known. */
const WORST: readonly ExitName[] = ['data', 'storage', 'config', 'unavailable', 'again'];

/** 0 unless a check failed. */
export function exitOf(findings: readonly Finding[]): number {
  const failed = findings.filter(({ verdict }) => verdict === 'fail');
  if (failed.length === 0) return 0;
  const worst = WORST.find((exit) => failed.some((each) => (each.exit ?? 'config') === exit));
  return exitCodes[worst ?? 'config'];
}

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL', skipped: '-   ' } as const;

/** One line for each finding, and under what is not well where it is and the way out. */
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
