import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withRoutes } from '../../scripts/document-api.ts';

it('has the routes that the API has: run npm run docs', () => {
  const page = readFileSync('docs/api.md', 'utf8');
  expect(page).toBe(withRoutes(page));
});
