import { expect, it } from 'vitest';
import { expectCleanTexts, expectCleanTokens } from './redactor.ts';

const EVENTS = 1_000_000;

it('the redactor removes the token from a million random texts, in every encoding and for random tokens', () => {
  expectCleanTexts('sim-3d8cxerrq9k9mg9nyhqum6t2jgk4da9s', EVENTS / 2);
  expectCleanTokens(EVENTS / 2);
  expect.assertions(3 * (EVENTS / 2)); // two for each text, one for each token
});
