import { OperatorError } from '../../core/errors.ts';
import type { Environment } from '../config/yaml.ts';

/** What around the process could show the token to somebody else, or run somebody else's code beside it. */
export interface ProcessFacts {
  readonly env: Environment;
  /** Options of Node itself, as in `process.execArgv`. */
  readonly nodeOptions: readonly string[];
  /** Address of an open debugger, if there is one. */
  readonly debuggerUrl: string | undefined;
}

interface Danger {
  /** As `allow_environment` names it. */
  readonly name: string;
  readonly why: string;
}

/** Variables whose being set at all is refused, in either case of letters where programs read both. */
const variables: Readonly<Record<string, string>> = {
  NODE_OPTIONS: 'it can load code into this process, or open its debugger',
  NODE_EXTRA_CA_CERTS: 'the owner of such a certificate can read the token in transit',
  SSLKEYLOGFILE: 'it logs the keys of encrypted connections',
  HTTP_PROXY: 'requests could pass through a third party',
  HTTPS_PROXY: 'requests could pass through a third party',
  ALL_PROXY: 'requests could pass through a third party',
  NODE_USE_ENV_PROXY: 'requests could pass through a third party',
};

const flags: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^--inspect(?:-|=|$)|^--debug/u, 'a debugger reads the token in memory'],
  [/^--tls-keylog(?:=|$)/u, 'it logs the keys of encrypted connections'],
  [/^--use-env-proxy$/u, 'requests could pass through a third party'],
  [/^--heapsnapshot-|^--heap-prof$/u, 'heap snapshots contain the token'],
];

/** What is dangerous around this process, but for what `allowed` names. */
export function hardeningProblems(
  { env, nodeOptions, debuggerUrl }: ProcessFacts,
  allowed: readonly string[],
): readonly Danger[] {
  const dangers: Danger[] = [];
  const tls = env['NODE_TLS_REJECT_UNAUTHORIZED'];
  if (tls === '0')
    dangers.push({
      name: 'NODE_TLS_REJECT_UNAUTHORIZED',
      why: '0 disables the check that the token goes to the venue',
    });
  for (const [name, why] of Object.entries(variables)) {
    const isSet = [name, name.toLowerCase()].some((each) => (env[each] ?? '') !== '');
    if (isSet) dangers.push({ name, why });
  }
  for (const option of nodeOptions) {
    const [, why] = flags.find(([pattern]) => pattern.test(option)) ?? [];
    if (why !== undefined) dangers.push({ name: option.replace(/=.*$/su, ''), why });
  }
  if (debuggerUrl !== undefined && !dangers.some(({ name }) => name.startsWith('--inspect')))
    dangers.push({ name: '--inspect', why: 'a debugger reads the token in memory' });
  return dangers.filter(({ name }) => !allowed.includes(name));
}

/** @throws OperatorError `config` when something around the process is dangerous and not allowed by the config. */
export function refuseUnhardened(surroundings: ProcessFacts, allowed: readonly string[]): void {
  const dangers = hardeningProblems(surroundings, allowed);
  if (dangers.length === 0) return;
  const lines = dangers.map(({ name, why }) => `  ${name}: ${why}`);
  const names = dangers.map(({ name }) => `"${name}"`).join(', ');
  throw new OperatorError(
    'config',
    [
      'live mode refuses to start in this environment:',
      ...lines,
      `Remove these settings, or set allow_environment: [${names}] if they are intended.`,
    ].join('\n'),
  );
}
