/** What `bench/venue.ts` measures, in a thread of its own: the simulated venue, or an echo that answers as much. */
import { createServer } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../src/app/clock.ts';
import { startVenue } from '../src/simulator/venue.ts';

export interface Told {
  readonly port: number;
  readonly token: string;
}

/** The body and its size are the client's; the answer is a text that the client of the echo names by its path. */
async function echo(answers: Readonly<Record<string, string>>): Promise<Told> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = answers[request.url ?? ''] ?? Buffer.concat(chunks).toString();
      response
        .writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) })
        .end(answer);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, token: 'echo' };
}

async function venue(): Promise<Told> {
  const running = await startVenue(
    {
      accounts: [{ balances: { usd: '100000000000', btc: '1000000' } }],
      limits: { enforced: false },
      quoteLifeMs: 3_600_000,
    },
    { clock: systemClock },
  );
  return { port: Number(new URL(running.baseUrl).port), token: running.tokens[0] ?? '' };
}

const { answers } = workerData as { readonly answers: Readonly<Record<string, string>> | undefined };
const told = answers === undefined ? await venue() : await echo(answers);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(told);
