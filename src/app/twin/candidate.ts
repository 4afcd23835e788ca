import { resolve } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { escapeMarks } from '../../core/text/escape.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import { grouped } from '../../report/html/markup.ts';
import type { CandidateReport } from '../../research/twin/candidate-json.ts';
import type { CommandIo } from '../commands/io.ts';
import type { Config } from '../config/config.ts';
import { formatProblems } from '../config/problems.ts';
import { readStrategies } from '../strategies/strategies.ts';

/**
 * Reads the only strategy of a file. @throws OperatorError `config` with every problem, or if the file does not contain
 * exactly one strategy.
 */
export function readCandidate(file: string, config: Config, io: CommandIo): StrategySource {
  const { strategies, problems } = readStrategies([resolve(io.cwd, file)], config, io);
  if (problems.length > 0)
    throw new OperatorError('config', formatProblems(problems, { colour: io.colour }).trimEnd());
  const [source, ...others] = strategies;
  if (source === undefined || others.length > 0)
    throw new OperatorError(
      'config',
      `--candidate: ${file} has ${strategies.length} strategies: name a file with one`,
    );
  return source;
}

/** Returns the comparison as lines for a terminal. */
export function candidateLines(report: CandidateReport): readonly string[] {
  const { live, candidate, causes } = report;
  const told = (
    name: string,
    { slices, filled, traded_usd: usd, mean_cost_bps: bps }: CandidateReport['live'],
  ): string =>
    `  ${name.padEnd(10)} ${String(filled).padStart(6)} of ${slices} slices filled, ${grouped(usd)} USD${bps === undefined ? '' : `, ${bps} bps mean cost`}`;
  return [
    `candidate ${report.strategy} (${report.hash.slice(0, 12)}) beside live, ${report.from} to ${report.until}, model ${report.model}`,
    told('live', live),
    told('candidate', candidate),
    `difference ${grouped(report.difference_usd)} USD${report.difference_bps === undefined ? '' : `, ${report.difference_bps} bps`}; positive: the candidate would have done better`,
    '',
    ...causes.map(
      ({ cause, usd, bps, says }) =>
        `  ${cause.padEnd(10)} ${grouped(usd).padStart(16)} USD ${(bps ?? '').padStart(12)} bps  ${says}`,
    ),
    '',
    `${report.modelled} of ${candidate.slices} slices quoted by the model`,
    ...report.warnings.map((warning) => `warning: ${warning}`),
    ...report.notes.map((note) => `note: ${note}`),
    'to promote it, put it in place of its file and attach this: tranche reload --candidate candidate.json (of --out)',
  ];
}

export const candidateJson = (report: CandidateReport): string =>
  `${escapeMarks(JSON.stringify(report, undefined, 2))}\n`;
