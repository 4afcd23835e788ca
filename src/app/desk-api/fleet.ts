import type { z } from 'zod';
import type { status } from '../../operate/api/schema-desk.ts';
import type { AnswerOf } from '../../operate/api/desk-reads.ts';
import { readTokenFile } from '../config/credential.ts';
import type { FleetMember } from '../config/config-values.ts';
import { exchange, whyUnanswered } from '../daemon/post-outside.ts';

export type FleetRow = AnswerOf<'/api/v1/fleet'>['items'][number];
type Status = z.output<typeof status>;

const ANSWER_MS = 3_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
/** Time for which the fleet reuses its responses, so that many viewers query the other desks no more often than one viewer. */
const FRESH_MS = 2_000;

/** Returns the row of a desk from its status. Every desk is independent; live figures are never added to paper figures. */
export const fleetRow = (name: string, url: string | undefined, said: Status): FleetRow => ({
  name,
  url,
  desk: said.desk,
  mode: said.mode,
  state: said.state,
  version: said.version,
  not_ready: said.not_ready,
  open_alerts: said.open_alerts,
  open_doubts: said.open_doubts.length,
  fills: said.fills,
  day_notional: said.limits.day_notional,
  data_age_s: said.account_read_age_s,
});

/** Queries the other desks simultaneously, and waits at most three seconds for each. */
export class Fleet {
  readonly #members: readonly FleetMember[];
  readonly #now: () => number;
  #kept: { readonly at: number; readonly rows: Promise<readonly FleetRow[]> } | undefined;
  /** Each desk's last response, with its time. */
  readonly #heard = new Map<string, { readonly at: number; readonly row: FleetRow }>();

  constructor(members: readonly FleetMember[], now: () => number) {
    this.#members = members;
    this.#now = now;
  }

  async rows(): Promise<readonly FleetRow[]> {
    const at = this.#now();
    if (this.#kept === undefined || at - this.#kept.at > FRESH_MS)
      this.#kept = { at, rows: Promise.all(this.#members.map(async (one) => await this.#row(one))) };
    return await this.#kept.rows;
  }

  /** Returns the row of a desk. A desk that does not respond keeps its mode, and shows the time since its last response. */
  async #row(member: FleetMember): Promise<FleetRow> {
    const row = await askedRow(member);
    const at = this.#now();
    if (row.error === undefined) {
      this.#heard.set(member.name, { at, row });
      return row;
    }
    const last = this.#heard.get(member.name);
    if (last === undefined) return row;
    const { desk, mode } = last.row;
    return { ...row, desk, mode, silent_s: (at - last.at) / 1_000 };
  }
}

async function askedRow({ name, url, tokenFile }: FleetMember): Promise<FleetRow> {
  const failed = (error: string): FleetRow => ({ name, url, not_ready: [], open_alerts: [], error });
  const token = readTokenFile(tokenFile);
  if ('problem' in token) return failed(`token_file: ${token.problem}`);
  try {
    const { status: code, body } = await exchange(`${url}/api/v1/status`, {
      method: 'GET',
      headers: { authorization: `Bearer ${token.text}` },
      timeoutMs: ANSWER_MS,
      bytesMax: ANSWER_BYTES_MAX,
    });
    if (code === 401 || code === 403) return failed('it rejected the token');
    if (code !== 200) return failed(`it responds with status ${code}`);
    // Accepts the status of another desk only if it matches the schema.
    const { status: schema } = await import('../../operate/api/schema-desk.ts');
    const read = schema.loose().safeParse(JSON.parse(body.toString('utf8')));
    return read.success
      ? fleetRow(name, url, read.data)
      : failed('its status comes from an incompatible version');
  } catch (cause) {
    return failed(cause instanceof SyntaxError ? 'its response is not JSON' : whyUnanswered(cause));
  }
}
