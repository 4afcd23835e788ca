import { OperatorError } from '../../core/errors.ts';
import type { BlockingClient, Statement } from './blocking-client.ts';
import { SYSTEM, TIMELINE_NUMBER } from './server-settings.ts';

/**
 * Steps that create the tables, in order; none is ever undone. A released step is never edited; add a new step instead.
 * Rows of `record` are never changed. No role has the right to do so, and a trigger refuses it even to the owner.
 *
 * Row-level security gives a role the desks whose row names it, and nothing else. The owner of the tables, who prepares
 * the database, is not bound by it.
 */
const STEPS: readonly string[] = [
  `
  CREATE TABLE desk (
    desk text PRIMARY KEY,
    role name NOT NULL,                -- the role of the database that may hold the desk
    epoch bigint NOT NULL,             -- raised by every takeover
    owner text NOT NULL,               -- for messages alone
    address text,                      -- URL of the owner's API, for messages alone; null: it serves none
    until timestamptz NOT NULL,        -- end of the lease, on the clock of the server
    requests text,                     -- last requests of an owner that released the desk, JSON: handed-over.ts
    released timestamptz,
    system_identifier text NOT NULL,   -- of the cluster that granted the lease
    timeline bigint NOT NULL
  );
  CREATE TABLE record (
    desk text NOT NULL REFERENCES desk,
    seq bigint NOT NULL,
    at bigint NOT NULL,                -- Unix ms
    kind text NOT NULL,
    body text NOT NULL,                -- canonical JSON
    hash text NOT NULL,                -- SHA-256, hex: link.ts
    epoch bigint NOT NULL,             -- of the owner that wrote it
    PRIMARY KEY (desk, seq)
  );
  CREATE TABLE evidence (              -- what an owner learnt after it was replaced: no hash covers it
    desk text NOT NULL REFERENCES desk,
    epoch bigint NOT NULL,
    at bigint NOT NULL,                -- Unix ms
    bodies text NOT NULL               -- records that it would have written, JSON
  );
  CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'records are never changed or removed'; END $$;
  CREATE TRIGGER records_stay BEFORE UPDATE OR DELETE ON record
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
  CREATE TRIGGER records_stay_all BEFORE TRUNCATE ON record
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  ALTER TABLE desk ENABLE ROW LEVEL SECURITY;
  ALTER TABLE record ENABLE ROW LEVEL SECURITY;
  ALTER TABLE evidence ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own_desk ON desk USING (role = current_user);
  -- A role sees only its own rows of the table desk.
  CREATE POLICY own_records ON record USING (desk IN (SELECT d.desk FROM tranche.desk d));
  CREATE POLICY own_evidence ON evidence USING (desk IN (SELECT d.desk FROM tranche.desk d));
  `,
];

/** Layout that this version reads and writes. */
export const LAYOUT = STEPS.length;

/** Reads the layout of the tables. */
const LAYOUT_OF = 'SELECT coalesce(max(step), 0) FROM tranche.layout';

/** Advisory lock of this program, distinct from those of other programs in the database. */
const LOCK = 7_216_042_001;

/** Brings the tables to the layout of this version: one transaction, one process at a time. @throws PostgresFault */
export function migrate(client: BlockingClient, shown: string): void {
  const now = layoutOf(client);
  if (now >= LAYOUT) {
    checkLayout(client, shown);
    return;
  }
  client.transaction([
    { text: 'SELECT pg_advisory_xact_lock($1)', values: [LOCK] },
    { text: 'CREATE SCHEMA IF NOT EXISTS tranche' },
    { text: 'CREATE TABLE IF NOT EXISTS tranche.layout (step bigint PRIMARY KEY)' },
    { text: 'SET LOCAL search_path = tranche' },
    // Another process may have taken the step between the first check and the lock.
    ...STEPS.slice(now).map((step, index) => ({ text: onceOnly(now + index + 1, step) })),
  ]);
}

const onceOnly = (number: number, step: string): string =>
  `DO $step$ BEGIN
     IF NOT EXISTS (SELECT FROM layout WHERE step = ${number}) THEN
       ${step.replaceAll('$$', '$body$')}
       INSERT INTO layout VALUES (${number});
     END IF;
   END $step$`;

/** @throws OperatorError `storage` when there are no tables, `data` when this version cannot use them. */
export function checkLayout(client: BlockingClient, shown: string): void {
  const now = layoutOf(client);
  if (now === LAYOUT) return;
  const journal = `journal ${shown}`;
  if (now === 0)
    throw new OperatorError(
      'storage',
      `${journal}: the database has no journals. Check the URL, or run "tranche journal prepare" first.`,
    );
  throw new OperatorError(
    'data',
    now < LAYOUT
      ? `${journal} has layout ${now}, this version of tranche needs ${LAYOUT}. Run "tranche journal prepare" to migrate it.`
      : `${journal} has layout ${now}, this version of tranche has ${LAYOUT}. Run a newer version.`,
  );
}

/** Layout of the existing tables; 0 without tables. @throws PostgresFault */
export function layoutOf(client: BlockingClient): number {
  if (!hasTables(client)) return 0;
  const [[step] = []] = client.query(LAYOUT_OF);
  return Number(step);
}

const hasTables = (client: BlockingClient): boolean =>
  client.query("SELECT to_regclass('tranche.layout') IS NOT NULL")[0]?.[0] === true;

/** The rights that a role needs to run one desk, and no other rights. */
export const grants = (desk: string, role: string): readonly Statement[] => {
  const name = `"${role.replaceAll('"', '""')}"`;
  return [
    { text: `GRANT USAGE ON SCHEMA tranche TO ${name}` },
    { text: `GRANT SELECT ON tranche.layout TO ${name}` },
    { text: `GRANT SELECT, INSERT ON tranche.record, tranche.evidence TO ${name}` },
    { text: `GRANT SELECT ON tranche.desk TO ${name}` },
    // Excludes the desk and its role.
    {
      text: `GRANT UPDATE (epoch, owner, address, until, requests, released, system_identifier, timeline) ON tranche.desk TO ${name}`,
    },
    {
      text: `INSERT INTO tranche.desk (desk, role, epoch, owner, until, system_identifier, timeline)
        VALUES ($1, $2, 0, '', '-infinity', ${SYSTEM}, ${TIMELINE_NUMBER})
        ON CONFLICT (desk) DO UPDATE SET role = excluded.role`,
      values: [desk, role],
    },
  ];
};
