import type { Command } from '@commander-js/extra-typings';
import type { DeskCli } from '../cli/desk-cli.ts';
import { modeOption } from '../cli/mode-option.ts';

export function addDoctor(cli: Command, { io, config, done }: DeskCli): void {
  cli
    .command('doctor')
    .description(
      'check everything that a desk needs to start: clock, disk, permissions, token, venue, limits, channels, journal; changes nothing',
    )
    .addOption(config())
    .addOption(modeOption())
    .option('--offline', 'do not contact the venue')
    .option('--send', 'also send a test message over each channel of operate.notify')
    .option('--json', 'print the findings as one JSON object')
    .action(async (options) => {
      const { doctor } = await import('./doctor.ts');
      done(await doctor(options, io));
    });
}
