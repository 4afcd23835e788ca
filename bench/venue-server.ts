/** The servers of `bench/venue.ts`, each in its own process: the simulated venue, or an echo that answers as many bytes. */
import { createServer } from 'node:http';
import process from 'node:process';
import { systemClock } from '../src/app/daemon/clock.ts';
import { startVenue } from '../src/simulator/venue.ts';

export interface Told {
  readonly port: number;
  readonly token: string;
}

/** Starts the echo: the client supplies the answer for each path, and other requests return their own body. */
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
      quoteLifeMs: 30_000,
    },
    { clock: systemClock },
  );
  return { port: Number(new URL(running.baseUrl).port), token: running.tokens[0] ?? '' };
}

process.on('disconnect', () => process.exit());
const [answers] = process.argv.slice(2);
const told =
  answers === undefined ? await venue() : await echo(JSON.parse(answers) as Readonly<Record<string, string>>);
process.send?.(told);
