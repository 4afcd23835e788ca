import { expect, it } from 'vitest';
import { expectCleanTexts, expectCleanTokens } from './redactor.ts';

const EVENTS = 1_000_000;

it('takes the token out of a million texts, in whatever spelling, whatever the token', () => {
  expectCleanTexts('sim-3d8cxerrq9k9mg9nyhqum6t2jgk4da9s', EVENTS / 2);
  expectCleanTokens(EVENTS / 2);
  expect.assertions(3 * (EVENTS / 2)); // two for each text, one for each token
});
