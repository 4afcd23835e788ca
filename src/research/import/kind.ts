/** Detection of files before a reader is loaded, because a cached tape needs no reader. */

/** Raise this version whenever the same bytes would produce another tape: tapes cached by older readers are then rebuilt. */
export const READER_VERSION = 3;

export type TableKind = 'parquet' | 'arrow';

/** Returns the kind of table, by its first bytes. */
export function tableKindOf(bytes: Uint8Array): TableKind | undefined {
  const begins = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(6, bytes.length)).toString('latin1');
  if (begins.startsWith('PAR1')) return 'parquet';
  return begins === 'ARROW1' ? 'arrow' : undefined;
}
