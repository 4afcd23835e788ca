/** Writes docs/runbook.md from the table of alerts. */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { alerts } from '../src/core/alerts.ts';
import type { AlertKind } from '../src/core/alerts.ts';

const INTRODUCTION = `# Runbook

This page lists every alert that Tranche raises. Each alert writes a log line with its id in the field \`alert\`, and
increments \`tranche_alerts_total{alert, severity}\`. Page someone for \`critical\` alerts, look at \`warning\` alerts the same
day, and treat \`info\` alerts as information. \`npm run docs\` generates this page from \`src/core/alerts.ts\`.
`;

/** Returns the whole page. */
export function runbook(): string {
  const table: readonly [string, AlertKind][] = Object.entries(alerts);
  const entries = table.map(
    ([id, { severity, says, runbook: line }]) => `## ${id}\n\n**${severity}**: ${says}.\n\n${line}\n`,
  );
  return [INTRODUCTION, ...entries].join('\n');
}

if (import.meta.main) {
  writeFileSync(new URL('../docs/runbook.md', import.meta.url), runbook());
  process.stderr.write('wrote docs/runbook.md\n');
}
