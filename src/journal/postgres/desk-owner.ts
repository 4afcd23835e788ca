import { firstValueFrom } from 'rxjs';
import { storageFault } from './postgres-errors.ts';
import { readPostgresUrl } from './postgres-url.ts';
import { ServerSession } from './server-session.ts';

/** The process that holds a desk now. */
export interface HeldDesk {
  /** Names the process and its machine. */
  readonly owner: string;
  readonly address?: string | undefined;
}

/** Longest wait for the server. A standby asks again. */
const TIMEOUT_MS = 5_000;

/** Reads who holds the desk of a journal. Takes nothing. */
export class OwnerReader {
  readonly #session: ServerSession;
  readonly #desk: string;
  readonly #shown: string;

  constructor(url: string) {
    const { connectionString, desk, shown } = readPostgresUrl(url);
    this.#session = new ServerSession({ connectionString, shown, timeoutMs: TIMEOUT_MS });
    this.#desk = desk;
    this.#shown = shown;
  }

  /** The process whose lease lasts; `undefined`: the desk is free, retired, or unknown. @throws OperatorError */
  async read(): Promise<HeldDesk | undefined> {
    try {
      const [row] = await firstValueFrom(
        this.#session.ask({
          text: `SELECT owner, address FROM tranche.desk
            WHERE desk = $1 AND until >= clock_timestamp() AND until < 'infinity'`,
          values: [this.#desk],
        }),
      );
      if (row === undefined) return undefined;
      const [owner, address] = row;
      return { owner: String(owner), address: typeof address === 'string' ? address : undefined };
    } catch (error) {
      throw storageFault(this.#shown, error);
    }
  }

  close(): void {
    this.#session.close();
  }
}
