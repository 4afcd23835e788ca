import type { Readable } from 'node:stream';
import type { Command } from '@commander-js/extra-typings';
import { modeOption } from '../cli/mode-option.ts';
import type { ControlCli } from '../cli/control-cli.ts';

/** `tranche mcp`. */
export function addMcp(
  cli: Command,
  { io, config, input, done }: ControlCli & { readonly input: Readable },
): void {
  cli
    .command('mcp')
    .description(
      'answer a client of the Model Context Protocol on stdin and stdout; reads, and changes nothing',
    )
    .addOption(config())
    .option('--journal <journal>', 'the journal (default: the journal in the config)')
    .addOption(modeOption('mode of the desk'))
    .option('--url <url>', 'API of a desk elsewhere; its token is TRANCHE_OPERATOR_TOKEN, that of a viewer')
    .action(async (options) => {
      const [{ serveMcp }, { toolsOf }] = await Promise.all([
        import('./mcp-server.ts'),
        import('./mcp-tools.ts'),
      ]);
      await serveMcp(toolsOf(options, io), input, io.stdout);
      done(0);
    });
}
