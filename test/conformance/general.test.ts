import { describe, expect, it } from 'vitest';
import { expectError, useVenue } from './support/target.ts';

const venue = useVenue();

const readings = [
  '/v1/account/transactions',
  '/v1/currency',
  '/v1/withdraw-fee/btc',
  '/v1/post-trade-settlement/interest',
  '/v1/post-trade-settlement/risk-modes',
  '/v1/account/balance/history?start_date=1700000000000',
] as const;

describe('the REST API', () => {
  it.each(readings)('answers JSON: GET %s', async (path) => {
    const { body, type } = await venue.get(path);
    expect(body).toBeDefined();
    expect(type).toMatch(/^application\/json\b/u);
  });

  it.each(readings)('writes no number with an exponent: GET %s', async (path) => {
    const { text } = await venue.get(path);
    const outsideOfTexts = text.replaceAll(/"(?:[^"\\]|\\.)*"/gu, '""');
    expect(outsideOfTexts).not.toMatch(/\d[eE]/u);
  });

  it.each(readings)('requires the version in the path: %s', async (path) => {
    expectError(await venue.get(path.replace('/v1', '')), 404);
  });

  it('refuses another version in the path', async () => {
    expectError(await venue.get('/v2/currency'), 404);
  });

  it('answers an error for an unknown path', async () => {
    expectError(await venue.get('/v1/nowhere'), 404);
  });

  it.each([
    ['GET', '/v1/quote'],
    ['DELETE', '/v1/quote'],
    ['POST', '/v1/currency'],
    ['DELETE', '/v1/account/transactions'],
    ['GET', '/v1/user/withdraw'],
    ['POST', '/v1/post-trade-settlement/risk-modes'],
  ])('answers an error for a method that the path does not support: %s %s', async (method, path) => {
    expectError(await venue.ask(method, path), [400, 499]);
  });
});
