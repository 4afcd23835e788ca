import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** An answer that takes longer is a finding about its request, not a reason to wait for ever. */
const ANSWER_MAX_MS = 20_000;

/** A client that sends bytes as they are, and reconnects when the venue has had enough. */
export class RawClient implements Disposable {
  private readonly port: number;
  private socket: Socket | undefined;

  constructor(baseUrl: string) {
    this.port = Number(new URL(baseUrl).port);
  }

  /** The answer; `undefined` when the connection ended without one, or none came in time. */
  async send(bytes: string | Buffer): Promise<RawAnswer | undefined> {
    const socket = await this.open();
    const { promise, resolve } = Promise.withResolvers<RawAnswer | undefined>();
    const isHead = typeof bytes === 'string' && bytes.startsWith('HEAD ');
    let text = '';
    const take = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      const answer = readAnswer(text, isHead);
      if (answer !== undefined) resolve(answer);
    };
    const end = (): void => {
      this.socket = undefined;
      resolve(undefined);
    };
    socket.on('data', take).once('close', end);
    const tooLate = setTimeout(() => socket.destroy(), ANSWER_MAX_MS);
    socket.write(bytes);
    const answer = await promise;
    clearTimeout(tooLate);
    socket.off('data', take).off('close', end);
    if (answer?.headers.get('connection') === 'close') this[Symbol.dispose]();
    return answer;
  }

  [Symbol.dispose](): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private async open(): Promise<Socket> {
    if (this.socket !== undefined && !this.socket.destroyed) return this.socket;
    const socket = connect(this.port, '127.0.0.1');
    // A venue that hangs up while we still write is a fine answer.
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    this.socket = socket;
    return socket;
  }
}

/** The answer to HEAD has a length and no body. */
function readAnswer(text: string, isHead: boolean): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = text.slice(end + 4);
  const length = isHead ? 0 : Number(headers.get('content-length') ?? 0);
  return body.length < length ? undefined : { status: Number(first.split(' ')[1]), headers, body };
}

/** A request as text; `content-length` is added. */
export function rawRequest(
  line: string,
  { token, body, headers = [] }: { token: string; body?: string | undefined; headers?: readonly string[] },
): string {
  const length = body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  return `${[`${line} HTTP/1.1`, 'host: venue', `authorization: Bearer ${token}`, ...headers, ...length].join('\r\n')}\r\n\r\n${body ?? ''}`;
}
