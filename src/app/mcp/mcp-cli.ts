import type { Readable } from 'node:stream';
import type { Command } from '@commander-js/extra-typings';
import { modeOption } from '../cli/mode-option.ts';
import type { ControlCli } from '../cli/control-cli.ts';

export function addMcp(
  cli: Command,
  { io, config, input, done }: ControlCli & { readonly input: Readable },
): void {
  cli
    .command('mcp')
    .description('serve the Model Context Protocol on stdin and stdout; read-only')
    .addOption(config())
    .option('--journal <journal>', 'the journal (default: the journal in the config)')
    .addOption(modeOption('mode of the desk'))
    .option(
      '--url <url>',
      'URL of the API of a desk on another machine; TRANCHE_OPERATOR_TOKEN contains a token with the viewer role',
    )
    .action(async (options) => {
      const [{ serveMcp }, { toolsOf }] = await Promise.all([
        import('./mcp-server.ts'),
        import('./mcp-tools.ts'),
      ]);
      await serveMcp(toolsOf(options, io), input, io.stdout);
      done(0);
    });
}
