import type { Command } from '@commander-js/extra-typings';
import { resolve } from 'node:path';
import { exitCodes, OperatorError } from '../../../core/errors.ts';
import { escapeMarks } from '../../../core/text/escape.ts';
import { anchorAt, compare } from '../../../journal/proof/anchor.ts';
import type { ApprovalsProof } from '../../../journal/proof/approvals-proof.ts';
import type { Head } from '../../../journal/proof/link.ts';
import { isSigned, publicKeyIn, readSignedHead } from '../../../journal/proof/signed-head.ts';
import type { Journal } from '../../../journal/journal.ts';
import { placeOfJournal } from '../../../journal/journal-place.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import type { CliWorld } from '../../cli/options.ts';
import { JOURNAL, answer, urlOf, write } from './journal.ts';
import { streams } from './streams.ts';
import type { Out } from './journal.ts';
import type { Given } from '../io.ts';

/** Adds `tranche journal verify`. */
export function addVerify(journal: Command, { done }: CliWorld): void {
  journal
    .command('verify')
    .description('verify the chain of records, and compare it with heads stored elsewhere')
    .argument(...JOURNAL)
    .option('--head <hash>', 'hash of a record, as stored elsewhere')
    .option('--signed <file>', 'signed head, as "journal head" prints it')
    .option('--key <file>', 'public key of the desk in PEM, stored elsewhere; with --signed')
    .option('--anchor <file>', 'journal anchor (default: the anchor beside the journal, if one exists)')
    .option('--approvals', 'also verify every approval: its request, person, signature and policy')
    .option('--json', 'print the result as JSON')
    .action(async (file, options) => {
      done(await journalVerify(urlOf(file), options, streams()));
    });
}

export type VerifyOptions = Given<'head' | 'signed' | 'key' | 'anchor', 'json' | 'approvals'>;

/** The result of comparing the chain with the anchor, or with a head that is stored elsewhere. */
interface Compared {
  readonly with: 'anchor' | 'head' | 'signed_head';
  readonly ok: boolean;
  readonly says: string;
}

/**
 * Checks the whole chain offline, and compares it with the anchor and with the heads that the options name. Exit codes
 * as in `journalShow`, 65 also for a difference or an invalid approval; with `json` the verdict always goes to
 * `stdout`.
 */
export async function journalVerify(url: string, options: VerifyOptions, out: Out): Promise<number> {
  return await answer(url, out, () => {
    const kept = keptHeads(options);
    return async (journal) => {
      const verdict = journal.verify();
      const compared = verdict.ok ? comparisons(url, journal, kept, options.anchor) : [];
      const proof = verdict.ok && options.approvals === true ? await approvalsProof(journal) : undefined;
      const approvals = proof?.findings;
      const hold = approvals?.every(({ fault }) => fault === undefined) ?? true;
      const isGood = verdict.ok && compared.every(({ ok }) => ok) && hold;
      if (options.json === true)
        await write(out.stdout, `${escapeMarks(JSON.stringify({ ...verdict, compared, approvals }))}\n`);
      else {
        const lines = verdict.ok
          ? [
              `The chain of ${verdict.count} records is intact. Head: ${verdict.head}`,
              ...compared.map(({ says }) => says),
              ...(proof === undefined ? [] : approvalLines(proof)),
              ...(compared.some((one) => one.with !== 'anchor') ? [] : [WHAT_IT_PROVES]),
            ]
          : [
              `The chain breaks at record ${verdict.seq}: ${verdict.why}${verdict.near === undefined ? '' : `; the record before it is at ${verdict.near}`}. All records before it are intact.`,
            ];
        await write(isGood ? out.stdout : out.stderr, `${lines.join('\n')}\n`);
      }
      return isGood ? 0 : exitCodes.data;
    };
  });
}

/** Checks the approvals. Loads its module on demand. */
async function approvalsProof(journal: Journal): Promise<ApprovalsProof> {
  const module = await import('../../../journal/proof/approvals-proof.ts');
  const proof = new module.ApprovalsProof();
  for (const stored of journal.read()) proof.take(stored);
  return proof;
}

