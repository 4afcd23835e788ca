import type { Channel, Message, Undelivered } from '../../../src/operate/notify/channel.ts';

/** A channel that stores its messages and fails as long as `fault` is set. */
export interface RecordingChannel extends Channel {
  readonly messages: Message[];
  readonly tried: Message[];
  fault: Undelivered | undefined;
}

export function recordingChannel(differs: Partial<Channel> = {}): RecordingChannel {
  const [messages, tried]: [Message[], Message[]] = [[], []];
  const made: RecordingChannel = {
    name: 'chat',
    severity: 'info',
    messages,
    tried,
    fault: undefined,
    async send(message) {
      await Promise.resolve();
      tried.push(message);
      if (made.fault !== undefined) throw made.fault;
      messages.push(message);
    },
    ...differs,
  };
  return made;
}
