/** Commands of other tools, and the equivalent commands here. */
const meant: Readonly<Record<string, string>> = {
  start: 'run',
  up: 'run',
  trigger: 'run-now',
  list: 'status',
  ls: 'status',
  ps: 'status',
  buy: 'execute buy',
  sell: 'execute sell',
  order: 'execute',
  trade: 'execute',
  cancel: 'stop',
  kill: 'halt',
  lint: 'validate',
  check: 'validate',
  simulate: 'backtest',
  optimize: 'sweep',
  log: 'why',
  logs: 'why',
};

/** Adds the equivalent command of this program to the message about an unknown command, if other tools have that command. */
export function withMeantCommand(message: string): string {
  const name = /^error: unknown command '(?<name>[^']*)'/u.exec(message)?.groups?.['name'] ?? '';
  if (!Object.hasOwn(meant, name)) return message;
  return `error: unknown command '${name}'\n(Did you mean ${meant[name]}?)\n`;
}
