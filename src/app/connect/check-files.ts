import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { placeOfJournal } from '../../journal/journal-place.ts';
import { readCredential, readTokenFile } from '../config/credential.ts';
import type { Config } from '../config/config.ts';
import { commandFiles } from '../notify/notify-config.ts';
import { rightsProblems } from '../strategies/rights-problems.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';
import { checkOf } from './finding.ts';
import type { Finding } from './finding.ts';

/** Checks who may change what the desk trades, and who may read its secrets. */
export function checkRights(
  config: Config,
  strategies: readonly LoadedStrategy[],
  cwd: string,
): readonly Finding[] {
  const { tls, tokens = [], notify } = config.operate ?? {};
  const problems = rightsProblems(config.file, strategies, cwd, [
    config.venue.caFile,
    placeOfJournal(config.journal),
    tls?.certificate,
    tls?.clientCa,
    ...commandFiles(notify),
  ]);
  const { ok, warn, fail } = checkOf('rights');
  return [
    ...(problems.length === 0
      ? [ok('nobody else can change the config, the strategies or their modules')]
      : problems.map((says) =>
          config.mode === 'live' ? fail(`live mode refuses to start: ${says}`) : warn(says),
        )),
    ...tokens.map(({ name, file }): Finding => apiToken(name, file)),
    ...(tls === undefined ? [] : [privateFile('tls_key', tls.key)]),
    ...journalRights(config),
  ];
}

function apiToken(name: string, file: string): Finding {
  const { ok, fail } = checkOf('api_token', file);
  const read = readTokenFile(file);
  const credential = 'problem' in read ? read : readCredential(read.text);
  return 'problem' in credential
    ? fail(`the token of ${name} in operate.tokens cannot be used: ${credential.problem}`)
    : ok(`the token of ${name} can be read only by its owner`);
}

/** Checks permissions as `readTokenFile` does, for files without a token. */
function privateFile(check: string, file: string): Finding {
  const { ok, fail } = checkOf(check, file);
  const facts = statSync(file, { throwIfNoEntry: false });
  if (facts === undefined) return fail('there is no such file');
  return (facts.mode & OTHERS) === 0 || process.getuid === undefined
    ? ok('only its owner can read it')
    : fail('other users of this machine can read or change it', `chmod 600 ${file}`);
}
const OTHERS = 0o066;

function journalRights({ journal }: Config): readonly Finding[] {
  const file = placeOfJournal(journal);
  const files = file === undefined ? [] : [file, `${file}.anchor`];
  const there = files.flatMap((each) =>
    statSync(each, { throwIfNoEntry: false })?.isFile() === true ? [resolve(each)] : [],
  );
  const open = there
    .map((each) => privateFile('journal_file', each))
    .filter(({ verdict }) => verdict === 'fail');
  // A start restricts the permissions itself.
  return open.map((finding) => ({ ...finding, verdict: 'warn' as const }));
}
