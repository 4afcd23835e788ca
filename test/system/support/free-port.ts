import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections and to servers on port 0, which could take it before it is used. */
const [FIRST, END] = [20_000, 32_000] as const;

/** A port of the loopback address that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue; // in use
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
