import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runbook } from '../../scripts/document-alerts.ts';

it('docs/runbook.md matches the table of alerts: run npm run docs', () => {
  expect(readFileSync('docs/runbook.md', 'utf8')).toBe(runbook());
});
