/** What is known of files before a reader is loaded: a tape that is cached already needs none. */

/** Increases whenever the same bytes would give another tape: cached tapes of older readers are then rebuilt. */
export const READER_VERSION = 3;

export type TableKind = 'parquet' | 'arrow';

/** What kind of table the bytes are, by their first letters. */
export function tableKindOf(bytes: Uint8Array): TableKind | undefined {
  const begins = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(6, bytes.length)).toString('latin1');
  if (begins.startsWith('PAR1')) return 'parquet';
  return begins === 'ARROW1' ? 'arrow' : undefined;
}
