import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket, createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';

export interface SmtpOptions {
  readonly identity?: { readonly key: string; readonly cert: string } | undefined;
  /** TLS from the first byte; otherwise STARTTLS if there is an identity. */
  readonly isImplicit?: boolean;
}

export interface Received {
  readonly to: readonly string[];
  readonly from: string;
  readonly text: string;
  readonly login: string | undefined;
  readonly isEncrypted: boolean;
}

/** A mail server on loopback that keeps its messages: EHLO, STARTTLS, AUTH PLAIN, MAIL, RCPT, DATA, QUIT (RFC 5321). */
export async function smtpServer({ identity, isImplicit = false }: SmtpOptions = {}): Promise<{
  readonly port: number;
  readonly mails: readonly Received[];
  readonly lines: readonly string[];
}> {
  const mails: Received[] = [];
  const lines: string[] = [];
  const sockets = new Set<Socket>();

  function serve(socket: Socket, isEncrypted: boolean, isFirst = true): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const say = (text: string): void => {
      socket.write(`${text}\r\n`);
    };
    let [text, from, login] = ['', '', undefined as string | undefined];
    let to: string[] = [];
    let isData = false;
    let rest = '';
    const take = (line: string): void => {
      if (isData) {
        if (line !== '.') {
          text += `${line}\n`;
          return;
        }
        isData = false;
        mails.push({ to, from, text, login, isEncrypted });
        say('250 taken');
        return;
      }
      lines.push(line);
      const [verb = ''] = line.toUpperCase().split(/[ :]/u);
      switch (verb) {
        case 'EHLO':
          say('250-test');
          if (identity !== undefined && !isEncrypted) say('250-STARTTLS');
          say('250 AUTH PLAIN');
          break;
        case 'STARTTLS': {
          socket.removeAllListeners('data');
          socket.write('220 go\r\n');
          const secure = new TLSSocket(socket, { isServer: true, key: identity?.key, cert: identity?.cert });
          serve(secure, true, false);
          break;
        }
        case 'AUTH':
          login = Buffer.from(line.split(' ')[2] ?? '', 'base64')
            .toString('utf8')
            .split('\0')
            .slice(1)
            .join(':');
          say(login.endsWith(':wrong-password') ? `535 no such login ${login}` : '235 welcome');
          break;
        case 'MAIL':
          [from, to, text] = [line, [], ''];
          say('250 ok');
          break;
        case 'RCPT':
          to.push(line.replace(/^.*<(.*)>.*$/u, '$1'));
          say('250 ok');
          break;
        case 'DATA':
          isData = true;
          say('354 go on');
          break;
        case 'QUIT':
          say('221 bye');
          socket.end();
          break;
        default:
          say('250 ok');
      }
    };
    socket.on('data', (bytes) => {
      const parts = (rest + bytes.toString('latin1')).split('\r\n');
      rest = parts.pop() ?? '';
      for (const line of parts) take(line);
    });
    if (isFirst) say('220 test ESMTP');
  }

  const server = isImplicit
    ? createTlsServer({ key: identity?.key, cert: identity?.cert }, (socket) => {
        serve(socket, true);
      })
    : createServer((socket) => {
        serve(socket, false);
      });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, mails, lines };
}
