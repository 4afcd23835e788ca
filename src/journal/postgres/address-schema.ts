/**
 * Requests and connections that the processes behind one network address share. None of these rows represents money, so
 * rows are deleted when they no longer count.
 *
 * `exchange_permits` locks the row of the address first, so that the sum after it includes all permits granted before.
 */
export const ADDRESS_STEP = `
  CREATE TABLE address (
    address text NOT NULL,             -- name that the daemons behind it agree on
    kind text NOT NULL,                -- what is limited: requests, or messages of feeds
    timeline text NOT NULL,            -- of the server, when it last granted
    blocked_until timestamptz NOT NULL DEFAULT '-infinity',
    urgent_until timestamptz NOT NULL DEFAULT '-infinity',  -- until then an urgent request may wait
    PRIMARY KEY (address, kind)
  );
  CREATE TABLE address_permit (
    permit bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    address text NOT NULL,
    kind text NOT NULL,
    holder text NOT NULL,              -- process that took them
    permits bigint NOT NULL CHECK (permits >= 0),
    free_at timestamptz NOT NULL,      -- until then they count, on the clock of the server
    FOREIGN KEY (address, kind) REFERENCES address
  );
  CREATE INDEX ON address_permit (address, kind);
  CREATE TABLE address_connection (
    address text NOT NULL,
    slot bigint NOT NULL,              -- 1 up to the most connections of the address
    holder text NOT NULL,
    until timestamptz NOT NULL,        -- unless the holder prolongs it
    PRIMARY KEY (address, slot)
  );

  CREATE FUNCTION exchange_permits(
    of_address text, of_kind text, by_holder text,
    wanted bigint, is_urgent boolean,
    most bigint, reserved bigint,      -- in any window; of them for urgent requests alone
    per_ms double precision, valid_ms double precision, slack_ms double precision,
    used_blocks bigint[], used_ago_ms double precision[], unused_blocks bigint[], unanswered_blocks bigint[],
    told_at timestamptz,               -- for tests; NULL: now
    OUT block bigint, OUT granted bigint, OUT retry_ms double precision, OUT taken bigint
  ) LANGUAGE plpgsql AS $$
  DECLARE
    own tranche.address;
    moment timestamptz;
    here text := coalesce(current_setting('tranche.timeline', true), '');
    room bigint;
  BEGIN
    INSERT INTO tranche.address (address, kind, timeline) VALUES (of_address, of_kind, here) ON CONFLICT DO NOTHING;
    SELECT * INTO own FROM tranche.address a WHERE a.address = of_address AND a.kind = of_kind FOR UPDATE;
    moment := coalesce(told_at, clock_timestamp());
    -- A server that was promoted may have lost what its predecessor granted.
    IF own.timeline <> here THEN
      own.blocked_until := moment + make_interval(secs => (valid_ms + per_ms) / 1000);
      UPDATE tranche.address a SET timeline = here, blocked_until = own.blocked_until
        WHERE a.address = of_address AND a.kind = of_kind;
    END IF;

    UPDATE tranche.address_permit p SET permits = p.permits - told.count
      FROM (SELECT id, count(*) AS count FROM unnest(used_blocks || unused_blocks) AS id GROUP BY id) told
      WHERE p.permit = told.id AND p.holder = by_holder;
    INSERT INTO tranche.address_permit (address, kind, holder, permits, free_at)
      SELECT of_address, of_kind, by_holder, 1, moment + make_interval(secs => (per_ms - ago) / 1000)
      FROM unnest(used_ago_ms) AS ago;
    UPDATE tranche.address_permit p SET free_at = greatest(p.free_at, moment + make_interval(secs => (slack_ms + per_ms) / 1000))
      WHERE p.permit = ANY (unanswered_blocks) AND p.holder = by_holder;
    DELETE FROM tranche.address_permit p
      WHERE p.address = of_address AND p.kind = of_kind AND (p.free_at <= moment OR p.permits = 0);

    SELECT coalesce(sum(p.permits), 0) INTO taken FROM tranche.address_permit p
      WHERE p.address = of_address AND p.kind = of_kind;
    room := most - taken - CASE WHEN is_urgent THEN 0 ELSE reserved END;
    IF own.blocked_until > moment OR (own.urgent_until > moment AND NOT is_urgent) THEN room := 0; END IF;
    granted := greatest(0, least(wanted, room));
    block := 0;
    IF granted > 0 THEN
      INSERT INTO tranche.address_permit (address, kind, holder, permits, free_at)
        VALUES (of_address, of_kind, by_holder, granted, moment + make_interval(secs => (valid_ms + slack_ms + per_ms) / 1000))
        RETURNING permit INTO block;
      taken := taken + granted;
    END IF;
    -- Others leave room for an urgent request that waits, for as long as it takes to ask again.
    IF is_urgent AND wanted > 0 THEN
      UPDATE tranche.address a
        SET urgent_until = CASE WHEN granted < wanted THEN moment + make_interval(secs => 0.2) ELSE '-infinity' END
        WHERE a.address = of_address AND a.kind = of_kind
          AND (granted < wanted OR a.urgent_until > moment);
    END IF;
    -- Blocks that were not reported yet may be free sooner than they say.
    SELECT 1000 * extract(epoch FROM min(p.free_at) - moment) INTO retry_ms
      FROM tranche.address_permit p WHERE p.address = of_address AND p.kind = of_kind;
    IF own.blocked_until > moment THEN retry_ms := 1000 * extract(epoch FROM own.blocked_until - moment); END IF;
    IF is_urgent THEN retry_ms := greatest(10, least(coalesce(retry_ms, 10), 100));
    ELSIF own.urgent_until > moment THEN retry_ms := 100;
    ELSE retry_ms := greatest(50, least(coalesce(retry_ms, 50), 1000));
    END IF;
  END $$;
`;

/** The rights on these tables that a role needs to run desks. `name` is quoted. */
export const addressGrants = (name: string): readonly string[] => [
  `GRANT SELECT, INSERT, UPDATE ON tranche.address TO ${name}`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON tranche.address_permit, tranche.address_connection TO ${name}`,
];
