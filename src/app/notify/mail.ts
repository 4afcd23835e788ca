import { Undelivered } from '../../operate/notify/channel.ts';
import type { Channel } from '../../operate/notify/channel.ts';
import { mailText } from '../../operate/notify/formats.ts';
import type { Secret } from '../config/secret.ts';

export interface MailOptions {
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the first byte. `starttls`: the server must offer it. `none`: only to this machine. */
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly user: string | undefined;
  readonly password: Secret | undefined;
  readonly from: string;
  readonly to: readonly string[];
  /** Certificates of the only authorities to trust, PEM; `undefined`: Node's built-in authorities. */
  readonly ca: string | undefined;
}

const WAIT_MS = 20_000;

/** Sends each message once over SMTP, on a new connection. */
export const mail = (options: MailOptions): Channel['send'] =>
  async function send(message) {
    const { createTransport } = await import('nodemailer');
    const { host, port, tls, user, password, ca } = options;
    const transport = createTransport({
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      ...(user === undefined || password === undefined ? {} : { auth: { user, pass: password.reveal() } }),
      tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
      connectionTimeout: WAIT_MS,
      greetingTimeout: WAIT_MS,
      socketTimeout: WAIT_MS,
      dnsTimeout: WAIT_MS,
      logger: false,
      // A message is plain text; its content must not cause the library to fetch URLs or read files.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
        from: options.from,
        to: [...options.to],
        messageId: `<${message.key}@tranche.invalid>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Tranche-Key': message.key },
        ...mailText(message),
      });
    } catch (cause) {
      throw new Undelivered(whyUnsent(cause)); // omits the cause, whose session log may contain the password
    } finally {
      transport.close();
    }
  };

/** Returns the library's error code and the server's reply code. Omits the reply itself, because it may repeat the message. */
function whyUnsent(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the mail server did not accept the message';
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  const status =
    'responseCode' in cause && typeof cause.responseCode === 'number' ? `, answer ${cause.responseCode}` : '';
  return `the mail server did not accept the message (${code}${status})`;
}
