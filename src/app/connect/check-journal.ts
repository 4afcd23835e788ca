import { OperatorError } from '../../core/errors.ts';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import { limitTexts } from '../../core/risk/limit-changes.ts';
import { countOf } from '../../core/text/count-of.ts';
import { isoOf } from '../../core/time.ts';
import { EngineState } from '../../engine/state/engine-state.ts';
import { raisedLimits } from '../../core/approvals/limits-in-force.ts';
import { journalExists, openJournal } from '../../journal/open-journal.ts';
import { anchorAt, compare } from '../../journal/proof/anchor.ts';
import { placeOfJournal } from '../../journal/journal-place.ts';
import type { Config } from '../config/config.ts';
import { deskSettingsOf } from '../config/desk-settings.ts';
import type { FoundDaemon } from '../daemon/control-file.ts';
import type { Finding } from './finding.ts';

/**
 * Checks the journal's chain, how the last process ended, and what it left open. `found`: the journal to which the
 * daemon writes, or wrote last.
 */
export function checkJournal(config: Config, configHash: string, found: FoundDaemon): readonly Finding[] {
  const file = placeOfJournal(found.journal);
  const where = file ?? found.journal;
  try {
    if (file === undefined || !journalExists(found.journal))
      return [
        {
          check: 'chain',
          verdict: 'ok',
          says: 'the journal does not exist yet: the first start creates it',
          where,
        },
      ];
    return [...read(config, configHash, found, file)];
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [{ check: 'chain', verdict: 'fail', says: error.message, where, exit: error.exit, fix: RESTORE }];
  }
}

const RESTORE = 'read "journal_damaged" in docs/runbook.md before you do anything with the journal';

function* read(config: Config, configHash: string, found: FoundDaemon, file: string): Generator<Finding> {
  const journal = openJournal(found.journal, { readOnly: true });
  try {
    const verdict = journal.verify();
    if (!verdict.ok) {
      yield { check: 'chain', verdict: 'fail', says: `the hash chain breaks at record ${verdict.seq}: ${verdict.why}`, where: file, exit: 'data', fix: RESTORE }; // prettier-ignore
      return;
    }
    yield {
      check: 'chain',
      verdict: 'ok',
      says: `the chain of ${countOf(verdict.count, 'record')} holds`,
      where: file,
    };
    const noted = anchorAt(`${file}.anchor`).read();
    const seq = noted === undefined || noted === 'unreadable' ? 0 : noted.seq;
    const last = new LastStart();
    const state = new EngineState();
    let hash: string | undefined;
    for (const record of journal.read()) {
      state.apply(record);
      last.see(record);
      if (record.seq === seq) ({ hash } = record);
    }
    if (config.journalGuard.anchor !== undefined) {
      const oddity = compare(noted, journal.head(), () => hash);
      if (oddity !== undefined)
        yield {
          check: 'anchor',
          verdict: 'fail',
          says: oddity.why,
          where: `${file}.anchor`,
          exit: 'data',
          fix: RESTORE,
        };
    }
    yield startFinding(last, found, configHash);
    yield* left(state, config);
  } finally {
    journal.close();
  }
}

/** How the last process that used a journal started and ended. */
class LastStart {
  started: (StoredRecord & { readonly body: RecordBody & { readonly kind: 'started' } }) | undefined;
  ended: StoredRecord | undefined;

  see(record: StoredRecord): void {
    const { body } = record;
    if (body.kind === 'started') {
      this.started = { ...record, body };
      this.ended = undefined;
    } else if (body.kind === 'stopped' || (body.kind === 'process' && body.state !== 'running'))
      this.ended = record;
  }
}

function startFinding({ started, ended }: LastStart, found: FoundDaemon, configHash: string): Finding {
  const own = { check: 'last_start', where: found.journal };
  if (started === undefined) return { ...own, verdict: 'ok', says: 'no process has run on this journal yet' };
  const { at, body } = started;
  const head = `Tranche ${body.version} started at ${isoOf(at)} in mode ${body.mode}`;
  const edited = body.config_hash === configHash ? '' : '; the config has been edited since';
  if (found.control !== undefined)
    return { ...own, verdict: 'ok', says: `${head} and runs as process ${found.control.pid}${edited}` };
  if (ended?.body.kind === 'process')
    return { ...own, verdict: 'warn', says: `${head} and ended at ${isoOf(ended.at)}: ${ended.body.why ?? ended.body.state}${edited}`, fix: 'fix the cause, then start the desk' }; // prettier-ignore
  if (ended?.body.kind === 'stopped')
    return {
      ...own,
      verdict: 'ok',
      says: `${head} and stopped cleanly at ${isoOf(ended.at)}${edited}`,
    };
  return {
    ...own,
    verdict: 'warn',
    says: `${head}, then died without recording a reason${edited}`,
    fix: 'its log and the system log show why; the next start resolves its open orders',
  };
}

function* left(state: EngineState, config: Config): Generator<Finding> {
  if (state.control === 'halted')
    yield { check: 'halted', verdict: 'warn', says: `the desk is halted: ${state.controlWhy}`, fix: 'once the cause is gone, run tranche rearm, or start with --rearm "reason"' }; // prettier-ignore
  if (state.doubts.length > 0)
    yield { check: 'doubts', verdict: 'warn', says: `${state.doubts.length === 1 ? '1 order has' : `${state.doubts.length} orders have`} an unknown outcome`, fix: 'tranche doubts; a running desk resolves them from the account' }; // prettier-ignore
  const policy = deskSettingsOf(config, { configHash: '', adoptFills: false });
  const now = { limits: limitTexts(policy.limits), approvals: policy.approvals };
  const raised = raisedLimits({ agreed: state.limits.agreed, raised: now });
  if (raised.length > 0)
    yield { check: 'limits_raised', verdict: 'warn', says: `the config raises limits: ${raised.join(', ')}`, where: config.file, fix: 'the next start is halted until a second person agrees; if this is unintended, lower them' }; // prettier-ignore
}
