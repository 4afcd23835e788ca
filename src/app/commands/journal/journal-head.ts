import type { Command } from '@commander-js/extra-typings';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { OperatorError } from '../../../core/errors.ts';
import { deskKey, publicPem, signHead } from '../../../journal/proof/signed-head.ts';
import { timestampProblem, timestampRequest } from '../../../journal/proof/timestamp.ts';
import { keyFileOf } from '../../../journal/proof/key-file.ts';
import { postOutside } from '../../daemon/post-outside.ts';
import type { CommandIo } from '../io.ts';
import type { CliWorld } from '../../cli/options.ts';
import { JOURNAL, answer, urlOf, write } from './journal.ts';
import { streams } from './streams.ts';
import type { Out } from './journal.ts';

/** Adds `tranche journal head` and `journal timestamp`. */
export function addHead(journal: Command, { io, done }: CliWorld): void {
  journal
    .command('head')
    .description("print the newest head, signed with the desk's key, to store elsewhere")
    .argument(...JOURNAL)
    .option('--public-key', 'print the public key of the desk instead, in PEM')
    .action(async (file, options) => {
      done(await journalHead(urlOf(file), options, io, streams()));
    });
  journal
    .command('timestamp')
    .description('request a time stamp for the newest head from a time-stamping authority (RFC 3161)')
    .argument(...JOURNAL)
    .requiredOption('--authority <url>', 'URL of the time-stamping authority')
    .requiredOption('--out <file>', 'file for the response; verify it with "openssl ts"')
    .action(async (file, options) => {
      done(await journalTimestamp(urlOf(file), options, io, streams()));
    });
}

/** Prints the newest head with the desk's signature, or the public half of its key. Exit codes as in `journalShow`. */
export async function journalHead(
  url: string,
  { publicKey = false }: { readonly publicKey?: boolean | undefined },
  { now }: Pick<CommandIo, 'now'>,
  out: Out,
): Promise<number> {
  return await answer(url, out, () => async (journal) => {
    const key = deskKey(keyFileOf(url));
    const text = publicKey ? publicPem(key) : `${JSON.stringify(signHead(journal, key, now))}\n`;
    await write(out.stdout, text);
    return 0;
  });
}

/**
 * Has a time-stamping authority (RFC 3161) stamp the newest head, and saves the authority's response. Exit codes as in
 * `journalShow`, 75 without a valid response.
 */
export async function journalTimestamp(
  url: string,
  { authority, out: file }: { readonly authority: string; readonly out: string },
  { cwd }: Pick<CommandIo, 'cwd'>,
  out: Out,
): Promise<number> {
  return await answer(url, out, () => async (journal) => {
    const { seq, hash } = journal.head();
    const stamped = await postOutside(authority, {
      contentType: 'application/timestamp-query',
      body: new Uint8Array(timestampRequest(hash)),
    });
    const problem = timestampProblem(stamped, hash);
    if (problem !== undefined) throw new OperatorError('again', `${authority}: ${problem}`);
    writeFileSync(resolve(cwd, file), stamped, { mode: 0o600, flag: 'wx' });
    await write(
      out.stdout,
      `Record ${seq} is stamped. Verify: openssl ts -verify -digest ${hash} -in ${file} -CAfile CA.pem\n`,
    );
    return 0;
  });
}
