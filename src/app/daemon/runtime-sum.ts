import { createHash } from 'node:crypto';
import { closeSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { changeableByOthers } from '../../files/rights.ts';
import { openRegularFile } from '../../files/regular-file.ts';
import { nodeSums } from './node-sums.ts';

const PIECE_BYTES = 1024 * 1024;

/**
 * Returns the SHA-256 of a file, hex. The computation takes a tenth of a second, so if this user has a folder that nobody else can change,
 * the sum is cached there until the system reports a change of the file.
 *
 * @throws FileRefusal, or the error of the system.
 */
export function sumOf(path: string, folder: string | undefined = privateFolder()): string {
  const { file, facts } = openRegularFile(path);
  try {
    const memo = folder === undefined ? undefined : join(folder, 'node-sum');
    const same = identityOf(facts);
    const kept = memo === undefined ? undefined : keptSum(memo, same);
    if (kept !== undefined) return kept;
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece))
      hash.update(piece.subarray(0, read));
    const sum = hash.digest('hex');
    if (memo !== undefined) keepSum(memo, `${same} ${sum}`);
    return sum;
  } finally {
    closeSync(file);
  }
}

/** Returns the folder of the compile cache unless other users can change it, because a variable may name any folder. */
function privateFolder(): string | undefined {
  const folder = getCompileCacheDir();
  return folder === undefined || changeableByOthers(folder) !== undefined ? undefined : folder;
}

/** Returns a text that differs after each change of the file. It contains `ctime`, which no program can set. */
const identityOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string =>
  [dev, ino, size, mtimeMs, ctimeMs].join(' ');

function keptSum(memo: string, same: string): string | undefined {
  try {
    const line = readFileSync(memo, 'utf8');
    return line.startsWith(`${same} `) ? line.slice(same.length + 1) : undefined;
  } catch {
    return undefined;
  }
}

function keepSum(memo: string, line: string): void {
  try {
    writeFileSync(memo, line, { mode: 0o600 });
  } catch {
    // The next start reads the binary again.
  }
}

/** Returns the path of the binary that runs this process, on Linux even if its file has been replaced. */
export const runningBinary = (): string =>
  process.platform === 'linux' ? '/proc/self/exe' : process.execPath;

/**
 * Compares the Node binary with this version's list.
 *
 * @throws OperatorError `config` if it is not in the list.
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
      `which is not a tested build of Node ${nodeSums.version}.`,
      'Use the Node that "npm ci" installs or, if this one comes from a source that you trust, set runtime: { allow_other: true }.',
    ].join('\n'),
  );
}