function approvalLines({ findings }: ApprovalsProof): readonly string[] {
  const good = findings.filter(({ fault }) => fault === undefined);
  const signed = good.filter(({ proof }) => proof === 'passkey').length;
  const faults = findings.flatMap(({ seq, request, by, fault }) =>
    fault === undefined
      ? []
      : [`record ${seq}${request === undefined ? '' : ` (${request})`}, by ${by}: ${fault}`],
  );
  return [
    `Approvals that hold: ${good.length}; signed by a passkey: ${signed}; by a token, which the journal records only by name: ${good.length - signed}.`,
    ...(faults.length === 0 ? [] : [`Approvals that do not hold: ${faults.length}`, ...faults]),
  ];
}

const WHAT_IT_PROVES =
  'This check shows that no record was changed by accident. Anyone who can write to the journal and its anchor can build a new chain: ' +
  'only a head stored elsewhere detects that ("tranche journal head", then --head or --signed).';

interface KeptHeads {
  readonly head: string | undefined;
  readonly signed: { readonly file: string; readonly head: Head; readonly chain: string; readonly why: string | undefined } | undefined; // prettier-ignore
}

const SIGNED_BYTES_MAX = 64 * 1024;

/** Reads the heads that the options name. @throws OperatorError `usage` or `data` for a head or key that cannot be read. */
function keptHeads({ head, signed: file, key }: VerifyOptions): KeptHeads {
  if (head !== undefined && !/^[0-9a-f]{64}$/u.test(head))
    throw new OperatorError('usage', '--head: expected the hash of a record, 64 characters of 0-9 and a-f');
  if (key !== undefined && file === undefined)
    throw new OperatorError('usage', '--key: name the signed head with --signed');
  if (file === undefined) return { head, signed: undefined };
  const read = readSignedHead(signedText(file), file);
  const isOurs = isSigned(read, key === undefined ? undefined : publicKeyIn(resolve(key)));
  const why = isOurs
    ? undefined
    : `the signature in ${file} was not made with ${key === undefined ? 'the key in that file' : `the key in ${key}`}`;
  return { head, signed: { file, head: read, chain: read.chain, why } };
}

function comparisons(
  url: string,
  journal: Journal,
  { head, signed }: KeptHeads,
  anchorFile: string | undefined,
): readonly Compared[] {
  const wanted = new Set([1, ...(signed === undefined ? [] : [signed.head.seq])]);
  const beside = placeOfJournal(url);
  const anchor = anchorFile ?? (beside === undefined ? undefined : `${beside}.anchor`);
  const noted = anchor === undefined ? undefined : anchorAt(resolve(anchor)).read();
  if (noted !== undefined && noted !== 'unreadable') wanted.add(noted.seq);
  const hashes = new Map<number, string>();
  let headSeq: number | undefined;
  for (const { seq, hash } of journal.lines()) {
    if (wanted.has(seq)) hashes.set(seq, hash);
    if (hash === head) headSeq = seq;
  }
  const found: Compared[] = [];
  if (noted !== undefined || anchorFile !== undefined) {
    const oddity = compare(noted, journal.head(), (seq) => hashes.get(seq));
    const says = oddity?.why ?? `It agrees with the journal anchor ${anchor ?? ''}.`;
    found.push({ with: 'anchor', ok: oddity === undefined, says });
  }
  if (head !== undefined) {
    const says =
      headSeq === undefined
        ? `no record has the hash ${head}: this is a different chain, or an older copy`
        : `It contains the head stored elsewhere, as record ${headSeq}.`;
    found.push({ with: 'head', ok: headSeq !== undefined, says });
  }
  if (signed !== undefined) {
    const { seq, hash } = signed.head;
    const isIn = hashes.get(1) === signed.chain && hashes.get(seq) === hash;
    const differs = `record ${seq} of the journal differs from the one signed in ${signed.file}`;
    const why = signed.why ?? (isIn ? undefined : differs);
    const says = why ?? `It contains the head signed in ${signed.file}, as record ${seq}.`;
    found.push({ with: 'signed_head', ok: why === undefined, says });
  }
  return found;
}

function signedText(file: string): string {
  try {
    return readRegularFile(resolve(file), { maxBytes: SIGNED_BYTES_MAX }).toString('utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OperatorError('data', `--signed ${file} cannot be read: ${why}`, error);
  }
}
