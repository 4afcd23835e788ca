import { InvalidArgumentError } from '@commander-js/extra-typings';
import { OperatorError } from '../../core/errors.ts';
import { parseDuration, parseTime } from '../../core/time.ts';

/** Parsers of option values. */

export function numberFrom0(text: string): number {
  if (!/^\d{1,9}(?:\.\d{1,9})?$/u.test(text)) throw new InvalidArgumentError('expected a number such as 0.5');
  return Number(text);
}

export function numberAbove0(text: string): number {
  const value = numberFrom0(text);
  if (value === 0) throw new InvalidArgumentError('expected a number above zero');
  return value;
}

/** Parses a whole number with a limited number of digits. */
export const wholeNumber =
  (digits: number) =>
  (text: string): number => {
    if (!new RegExp(`^\\d{1,${digits}}$`, 'u').test(text))
      throw new InvalidArgumentError('expected a whole number');
    return Number(text);
  };

/** Parses a time with its zone into ms. */
export function timeOption(text: string): number {
  try {
    return parseTime(text);
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : 'expected a time');
  }
}

/**
 * Parses an ISO 8601 duration into ms; zero only if allowed. @throws OperatorError `usage` that names the
 * option.
 */
export function durationOf(option: string, text: string, { mayBeZero = false } = {}): number {
  let ms: number;
  try {
    ms = parseDuration(text);
  } catch (cause) {
    throw new OperatorError(
      'usage',
      `${option}: ${cause instanceof Error ? cause.message : 'unreadable'}`,
      cause,
    );
  }
  if (ms === 0 && !mayBeZero)
    throw new OperatorError('usage', `${option} ${text}: expected a length above zero`);
  return ms;
}
