import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** `number`: right-aligned, with digits of equal width. `wide`: takes the remaining width. */
  readonly kind?: 'number' | 'time' | 'wide' | 'code';
  /** Hidden on a phone. */
  readonly isExtra?: boolean;
}

interface RowsProps<T> {
  /** Description of the table, for screen readers. */
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string | number;
  readonly onOpen?: ((row: T) => void) | undefined;
  readonly isOpen?: ((row: T) => boolean) | undefined;
  readonly empty: string;
  /** Texts of the wide column may wrap. All rows are then in the document, so use this only for short lists. */
  readonly wraps?: boolean;
  /** Number of visible rows; the space stays reserved if there are fewer. */
  readonly height?: number;
}

/** Height of a row in the style sheet. */
const ROW_PX = 36;
/** Number of rows rendered beyond each edge, so that scrolling shows no gap. */
const BEYOND = 8;
const HEIGHT_MAX = 14;

/** A table of any length, which renders only the visible rows. */
export function Rows<T>(props: RowsProps<T>): JSX.Element {
  const { rows, columns, keyOf, onOpen, isOpen } = props;
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = (props.height ?? HEIGHT_MAX) * ROW_PX;
  const isLong = props.wraps !== true && rows.length * ROW_PX > height;
  useEffect(() => {
    // The list became shorter than the scroll position.
    if (box.current !== null && top.peek() > rows.length * ROW_PX) top.value = box.current.scrollTop;
  }, [rows.length]);
  const first = isLong ? Math.max(0, Math.floor(top.value / ROW_PX) - BEYOND) : 0;
  const last = isLong ? Math.min(rows.length, first + Math.ceil(height / ROW_PX) + 2 * BEYOND) : rows.length;
  const gap = (count: number): JSX.Element | false =>
    count > 0 && (
      <tr class="gap" aria-hidden="true">
        <td colSpan={columns.length} style={{ height: `${count * ROW_PX}px` }} />
      </tr>
    );
  return (
    <div
      class={props.wraps === true ? 'rows wraps' : 'rows'}
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={props.label}
      style={{ maxHeight: `${height + ROW_PX}px` }}
      onScroll={(event) => {
        // Renders once per row that becomes visible, not once per pixel.
        const at = Math.floor(event.currentTarget.scrollTop / ROW_PX) * ROW_PX;
        if (at !== top.value) top.value = at;
      }}
    >
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ title, kind, isExtra }) => (
              <th scope="col" class={classOf(kind, isExtra)} key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {gap(first)}
          {rows.slice(first, last).map((row, index) => (
            <tr
              key={keyOf(row)}
              aria-rowindex={first + index + 2}
              class={`${onOpen === undefined ? '' : 'opens'} ${isOpen?.(row) === true ? 'is-open' : ''}`}
              onClick={
                onOpen === undefined
                  ? undefined
                  : () => {
                      onOpen(row);
                    }
              }
            >
              {columns.map(({ title, cell, kind, isExtra }) => (
                <td class={classOf(kind, isExtra)} key={title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {gap(rows.length - last)}
          {rows.length === 0 && (
            <tr class="empty">
              <td colSpan={columns.length}>{props.empty}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

const classOf = (kind: string | undefined, isExtra: boolean | undefined): string =>
  `${kind ?? ''}${isExtra === true ? ' extra' : ''}`;
