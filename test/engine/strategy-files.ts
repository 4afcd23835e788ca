import type { StrategySource } from '../../src/engine/desk.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import type { BegunDocument, StrategiesRead } from '../../src/engine/state/strategy-source.ts';
import { aStrategy, started, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

type Read = Exclude<StrategiesRead, { readonly problems: string }>;

/** Files of a desk in memory; a reload reads their current content. */
export class Files {
  sources: readonly StrategySource[];
  off: readonly string[] = [];
  notes: readonly string[] = [];
  limits: Read['limits'];
  channels: Read['channels'];
  problems: string | undefined;
  reads = 0;

  constructor(sources: readonly StrategySource[]) {
    this.sources = sources;
  }

  /** The port of a desk. */
  readonly port = {
    read: (): StrategiesRead => {
      this.reads++;
      const { sources, off, notes, limits, channels, problems } = this;
      return problems === undefined ? { sources, off, notes, limits, channels } : { problems };
    },
    revive: ({ strategy, hash, type, document }: BegunDocument): StrategySource => {
      const { id: _, kind: __, ...params } = document as Record<string, unknown>;
      return { ...aStrategy(strategy, type, params), hash };
    },
  };

  /** Writes these sources. */
  write(sources: readonly StrategySource[]): void {
    this.sources = sources;
  }
}

export interface Running {
  readonly bench: Bench;
  readonly files: Files;
  readonly until: (ms: number) => void;
  readonly reload: (over?: object) => CommandAnswer;
}

/** A desk with files, and the next process on the journal of `before` if there was one. */
export function running(
  sources: readonly StrategySource[],
  over: Partial<BenchOptions> = {},
  before?: Bench,
): Running {
  const files = new Files(sources);
  const options = { strategies: sources, files: files.port, ...over };
  const bench = before === undefined ? started(options) : nextProcess(before, 0, options);
  return {
    bench,
    files,
    until: (ms) => {
      bench.until(ms);
    },
    reload: (asked = {}) => bench.tell({ do: 'reload', why: 'new texts', ...asked }),
  };
}
