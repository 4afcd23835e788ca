import { Writable } from 'node:stream';

/** What a command that writes to streams has printed, and its exit code. */
export interface Streamed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command on streams that accept little at a time, so that it has to wait for them. */
export async function streamed(
  command: (out: { readonly stdout: Writable; readonly stderr: Writable }) => Promise<number>,
): Promise<Streamed> {
  const [stdout, stderr] = [sink(), sink()];
  const code = await command({ stdout: stdout.stream, stderr: stderr.stream });
  await Promise.all(
    [stdout, stderr].map(async ({ stream }) => await new Promise<void>((done) => stream.end(done))),
  );
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function sink(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    highWaterMark: 16,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      setImmediate(done);
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
