import { OperatorError } from '../../core/errors.ts';
import { ADDRESS_STEP, addressGrants } from './address-schema.ts';
import { FIRM_STEP, firmGrants } from './firm-schema.ts';
import type { BlockingClient, Row } from './blocking-client.ts';

/**
 * Steps that create the tables, in order; none is ever undone. A released step is never edited; add a new step instead.
 * Rows of `record` are never changed. No role has the right to do so, and a trigger refuses it even to the owner.
 *
 * During an upgrade, programs of the previous version use the new tables. Add a step with which they cannot work to
 * `BREAKING`.
 */
const STEPS: readonly string[] = [
  `
  CREATE TABLE desk (
    desk text PRIMARY KEY,
    epoch bigint NOT NULL,             -- raised by every takeover
    owner text NOT NULL,               -- for messages alone
    until timestamptz NOT NULL,        -- end of the lease, on the clock of the server
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
  `,
  `
  CREATE TABLE fleet_version (         -- what a desk is to run: added to, never changed
    desk text NOT NULL,
    version bigint NOT NULL,
    config text NOT NULL,              -- name of the config among the files
    files text NOT NULL,               -- JSON: name to text
    hash text NOT NULL,                -- SHA-256 of both, hex
    author text NOT NULL DEFAULT session_user,
    why text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (desk, version)
  );
  CREATE TABLE fleet_desk (            -- which daemon starts the desk; who may trade is the lease in the table desk
    desk text PRIMARY KEY,
    daemon text
  );
  CREATE TABLE fleet_daemon (
    daemon text PRIMARY KEY,
    instance text NOT NULL,            -- one run of the daemon
    host text NOT NULL,
    capacity bigint NOT NULL,
    is_draining boolean NOT NULL DEFAULT false,
    beat timestamptz NOT NULL
  );
  CREATE TABLE fleet_command (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    verb text NOT NULL CHECK (verb IN ('move', 'drain')),
    desk text,
    epoch bigint,                      -- the desk moves only from this epoch
    daemon text NOT NULL,
    author text NOT NULL DEFAULT session_user,
    why text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE TRIGGER versions_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON fleet_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  CREATE TRIGGER commands_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON fleet_command
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  `,
  `
  ALTER TABLE layout ADD COLUMN works_from bigint NOT NULL DEFAULT 1; -- see worksFrom
  ALTER TABLE fleet_daemon ADD COLUMN program text NOT NULL DEFAULT '0.0.0'; -- version of tranche
  ALTER TABLE fleet_desk ADD COLUMN program text NOT NULL DEFAULT '0.0.0';   -- that ran the desk last
  `,
  `
  ALTER TABLE fleet_version ADD COLUMN person text; -- who put it, in their own words; author is the role of the database
  CREATE TABLE desk_command (          -- what people ask of a desk, whoever owns it
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    desk text NOT NULL,
    epoch bigint,                      -- the owner that may execute it; null: any owner
    path text NOT NULL,                -- of the API
    body text NOT NULL,                -- JSON
    caller text,                       -- JSON: the person whom a daemon has identified; null: the role of the database
    author text NOT NULL DEFAULT session_user,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    until timestamptz                  -- not executed afterwards; null: it waits for an owner
  );
  CREATE TABLE desk_answer (
    command bigint PRIMARY KEY REFERENCES desk_command,
    desk text NOT NULL,
    epoch bigint,                      -- of the owner that began it
    ended timestamptz,
    status bigint,                     -- as the API has it; 410: void
    answer text                        -- JSON
  );
  CREATE INDEX desk_answer_open ON desk_answer (desk) WHERE ended IS NULL;
  CREATE TABLE desk_status (           -- how a desk is, as its owner last said
    desk text PRIMARY KEY,
    epoch bigint NOT NULL,
    at timestamptz NOT NULL,
    body text NOT NULL                 -- JSON
  );
  CREATE TRIGGER commands_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON desk_command
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  CREATE FUNCTION notify_desk() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_notify('tranche_command', NEW.desk); RETURN NULL; END $$;
  CREATE TRIGGER command_wakes AFTER INSERT ON desk_command
    FOR EACH ROW EXECUTE FUNCTION notify_desk();
  `,
  ADDRESS_STEP,
  FIRM_STEP,
  `
  CREATE TABLE desk_token (            -- the venue token of each desk, encrypted with a key that the database never has
    desk text PRIMARY KEY REFERENCES desk,
    version bigint NOT NULL,
    sealed text NOT NULL,
    person text,                       -- who put it, in their own words; null: the owner of the desk
    why text NOT NULL,
    author text NOT NULL,              -- role of the database
    at timestamptz NOT NULL
  );
  `,
  `
  ALTER TABLE fleet_desk ADD COLUMN resumes_at timestamptz; -- its process has ended until then; null: it is to run
  `,
];

