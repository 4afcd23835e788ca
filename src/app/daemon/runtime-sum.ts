import { createHash } from 'node:crypto';
import { closeSync, readSync } from 'node:fs';
import { OperatorError } from '../../core/errors.ts';
import { openRegularFile } from '../../files/regular-file.ts';
import { nodeSums } from './node-sums.ts';

const PIECE_BYTES = 1024 * 1024;

/** SHA-256 of a file, hex. @throws FileRefusal, or the system's own error. */
export function sumOf(path: string): string {
  const { file } = openRegularFile(path);
  try {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece))
      hash.update(piece.subarray(0, read));
    return hash.digest('hex');
  } finally {
    closeSync(file);
  }
}

/** The program that runs this, whatever lies under its name by now. */
export const runningBinary = (): string =>
  process.platform === 'linux' ? '/proc/self/exe' : process.execPath;

/**
 * Holds the binary of Node against the list of this version.
 *
 * @throws OperatorError `config` when it is not in the list.
 */
export function refuseOtherRuntime(
  binary: string = runningBinary(),
  sums: Readonly<Record<string, { readonly sha256: string }>> = nodeSums.binaries,
): void {
  const sum = sumOf(binary);
  if (Object.values(sums).some(({ sha256 }) => sha256 === sum)) return;
  throw new OperatorError(
    'config',
    [
      `live mode refuses to start with this Node: the SHA-256 of ${process.execPath} (${process.version}) is`,
      `  ${sum}`,
      `which is none of Node ${nodeSums.version} that this version was tested with.`,
      'Run it with the Node that "npm ci" installs, or, where this one comes from a source that you trust, write runtime: { allow_other: true }.',
    ].join('\n'),
  );
}
