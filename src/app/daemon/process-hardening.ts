import { OperatorError } from '../../core/errors.ts';
import type { Environment } from '../config/yaml.ts';

/** Process settings that could expose the token or load foreign code. */
export interface ProcessFacts {
  readonly env: Environment;
  /** Node options, as in `process.execArgv`. */
  readonly nodeOptions: readonly string[];
  /** Address of an open debugger, if any. */
  readonly debuggerUrl: string | undefined;
}

interface Danger {
  /** Name of the variable or option, in the form in which `allow_environment` lists it. */
  readonly name: string;
  readonly why: string;
}

const TRUST = 'it changes which certificates are trusted: name a private authority in venue.ca_file';

/**
 * Families of variables that change what Node trusts or which code it loads. The desk refuses every name in these families
 * that is not in `harmlessVariables`, including names that a later Node adds.
 */
const steering: readonly (readonly [family: RegExp, why: string])[] = [
  [/^NODE_(?:EXTRA_CA_CERTS|USE_SYSTEM_CA|TLS_)|^SSL_CERT_/u, TRUST],
  [/^NODE_USE_ENV_PROXY$/u, 'requests could pass through a third party'],
  [
    /^NODE_/u,
    'it sets options of Node, which can load code into this process, write its memory to disk or open its debugger',
  ],
  [/^OPENSSL_/u, 'it configures OpenSSL, which can load code and weaken encryption'],
  [/^(?:LD|DYLD)_/u, 'the dynamic loader reads it and can load code into this process'],
];

/** Variables of those families with harmless values, and those values. */
const harmlessVariables: Readonly<Record<string, RegExp>> = {
  NODE_ENV: /^/u,
  NODE_VERSION: /^/u, // set by the official container image; nothing reads it
  NODE_NO_WARNINGS: /^/u,
  NODE_PENDING_DEPRECATION: /^/u,
  NODE_DISABLE_COLORS: /^/u,
  NODE_DISABLE_COMPILE_CACHE: /^/u,
  NODE_TLS_REJECT_UNAUTHORIZED: /^(?!0$)/u, // only 0 disables the check of certificates
};

const SIZE = /^--(?:max-old-space-size|max-semi-space-size|max-heap-size|stack-trace-limit)=\d+$/u;
/** Node options that live mode permits. Live mode refuses every other option, regardless of its effect. */
const harmlessOptions: readonly RegExp[] = [
  SIZE,
  /^--disable-sigusr1$/u,
  /^--disable-proto=(?:throw|delete)$/u,
  /^--disable-warning=/u,
  /^--(?:no-warnings|no-deprecation|trace-warnings|trace-deprecation|trace-uncaught|enable-source-maps)$/u,
  /^--unhandled-rejections=(?:strict|throw)$/u,
  /^--(?:no-addons|no-global-search-paths|frozen-intrinsics|force-fips|enable-fips|jitless)$/u,
  /^--(?:use-bundled-ca|tls-min-v1\.[23])$/u,
];

/** Reasons for refusing some of the other options. */
const refusedOptions: readonly (readonly [option: RegExp, why: string])[] = [
  [/^--inspect(?:-|$)|^--debug/u, 'a debugger reads the token in memory'],
  [/^--(?:import|require|r|loader|experimental-loader|eval|e|print|p)$/u, 'it loads code into this process'],
  [/^--use-(?:openssl|system)-ca$/u, TRUST],
  [/^--tls-(?:min|max)-|^--tls-cipher/u, 'it weakens encryption'],
  [/^--tls-keylog$/u, 'it logs the keys of encrypted connections'],
  [/^--openssl-/u, 'it configures OpenSSL, which can load code and weaken encryption'],
  [/^--use-env-proxy$/u, 'requests could pass through a third party'],
  [/^--heapsnapshot-|^--heap-prof/u, 'heap snapshots contain the token'],
  [/^--env-file|^--experimental-(?:default-)?config-file$/u, 'a file sets further options'],
];
const UNKNOWN = 'it is not on the list of options that are safe in live mode';

/** Returns the settings of this process that are neither known to be safe nor in `allowed`. */
export function hardeningProblems(
  { env, nodeOptions, debuggerUrl }: ProcessFacts,
  allowed: readonly string[],
): readonly Danger[] {
  const dangers = [...Object.entries(env).flatMap(inVariable), ...nodeOptions.flatMap(inOption)];
  if (debuggerUrl !== undefined && !dangers.some(({ name }) => name.startsWith('--inspect')))
    dangers.push({ name: '--inspect', why: 'a debugger reads the token in memory' });
  return dangers.filter(({ name }) => !allowed.includes(name));
}

function inVariable([written, value = '']: readonly [string, string | undefined]): readonly Danger[] {
  const name = written.toUpperCase(); // Windows ignores case
  if (name === 'NODE_OPTIONS') return inNodeOptions(value);
  const [, why] = steering.find(([family]) => family.test(name)) ?? [];
  const isHarmless = value === '' || harmlessVariables[name]?.test(value) === true;
  return why === undefined || isHarmless ? [] : [{ name, why }];
}

/** Node reads options of this variable like those of its command line; quoted values may contain spaces. */
function inNodeOptions(value: string): readonly Danger[] {
  const options = value.match(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/gu) ?? [];
  const [danger] = options.flatMap((option) => inOption(option.replaceAll(/"|\\(?=.)/gu, '')));
  return danger === undefined ? [] : [{ name: 'NODE_OPTIONS', why: `${danger.name}: ${danger.why}` }];
}

function inOption(written: string): readonly Danger[] {
  // An argument without a dash is the value of the option before it.
  if (!written.startsWith('-')) return [];
  // Node treats underscores in option names as dashes.
  const option = written.replace(/^[^=]+/u, (name) => name.replaceAll('_', '-'));
  if (harmlessOptions.some((known) => known.test(option))) return [];
  const name = option.replace(/=.*$/su, '');
  const [, why = UNKNOWN] = refusedOptions.find(([known]) => known.test(name.replace(/^-?-/u, '--'))) ?? [];
  return [{ name, why }];
}

/** @throws OperatorError `config` if a setting of the process is neither known to be safe nor in `allowed`. */
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
