import { resolve } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { escapeMarks } from '../../core/text/escape.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import { Markup, grouped, markup, table } from '../../report/html/markup.ts';
import { STYLE } from '../../report/html/style.ts';
import type { CandidateReport } from '../../research/twin/candidate-json.ts';
import type { CommandIo } from '../commands/io.ts';
import type { Config } from '../config/config.ts';
import { formatProblems } from '../config/problems.ts';
import { readStrategies } from '../strategies/strategies.ts';
import { version } from '../version.ts';

/** The one strategy of the file. @throws OperatorError `config` with every problem, or when there are several. */
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

/** The comparison in lines for a terminal. */
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
    `difference ${grouped(report.difference_usd)} USD${report.difference_bps === undefined ? '' : `, ${report.difference_bps} bps`}; above zero, the candidate would have done better`,
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

/** The comparison as one file for a browser, without a script and without a network. */
export function candidateHtml(report: CandidateReport): string {
  const { live, candidate, causes, warnings, notes } = report;
  const title = `Candidate ${report.strategy} beside live`;
  return `${
    markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<h1>${title}</h1>
<p class="soft">${report.from} to ${report.until}, journal ${report.journal}, model ${report.model}, text with hash ${report.hash}, Tranche ${version}; proven by the record with hash ${report.head}</p>
<p>The candidate would have done ${grouped(report.difference_usd)} USD better than live${report.difference_bps === undefined ? '' : ` (${report.difference_bps} basis points)`}; below zero, worse. ${report.modelled} of its ${candidate.slices} slices were quoted by the model.</p>
${warnings.length === 0 ? '' : markup`<section class="notes"><h2>Before you believe it</h2><ul>${warnings.map((warning) => markup`<li>${warning}</li>`)}</ul></section>`}
${table({
  caption: 'Both texts',
  head: ['', '#slices', '#filled', '#USD traded', '#mean cost, bps'],
  rows: ([['live', live], ['candidate', candidate]] as const).map(([name, told]) => [name, told.slices, told.filled, grouped(told.traded_usd), told.mean_cost_bps]), // prettier-ignore
})}
${table({
  caption: 'Where the difference comes from',
  note: 'First the texts by the model alone. Then both take over one cause after the other from live; each share is how much more that changes the candidate.',
  head: ['cause', '#USD', '#bps', 'what it is'],
  rows: [
    ...causes.map(({ cause, usd, bps, says }) => [cause, grouped(usd), bps, says]),
    ['all', grouped(report.difference_usd), report.difference_bps, ''],
  ],
})}
${notes.length === 0 ? '' : markup`<ul class="soft">${notes.map((note) => markup`<li>${note}</li>`)}</ul>`}
</body>
</html>`.text
  }\n`;
}

export const candidateJson = (report: CandidateReport): string =>
  `${escapeMarks(JSON.stringify(report, undefined, 2))}\n`;
