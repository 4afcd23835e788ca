/**
 * Firm limits over all desks of a mode. `firm_count` runs in the transaction that adds records. It locks one row, so
 * that the firm's desks reserve one after the other. It then reads the records that the desk's journal has gained since
 * the last count, and refuses an intent that would exceed a limit. It reads the journal rather than the statement's
 * records, so that it counts exactly once both a statement that is sent again and records of a version that did not
 * count.
 *
 * A reservation ends only with the record of its outcome. An owner that dies leaves its reservations, and the next
 * owner resolves them.
 */
export const FIRM_STEP = `
  CREATE TABLE firm_limits (           -- added to, never changed: the newest of a mode counts
    version bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    mode text NOT NULL,
    currency text NOT NULL,            -- of the notional
    day_notional numeric CHECK (day_notional > 0),
    open_doubts bigint CHECK (open_doubts > 0),
    positions text NOT NULL,           -- JSON: currency to the largest position, long or short
    person text NOT NULL,
    author text NOT NULL DEFAULT session_user,
    why text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE TRIGGER limits_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON firm_limits
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  CREATE TABLE firm_lock (is_only boolean PRIMARY KEY CHECK (is_only));
  INSERT INTO firm_lock VALUES (true);
  CREATE TABLE firm_desk (
    desk text PRIMARY KEY,
    mode text NOT NULL DEFAULT 'unknown',
    currency text NOT NULL DEFAULT 'usd', -- of the limits of the desk
    seq bigint NOT NULL DEFAULT 0      -- newest record that was counted
  );
  CREATE TABLE firm_order (
    desk text NOT NULL,
    client_order_id text NOT NULL,
    seq bigint NOT NULL,               -- of the intent
    epoch bigint NOT NULL,             -- of the owner that wrote it
    mode text NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'doubt', 'refused', 'traded')),
    refusal text,
    base text NOT NULL,
    quantity numeric NOT NULL,         -- negative: sold
    notional numeric NOT NULL,
    day date NOT NULL,                 -- UTC
    PRIMARY KEY (desk, client_order_id)
  );
  CREATE INDEX firm_order_open ON firm_order (mode) WHERE state IN ('open', 'doubt');
  CREATE TABLE firm_day (
    mode text NOT NULL,
    day date NOT NULL,
    notional numeric NOT NULL,         -- traded
    PRIMARY KEY (mode, day)
  );
  CREATE TABLE firm_position (
    mode text NOT NULL,
    base text NOT NULL,
    quantity numeric NOT NULL,         -- bought less sold, of all journals
    PRIMARY KEY (mode, base)
  );

  CREATE FUNCTION firm_trade(of_mode text, of_day date, of_base text, more_quantity numeric, more_notional numeric)
  RETURNS void LANGUAGE sql AS $$
    INSERT INTO tranche.firm_day AS d VALUES (of_mode, of_day, more_notional)
      ON CONFLICT (mode, day) DO UPDATE SET notional = d.notional + more_notional;
    INSERT INTO tranche.firm_position AS p VALUES (of_mode, of_base, more_quantity)
      ON CONFLICT (mode, base) DO UPDATE SET quantity = p.quantity + more_quantity;
  $$;

  CREATE FUNCTION firm_refusal(own tranche.firm_desk, of_base text, ordered numeric, worth numeric, today date)
  RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    most tranche.firm_limits;
    ceiling numeric;
    total numeric;
  BEGIN
    SELECT * INTO most FROM tranche.firm_limits l WHERE l.mode = own.mode ORDER BY version DESC LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
    IF most.day_notional IS NOT NULL THEN
      IF own.currency <> most.currency THEN
        RETURN format('the limits of the desk are in %s, those of the firm in %s', own.currency, most.currency);
      END IF;
      IF worth <= 0 THEN RETURN 'the order has no known value for the limit of the day'; END IF;
      SELECT coalesce(sum(o.notional), 0) + worth INTO total FROM tranche.firm_order o
        WHERE o.mode = own.mode AND o.state IN ('open', 'doubt');
      total := total + coalesce((SELECT d.notional FROM tranche.firm_day d WHERE d.mode = own.mode AND d.day = today), 0);
      IF total > most.day_notional THEN
        RETURN format('day notional of the firm: limit=%s value=%s %s', most.day_notional, total, most.currency);
      END IF;
    END IF;
    IF most.open_doubts IS NOT NULL THEN
      -- What a former owner left open may have traded.
      SELECT count(*) INTO total FROM tranche.firm_order o JOIN tranche.desk d USING (desk)
        WHERE o.mode = own.mode AND (o.state = 'doubt' OR (o.state = 'open' AND o.epoch < d.epoch));
      IF total >= most.open_doubts THEN
        RETURN format('open doubts of the firm: limit=%s value=%s', most.open_doubts, total);
      END IF;
    END IF;
    ceiling := (most.positions::jsonb ->> of_base)::numeric;
    IF ceiling IS NOT NULL THEN
      -- Open orders of the other side may not trade.
      SELECT coalesce(sum(o.quantity), 0) + ordered INTO total FROM tranche.firm_order o
        WHERE o.mode = own.mode AND o.base = of_base AND o.state IN ('open', 'doubt') AND sign(o.quantity) = sign(ordered);
      total := total + coalesce((SELECT p.quantity FROM tranche.firm_position p WHERE p.mode = own.mode AND p.base = of_base), 0);
      IF total * sign(ordered) > ceiling THEN
        RETURN format('position of the firm in %s: limit=%s value=%s', of_base, ceiling, total);
      END IF;
    END IF;
    RETURN NULL;
  END $$;

  CREATE FUNCTION firm_count(of_desk text, of_epoch bigint, from_seq bigint, added bigint)
  RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    own tranche.firm_desk;
    known tranche.firm_order;
    line record;
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    on_day date;
    direction numeric;
    moved numeric;
    worth numeric;
    refusal text;
  BEGIN
    IF NOT EXISTS (SELECT FROM tranche.firm_limits) THEN RETURN NULL; END IF;
    PERFORM FROM tranche.firm_lock FOR UPDATE;
    INSERT INTO tranche.firm_desk (desk) VALUES (of_desk) ON CONFLICT DO NOTHING;
    SELECT * INTO own FROM tranche.firm_desk d WHERE d.desk = of_desk;
    FOR line IN SELECT r.seq, r.at, r.kind, r.epoch, r.body::jsonb AS body FROM tranche.record r
      WHERE r.desk = of_desk AND r.seq > own.seq AND r.kind IN ('started', 'reload', 'intent', 'attempt', 'fill', 'correction')
      ORDER BY r.seq
    LOOP
      -- The day is the server's, save for records of long ago that are counted late or were copied.
      on_day := CASE WHEN line.seq >= from_seq AND line.at > extract(epoch FROM clock_timestamp()) * 1000 - 3600000
        THEN today ELSE (to_timestamp(line.at / 1000.0) AT TIME ZONE 'UTC')::date END;
      own.seq := line.seq;
      direction := CASE WHEN line.body ->> 'side' = 'sell' THEN -1 ELSE 1 END;
      SELECT * INTO known FROM tranche.firm_order o
        WHERE o.desk = of_desk AND o.client_order_id = line.body ->> 'client_order_id';
      CASE line.kind
      WHEN 'started' THEN
        own.mode := line.body ->> 'mode';
        own.currency := coalesce(line.body -> 'limits' ->> 'currency', 'usd');
      WHEN 'reload' THEN
        own.currency := coalesce(line.body -> 'limits' ->> 'currency', own.currency);
      WHEN 'intent' THEN
        worth := (line.body ->> 'notional_usd')::numeric;
        -- What an amount buys is known with the quote: a tenth more than at the reference price.
        moved := direction * (line.body ->> 'size')::numeric
          * CASE line.body ->> 'by' WHEN 'amount' THEN 1.1 / (line.body ->> 'reference_price')::numeric ELSE 1 END;
        refusal := CASE WHEN line.seq >= from_seq
          THEN tranche.firm_refusal(own, line.body ->> 'base', moved, worth, today) END;
        INSERT INTO tranche.firm_order VALUES (of_desk, line.body ->> 'client_order_id', line.seq, line.epoch, own.mode,
          CASE WHEN refusal IS NULL THEN 'open' ELSE 'refused' END, refusal, line.body ->> 'base', moved, worth, on_day)
          ON CONFLICT DO NOTHING;
      WHEN 'attempt' THEN
        UPDATE tranche.firm_order o SET state = 'doubt' WHERE o.desk = of_desk
          AND o.client_order_id = known.client_order_id AND o.state = 'open' AND line.body ->> 'result' = 'doubt';
        DELETE FROM tranche.firm_order o WHERE o.desk = of_desk AND o.client_order_id = known.client_order_id
          AND o.state <> 'traded' AND line.body ->> 'result' IN ('discarded', 'rejected', 'absent');
      WHEN 'fill' THEN
        -- A part that the account does not show may have traded as well.
        moved := direction * ((line.body ->> 'quantity')::numeric + coalesce((line.body -> 'missing' ->> 'quantity')::numeric, 0));
        worth := (line.body ->> 'notional_usd')::numeric + coalesce((line.body -> 'missing' ->> 'notional_usd')::numeric, 0);
        PERFORM tranche.firm_trade(own.mode, on_day, line.body ->> 'base', moved, worth);
        INSERT INTO tranche.firm_order AS o VALUES (of_desk, line.body ->> 'client_order_id', line.seq, line.epoch, own.mode,
          'traded', NULL, line.body ->> 'base', moved, worth, on_day)
          ON CONFLICT (desk, client_order_id) DO UPDATE SET state = 'traded', day = excluded.day,
            quantity = excluded.quantity + CASE o.state WHEN 'traded' THEN o.quantity ELSE 0 END,
            notional = excluded.notional + CASE o.state WHEN 'traded' THEN o.notional ELSE 0 END;
      WHEN 'correction' THEN
        IF known.state = 'traded' AND (line.body ->> 'was_amount')::numeric > 0 THEN
          moved := sign(known.quantity) * ((line.body ->> 'quantity')::numeric - (line.body ->> 'was_quantity')::numeric);
          worth := known.notional * ((line.body ->> 'amount')::numeric / (line.body ->> 'was_amount')::numeric - 1);
          PERFORM tranche.firm_trade(known.mode, known.day, known.base, moved, worth);
          UPDATE tranche.firm_order o SET quantity = o.quantity + moved, notional = o.notional + worth
            WHERE o.desk = of_desk AND o.client_order_id = known.client_order_id;
        END IF;
      END CASE;
    END LOOP;
    UPDATE tranche.firm_desk d SET mode = own.mode, currency = own.currency, seq = own.seq WHERE d.desk = of_desk;
    RETURN (SELECT jsonb_object_agg(o.client_order_id, o.refusal)::text FROM tranche.firm_order o
      WHERE o.desk = of_desk AND o.seq >= from_seq AND o.state = 'refused');
  END $$;
`;

/** The rights on these tables that a role needs to run desks. `name` is quoted. */
export const firmGrants = (name: string): readonly string[] => [
  `GRANT SELECT ON tranche.firm_limits TO ${name}`,
  `GRANT INSERT (mode, currency, day_notional, open_doubts, positions, person, why) ON tranche.firm_limits TO ${name}`,
  `GRANT SELECT, UPDATE ON tranche.firm_lock TO ${name}`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON tranche.firm_desk, tranche.firm_order, tranche.firm_day, tranche.firm_position TO ${name}`,
];
