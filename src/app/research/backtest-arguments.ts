import type { InputOptions } from './backtest-input.ts';

interface Given extends InputOptions {
  readonly model: string;
  readonly assume: readonly string[];
  readonly seed: string;
}

/** Matches text that a shell does not change. */
const PLAIN = /^[\w./:=,@%+-]+$/u;
const word = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns the arguments that determine what a backtest trades, quoted for a shell. The same arguments produce the same trades. */
export function backtestArguments(options: Given): string {
  const {
    files = [],
    config,
    isConfigNamed,
    data,
    from,
    until,
    delisted,
    holdings,
    model,
    assume,
    seed,
  } = options;
  const flags: readonly (readonly [flag: string, value: string | undefined])[] = [
    ['--config', isConfigNamed === true ? config : undefined],
    ...data.map((each) => ['--data', each] as const),
    ['--from', from],
    ['--until', until],
    ['--delisted', delisted === 'refuse' ? undefined : delisted],
    ['--holdings', holdings],
    ['--model', model === 'normal' ? undefined : model],
    ...assume.map((each) => ['--assume', each] as const),
    ['--seed', seed === '1' ? undefined : seed],
  ];
  const named = flags.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${word(value)}`]));
  return [...files.map(word), ...named].join(' ');
}
