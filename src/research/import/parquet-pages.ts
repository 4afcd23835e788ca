import type { FileMetaData } from 'hyparquet';

/**
 * Compares the page headers of a Parquet file with its column metadata before anything is decoded: a decoder allocates
 * memory for as many values as a page claims, and a flipped bit can claim millions. Source: parquet.thrift and the
 * compact protocol of Thrift, read 2026-11-23.
 *
 * @throws Error with a message; RangeError if a header points outside of the file.
 */
export function refuseFalsePages(
  bytes: Uint8Array,
  { row_groups: groups }: FileMetaData,
  maxBytes: number,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let total = 0;
  for (const { columns, num_rows: rows } of groups)
    for (const { meta_data: meta } of columns) {
      if (meta === undefined) throw new Error('a column has no description');
      const isFlat = meta.path_in_schema.length === 1;
      if (isFlat && meta.num_values !== rows)
        throw new Error('the number of values in a column differs from the number of rows');
      const size = Number(meta.total_uncompressed_size);
      total += size;
      if (!(total <= maxBytes)) throw new Error(`its columns have more than ${maxBytes} bytes`);
      const first = Number(meta.data_page_offset);
      const at = Math.min(first, Number(meta.dictionary_page_offset ?? first));
      const values = valuesIn(new Headers(view, at), at + Number(meta.total_compressed_size), size);
      if (isFlat && values !== Number(rows))
        throw new Error('the pages of a column do not have as many values as the column');
    }
}

/** Returns the number of values of the pages up to `end`; each page is at most as large as its column. */
function valuesIn(headers: Headers, end: number, size: number): number {
  let values = 0;
  while (headers.at < end) {
    const page = headers.struct();
    const [unpacked, packed] = [numberIn(page, 2), numberIn(page, 3)];
    const [data, dictionary, second] = [structIn(page, 5), structIn(page, 7), structIn(page, 8)];
    const claimed = numberIn(data ?? second ?? dictionary ?? page, 1);
    if (!(unpacked >= 0 && unpacked <= size && packed >= 0 && headers.at + packed <= end))
      throw new Error('a page is larger than its column');
    if (!(claimed >= 0 && claimed <= 8 * Math.max(size, 1) + MOST_OF_RUNS))
      throw new Error('a page claims more values than it can hold');
    if (data !== undefined || second !== undefined) values += claimed;
    headers.at += packed;
  }
  return values;
}

/**
 * Number of values that a page may claim in addition to the values that its bytes can hold, because a run of equal values takes only a
 * few bytes, however long it is. The usual size of a row group.
 */
const MOST_OF_RUNS = 2 ** 24;

type Field = number | Struct | undefined;
type Struct = ReadonlyMap<number, Field>;

const numberIn = (struct: Struct, id: number): number => {
  const field = struct.get(id);
  return typeof field === 'number' ? field : Number.NaN;
};
const structIn = (struct: Struct, id: number): Struct | undefined => {
  const field = struct.get(id);
  return typeof field === 'object' ? field : undefined;
};

/** Reads structs of the compact protocol: numbers and structs; skips texts and lists. */
class Headers {
  readonly #view: DataView;
  at: number;

  constructor(view: DataView, at: number) {
    this.#view = view;
    this.at = at;
  }

  struct(depth = 0): Struct {
    if (depth > 8) throw new Error('a page header is nested too deeply');
    const fields = new Map<number, Field>();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      const type = head & 0x0f;
      if (type === 0) return fields;
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4);
      fields.set(id, this.#element(type, depth));
    }
  }

  #element(type: number, depth: number): Field {
    switch (type) {
      case 1:
      case 2:
        return undefined;
      case 3:
        return this.#byte();
      case 4:
      case 5:
      case 6:
        return this.#zigzag();
      case 7:
        this.at += 8;
        return undefined;
      case 8: {
        const length = this.#varint();
        this.at += length;
        return undefined;
      }
      case 9:
      case 10: {
        const head = this.#byte();
        const count = head >> 4 === 15 ? this.#varint() : head >> 4;
        for (let n = 0; n < count; n++) this.#element(head & 0x0f, depth + 1);
        return undefined;
      }
      case 12:
        return this.struct(depth + 1);
      default:
        throw new Error('a page header cannot be read');
    }
  }

  #byte(): number {
    return this.#view.getUint8(this.at++);
  }

  #varint(): number {
    let value = 0;
    for (let place = 1; ; place *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * place;
      if (byte < 0x80) return value;
      if (place > 2 ** 49) throw new Error('a page header cannot be read');
    }
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
