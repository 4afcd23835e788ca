import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, problemOf } from './request.ts';
import { onRecords } from './store.ts';

export interface Read<T> {
  /** The last response; it stays until the next one arrives. */
  readonly data: Signal<T | undefined>;
  readonly problem: Signal<string | undefined>;
  readonly reload: () => void;
}

interface Freshness {
  /** Kinds of records that make the response outdated. */
  readonly kinds?: readonly string[];
  /** Reads again after this time even without a record. */
  readonly everyMs?: number;
  /** Shortest time between two reads. */
  readonly atMostEveryMs?: number;
}

/** Reads a route of the API while the component is mounted, again whenever its query changes or its response is outdated. */
export function useRead<T>(
  path: string | undefined,
  query: Readonly<Record<string, string | number | undefined>> = {},
  { kinds = [], everyMs, atMostEveryMs = 1_000 }: Freshness = {},
): Read<T> {
  const data = useSignal<T | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const again = useSignal(0);
  const asked = JSON.stringify([path, query]);
  useEffect(() => {
    if (path === undefined) return undefined;
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isBusy = false;
    let isOld = false;
    const read = async (): Promise<void> => {
      [isBusy, isOld] = [true, false];
      try {
        data.value = await get<T>(path, query, gone.signal);
        problem.value = undefined;
      } catch (error) {
        if (!gone.signal.aborted) problem.value = problemOf(error);
      }
      if (gone.signal.aborted) return;
      timer = setTimeout(() => {
        isBusy = false;
        if (isOld) void read();
        else if (everyMs !== undefined) timer = setTimeout(() => void read(), everyMs - atMostEveryMs);
      }, atMostEveryMs);
    };
    const renew = (): void => {
      isOld = true;
      if (isBusy) return;
      clearTimeout(timer);
      void read();
    };
    void read();
    const off = onRecords((batch) => {
      if (batch.some(({ kind }) => kinds.includes(kind))) renew();
    });
    return () => {
      gone.abort();
      clearTimeout(timer);
      off();
    };
  }, [asked, again.value]);
  return {
    data,
    problem,
    reload() {
      again.value += 1;
    },
  };
}
