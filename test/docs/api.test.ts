import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withRoutes } from '../../scripts/document-api.ts';

it('docs/api.md lists the routes of the API: run npm run docs', () => {
  const page = readFileSync('docs/api.md', 'utf8');
  expect(page).toBe(withRoutes(page));
});
