import type { ServerResponse } from 'node:http';

/** Bytes that may wait for a client that reads too slowly. Beyond it the client is dropped: it never holds up the desk. */
const WAITING_BYTES_MAX = 256 * 1024;
const CLIENTS_MAX = 16;

/** Server-sent events for listeners. Nothing waits for a listener. */
export class EventStream {
  readonly #clients = new Set<ServerResponse>();
  #dropped = 0;

  /** Listeners that were dropped because they did not read. */
  get dropped(): number {
    return this.#dropped;
  }

  get listeners(): number {
    return this.#clients.size;
  }

  get isFull(): boolean {
    return this.#clients.size >= CLIENTS_MAX;
  }

  /** Takes a response over until its client goes. */
  add(response: ServerResponse): void {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.write(': tranche\n\n');
    this.#clients.add(response);
    response.on('error', () => this.#clients.delete(response));
    response.on('close', () => this.#clients.delete(response));
  }

  /** `event` is one object; `id` increases. Costs nothing without listeners. */
  publish(id: number, event: object): void {
    if (this.#clients.size === 0) return;
    const text = `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
    for (const client of this.#clients) {
      if (client.writableLength + text.length > WAITING_BYTES_MAX) {
        this.#clients.delete(client);
        this.#dropped += 1;
        client.destroy();
      } else client.write(text);
    }
  }

  close(): void {
    for (const client of this.#clients) client.destroy();
    this.#clients.clear();
  }
}
