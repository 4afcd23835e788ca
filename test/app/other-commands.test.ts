import { describe, expect, it } from 'vitest';
import { withMeantCommand } from '../../src/app/cli/other-commands.ts';

describe('a command name of another tool', () => {
  it('is answered with the equivalent command instead of one with a similar spelling', () => {
    expect(withMeantCommand("error: unknown command 'start'\n(Did you mean status?)\n")).toBe(
      "error: unknown command 'start'\n(Did you mean run?)\n",
    );
    expect(withMeantCommand("error: unknown command 'buy'\n")).toContain('Did you mean execute buy?');
  });

  it.each([
    "error: unknown command 'statu'\n(Did you mean status?)\n",
    "error: missing required argument 'start'\n",
    "error: unknown command 'constructor'\n",
  ])('does not change any other message: %j', (message) => {
    expect(withMeantCommand(message)).toBe(message);
  });
});