/** Numbers of the steps with which programs for earlier layouts cannot work. A step that only adds something is not one of them. */
const BREAKING: readonly number[] = [];

/** Layout that this version reads and writes. */
export const LAYOUT = STEPS.length;

/** The step that added `works_from`. */
const NOTES_COMPATIBILITY = 3;

/** Oldest layout whose programs work with the tables after step `step`. */
const worksFrom = (step: number): number => BREAKING.findLast((breaking) => breaking <= step) ?? 1;

/** Reads the layout of the tables and the oldest layout whose programs work with them. */
export const LAYOUT_OF = `SELECT coalesce(max(step), 0), coalesce(max((to_jsonb(l) ->> 'works_from')::bigint), 1)
  FROM tranche.layout l`;

/** Why this program cannot use tables with this response to LAYOUT_OF; `undefined` when it can. `shown` names the database. */
export function layoutProblem(shown: string, [step, oldest]: Row = [0, 1]): OperatorError | undefined {
  const [now, from] = [Number(step), Number(oldest)];
  if (now < LAYOUT)
    return new OperatorError(
      now === 0 ? 'storage' : 'data',
      now === 0
        ? `${shown}: the database has no journals. Check the URL, or run "tranche journal prepare" first.`
        : `${shown} has layout ${now}, this version of tranche needs ${LAYOUT}. Run "tranche journal prepare" to migrate it.`,
    );
  return from > LAYOUT
    ? new OperatorError(
        'data',
        `${shown} has layout ${now}, which versions of tranche before layout ${from} cannot use; this one has ${LAYOUT}. Run a newer version.`,
      )
    : undefined;
}

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
       INSERT INTO layout ${number < NOTES_COMPATIBILITY ? `VALUES (${number})` : `VALUES (${number}, ${worksFrom(number)})`};
     END IF;
   END $step$`;

/** @throws OperatorError `storage` when there are no tables, `data` when this version cannot use them. */
export function checkLayout(client: BlockingClient, shown: string): void {
  const problem = layoutProblem(
    `journal ${shown}`,
    hasTables(client) ? client.query(LAYOUT_OF)[0] : undefined,
  );
  if (problem !== undefined) throw problem;
}

/** Layout of the existing tables; 0 without tables. @throws PostgresFault */
export function layoutOf(client: BlockingClient): number {
  if (!hasTables(client)) return 0;
  const [[step] = []] = client.query(LAYOUT_OF);
  return Number(step);
}

/** Returns one row with one boolean. */
export const HAS_TABLES = "SELECT to_regclass('tranche.layout') IS NOT NULL";

const hasTables = (client: BlockingClient): boolean => client.query(HAS_TABLES)[0]?.[0] === true;

/** The rights that a role needs to run desks, and no other rights. The name is quoted. */
export const grants = (role: string): readonly string[] => {
  const name = `"${role.replaceAll('"', '""')}"`;
  return [
    `GRANT USAGE ON SCHEMA tranche TO ${name}`,
    `GRANT SELECT ON tranche.layout TO ${name}`,
    `GRANT SELECT, INSERT ON tranche.record, tranche.evidence TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE ON tranche.desk TO ${name}`,
    // Excludes the author and the time, which the server sets.
    `GRANT SELECT ON tranche.fleet_version, tranche.fleet_command, tranche.desk_command TO ${name}`,
    `GRANT INSERT (desk, version, config, files, hash, why, person) ON tranche.fleet_version TO ${name}`,
    `GRANT INSERT (desk, epoch, path, body, caller, until) ON tranche.desk_command TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE ON tranche.desk_answer, tranche.desk_status TO ${name}`,
    `GRANT INSERT (verb, desk, epoch, daemon, why) ON tranche.fleet_command TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE ON tranche.fleet_desk TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON tranche.fleet_daemon TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE ON tranche.desk_token TO ${name}`,
    ...addressGrants(name),
    ...firmGrants(name),
  ];
};
