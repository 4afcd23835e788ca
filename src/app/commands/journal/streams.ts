import { fstatSync } from 'node:fs';
import process from 'node:process';
import { Writable } from 'node:stream';
import { onTerminal } from '../../../core/text/escape.ts';
import { writeWhole } from '../../daemon/write-whole.ts';

/** Returns the streams themselves, so that exports wait for a slow reader. If the reader closes the pipe, that is not an error. */
export function streams(): { readonly stdout: Writable; readonly stderr: Writable } {
  const stderr = ofScreen(STDERR, process.stderr);
  const stdout = fstatSync(STDOUT).isFile() ? toFile(STDOUT) : ofScreen(STDOUT, process.stdout);
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
  return { stdout, stderr };
}

const STDOUT = 1;
const STDERR = 2;

/** Escapes text for a terminal, so that journal content cannot control it. */
const ofScreen = (file: number, stream: Writable): Writable =>
  fstatSync(file).isCharacterDevice()
    ? new Writable({
        decodeStrings: false,
        write(chunk: string | Uint8Array, _encoding, done) {
          stream.write(onTerminal(Buffer.from(chunk).toString()), done);
        },
      })
    : stream;

/** Writes to a file. Node's own stream treats a partial write as complete, which can happen when the disk is nearly full. */
const toFile = (file: number): Writable =>
  new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      done(writeWhole(file, chunk).why);
    },
  });
