import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';

/** Fields of `candidate.json` that an attachment needs. */
const reportSchema = z.object({
  version: z.literal(1),
  from: z.string(),
  until: z.string(),
  strategy: z.string(),
  hash: z.string().min(12),
  candidate: z.object({ slices: z.number() }),
  difference_bps: z.string().optional(),
  modelled: z.number(),
  warnings: z.array(z.string()),
});

type AttachedReport = z.output<typeof reportSchema>;

/** Reads the report in a file. Returns it with the text of the file. @throws OperatorError `usage` */
export function readCandidateReport(file: string): {
  readonly report: AttachedReport;
  readonly content: string;
} {
  try {
    const content = readFileSync(file, 'utf8');
    return { report: reportSchema.parse(JSON.parse(content)), content };
  } catch (cause) {
    throw new OperatorError(
      'usage',
      `--candidate: ${file} was not written by tranche twin --candidate`,
      cause,
    );
  }
}

const changesSchema = z.array(
  z.object({ strategy: z.string(), what: z.string(), to: z.string().optional() }),
);

/** Returns whether the changes of a reload's dry run include the exact text of the report, now or once it is approved. */
export function isPromoted({ strategy, hash }: AttachedReport, changes: unknown): boolean {
  const read = changesSchema.safeParse(changes);
  return (
    read.success &&
    read.data.some(
      (change) =>
        change.strategy === strategy &&
        change.to === hash &&
        ['begins', 'replaces', 'waits', 'goes_on'].includes(change.what),
    )
  );
}

/** Returns the text about a report for an approval request: the report's figures, and the hash of its file. */
export const attachment = (report: AttachedReport, content: string): string =>
  `candidate ${report.strategy} ${report.hash.slice(0, 12)} against live ${report.from} to ${report.until}: ${report.difference_bps ?? 'no'} bps, ${report.modelled} of ${report.candidate.slices} slices modelled, ${report.warnings.length} warnings; report sha256 ${createHash('sha256').update(content).digest('hex')}`;
