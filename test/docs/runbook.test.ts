import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runbook } from '../../scripts/document-alerts.ts';

it('is what the table of alerts says: run npm run docs', () => {
  expect(readFileSync('docs/runbook.md', 'utf8')).toBe(runbook());
});
