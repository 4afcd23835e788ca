import type { ControlRecord, StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { Command } from '../../engine/ports.ts';

const answer = (): void => undefined;

/** People's commands: halts, pauses, resumes, stops and runs. Decisions of controls follow automatically. */
export class PeopleCommands {
  readonly commands: { readonly at: Instant; readonly command: Command }[] = [];
  #isHalted = false;

  add({ at, body }: StoredRecord): void {
    if (body.kind === 'control') {
      const command = body.by === 'tranche' ? undefined : this.#commandOf(body, at);
      if ((body.parent ?? body.pair ?? body.strategy) === undefined) this.#isHalted = body.state === 'halted';
      if (command !== undefined) this.commands.push({ at, command });
    }
    if (body.kind !== 'wake') return;
    const { strategy } = body;
    if (body.on === 'run') {
      const { by, why } = body.detail;
      this.commands.push({ at, command: { do: 'run', strategy, by: String(by), why: String(why), answer } });
    }
    if (body.finished === 'stopped_by_operator')
      this.commands.push({
        at,
        command: { do: 'stop', strategy, by: 'operator', why: body.note ?? '', answer },
      });
  }

  #commandOf({ state, parent, pair, strategy, by, why, until }: ControlRecord, at: Instant): Command {
    const scope = { parent, pair, strategy };
    switch (state) {
      case 'halted':
        return { do: 'halt', by, why };
      case 'active':
        return this.#isHalted && (parent ?? pair ?? strategy) === undefined
          ? { do: 'rearm', by, why, withOpenDoubts: true }
          : { do: 'resume', ...scope, by, why };
      case 'paused':
      case 'reducing':
        return {
          do: 'pause',
          ...scope,
          ...(state === 'reducing' ? { isReducing: true } : {}),
          ...(until === undefined ? {} : { forMs: until - at }),
          by,
          why,
        };
    }
  }
}
