import { OperatorError } from '../../core/errors.ts';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import { limitTexts } from '../../core/risk/limit-table.ts';
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
import { checkOf } from './finding.ts';
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
      return [checkOf('chain', where).ok('the journal does not exist yet: the first start creates it')];
    return [...read(config, configHash, found, file)];
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [checkOf('chain', where).fail(error.message, RESTORE, error.exit)];
  }
}

const RESTORE = 'read "journal_damaged" in docs/runbook.md before you do anything with the journal';

function* read(config: Config, configHash: string, found: FoundDaemon, file: string): Generator<Finding> {
  const journal = openJournal(found.journal, { readOnly: true });
  const { ok, fail } = checkOf('chain', file);
  try {
    const verdict = journal.verify();
    if (!verdict.ok) {
      yield fail(`the hash chain breaks at record ${verdict.seq}: ${verdict.why}`, RESTORE, 'data');
      return;
    }
    yield ok(`the chain of ${countOf(verdict.count, 'record')} holds`);
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
      if (oddity !== undefined) yield checkOf('anchor', `${file}.anchor`).fail(oddity.why, RESTORE, 'data');
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
  const { ok, warn } = checkOf('last_start', found.journal);
  if (started === undefined) return ok('no process has run on this journal yet');
  const { at, body } = started;
  const head = `Tranche ${body.version} started at ${isoOf(at)} in mode ${body.mode}`;
  const edited = body.config_hash === configHash ? '' : '; the config has been edited since';
  if (found.control !== undefined) return ok(`${head} and runs as process ${found.control.pid}${edited}`);
  if (ended?.body.kind === 'process')
    return warn(
      `${head} and ended at ${isoOf(ended.at)}: ${ended.body.why ?? ended.body.state}${edited}`,
      'fix the cause, then start the desk',
    );
  if (ended?.body.kind === 'stopped') return ok(`${head} and stopped cleanly at ${isoOf(ended.at)}${edited}`);
  return warn(
    `${head}, then died without recording a reason${edited}`,
    'its log and the system log show why; the next start resolves its open orders',
  );
}

function* left(state: EngineState, config: Config): Generator<Finding> {
  if (state.control === 'halted')
    yield checkOf('halted').warn(
      `the desk is halted: ${state.controlWhy}`,
      'once the cause is gone, run tranche rearm, or start with --rearm "reason"',
    );
  if (state.doubts.length > 0)
    yield checkOf('doubts').warn(
      `${state.doubts.length === 1 ? '1 order has' : `${state.doubts.length} orders have`} an unknown outcome`,
      'tranche doubts; a running desk resolves them from the account',
    );
  const policy = deskSettingsOf(config, { configHash: '', adoptFills: false });
  const now = { limits: limitTexts(policy.limits), approvals: policy.approvals };
  const raised = raisedLimits({ agreed: state.limits.agreed, raised: now });
  if (raised.length > 0)
    yield checkOf('limits_raised', config.file).warn(
      `the config raises limits: ${raised.join(', ')}`,
      'the next start is halted until a second person agrees; if this is unintended, lower them',
    );
}
