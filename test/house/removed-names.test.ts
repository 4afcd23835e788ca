import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alerts } from '../../src/core/alerts.ts';
import { reasons } from '../../src/core/reasons.ts';
import { recordKinds } from '../../src/journal/format/record-schema.ts';

const root = join(import.meta.dirname, '../..');
const PLACES = ['src', 'docs', 'config', 'packaging', 'examples', 'strategies', 'README.md', 'SECURITY.md'];

/** Words of what other software does: each as it stood in code, settings, commands, records or texts. */
const REMOVED: Readonly<Record<string, RegExp>> = {
  'a fleet': /\bfleets?\b|hibernat|firm_limit/iu,
  'a twin': /\btwins?\b|twin_/u,
  'tax books': /share_pool|roll_forward|jurisdiction|period_closed|closePeriod/iu,
  'best execution as a publication': /best_execution|monthly pack/iu,
  'an alert manager of our own':
    /watchman|digest_at|notify\.(quiet_hours|topics|windows)|heartbeat\.(while|every)/iu,
  'second mechanisms for a second person':
    /four[_-]eyes|override_ceilings|policy[ _-]test|operate\.policy\b/iu,
  'the account written out': /account sync|account-sync/iu,
  'routes that no desk uses': /keep-state|served_documents|user_transfer/iu,
  'settings that nobody turns':
    /\b(trust_4xx|trust_first_canceled|resending|max_cycles|max_wait|max_collar_discards|max_malformed|max_rejects|max_reference_gap_bps|max_account_age|journal_reserve|catch_up_window|slippage_reference|min_hit_ratio)\b/u,
  'reasons that others also say':
    /\b(below_keep|stale_reference|account_stale|valuation_unavailable|clipped_funds|pts_(never|mode|max_credit|max_carry)|(pair|side)_not_allowed|position_(floor|ceiling)|slice_cap|doubt_notional|reused_key|malformed_streak|collar_far|references_disagree|quote_mismatch|same_failure|strategy_spinning|caught_up|(resolved|stopped)_by_operator)\b/u,
  'an interview and a second checker':
    /tranche doctor|bash-completion|zsh completion|allow_other|node-sums/iu,
  'a cache of known files, and own LZ4': /known-file|encodeLz4|decodeLz4/iu,
  'a server for assistants': /\bmcp\b|model context protocol/iu,
  'what a unit of systemd and a calendar do': /on_change|plan\.ics/iu,
  'resampled histories of backtests': /\bbootstrap|resampl|anchoring/iu,
  'words of other tools': /thesaurus|other-words/iu,
};

const texts = PLACES.flatMap((place) => {
  const path = join(root, place);
  if (place.endsWith('.md')) return [{ path: place, text: readFileSync(path, 'utf8') }];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tsx?|js|md|ya?ml|json|css|html|service)$/u.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: file.slice(root.length + 1), text: readFileSync(file, 'utf8') }));
});

describe('a name of what was removed', () => {
  it.each(Object.entries(REMOVED))('stands nowhere: %s', (_, name) => {
    const found = texts.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, n) => (name.test(line) ? [`${path}:${n + 1}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

  it('is no alert, reason, record kind or command', () => {
    const help = execFileSync(process.execPath, ['bin/tranche.js', '--help'], {
      cwd: root,
      encoding: 'utf8',
    });
    const words = [...Object.keys(alerts), ...Object.keys(reasons), ...recordKinds, help].join('\n');
    expect(Object.values(REMOVED).filter((name) => name.test(words))).toEqual([]);
  });
});
