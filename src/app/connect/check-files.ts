import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { placeOfJournal } from '../../journal/journal-place.ts';
import { readCredential, readTokenFile } from '../config/credential.ts';
import type { Config } from '../config/config.ts';
import { commandFiles } from '../notify/notify-config.ts';
import { rightsProblems } from '../strategies/rights-problems.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';
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
    tls?.certificate,
    tls?.clientCa,
    ...commandFiles(notify),
  ]);
  return [
    ...(problems.length === 0
      ? [
          {
            check: 'rights',
            verdict: 'ok' as const,
            says: 'nobody else can change the config, the strategies or their modules',
          },
        ]
      : problems.map((says): Finding => ({
          check: 'rights',
          verdict: config.mode === 'live' ? 'fail' : 'warn',
          says: config.mode === 'live' ? `live mode refuses to start: ${says}` : says,
        }))),
    ...tokens.map(({ name, file }): Finding => apiToken(name, file)),
    ...(tls === undefined ? [] : [privateFile('tls_key', tls.key)]),
    ...journalRights(config),
  ];
}

function apiToken(name: string, file: string): Finding {
  const own = { check: 'api_token', where: file };
  const read = readTokenFile(file);
  const credential = 'problem' in read ? read : readCredential(read.text);
  return 'problem' in credential
    ? {
        ...own,
        verdict: 'fail',
        says: `the token of ${name} in operate.tokens cannot be used: ${credential.problem}`,
      }
    : { ...own, verdict: 'ok', says: `the token of ${name} can be read only by its owner` };
}

/** Checks permissions as `readTokenFile` does, for files without a token. */
function privateFile(check: string, file: string): Finding {
  const facts = statSync(file, { throwIfNoEntry: false });
  if (facts === undefined) return { check, verdict: 'fail', says: 'there is no such file', where: file };
  return (facts.mode & OTHERS) === 0 || process.getuid === undefined
    ? { check, verdict: 'ok', says: 'only its owner can read it', where: file }
    : {
        check,
        verdict: 'fail',
        says: 'other users of this machine can read or change it',
        where: file,
        fix: `chmod 600 ${file}`,
      };
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
