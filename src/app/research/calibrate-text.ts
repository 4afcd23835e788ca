import { modelFileSchema, settingsOf } from '../../research/run/model.ts';
import type { ExecutionModel, PresetName } from '../../research/run/model.ts';
import { isFitted } from '../../research/calibrate/fitted-setting.ts';
import type { FittedSetting, Learnt, Unlearnt } from '../../research/calibrate/fitted-setting.ts';
import { decimalText } from '../../research/tape/tape.ts';
import { forTerminal } from '../../core/text/escape.ts';
import { isoOf } from '../../core/time.ts';
import type { Asked } from '../../research/calibrate/asks.ts';
import { table } from '../cli/summary.ts';
import { version } from '../version.ts';

export interface Calibration {
  /** Name of the journal, as the operator gave it. */
  readonly journal: string;
  readonly base: PresetName;
  readonly asked: Asked;
  readonly learnt: readonly Learnt[];
  readonly caveats: readonly string[];
}

/** Settings that a journal cannot provide. */
const NEVER_LEARNT =
  'gap_max, impact_memory, impact_participation, price_precision and pts cannot be estimated from a journal';

const fittedOf = ({ learnt }: Calibration, pair?: string): readonly FittedSetting[] =>
  learnt.filter(isFitted).filter((fitted) => fitted.pair === pair);
const unlearntOf = ({ learnt }: Calibration): readonly Unlearnt[] =>
  learnt.flatMap((one) => (isFitted(one) ? [] : [one]));
const pairsOf = ({ learnt }: Calibration): readonly string[] =>
  [...new Set(learnt.filter(isFitted).flatMap(({ pair }) => pair ?? []))].toSorted();

const settingOf = ({ name, value }: FittedSetting): string =>
  name === 'max_usd' ? `'${decimalText(value)}'` : decimalText(value);

/** Returns a file for `tranche backtest --model`: the fitted settings, each with its evidence, and the settings that could not be fitted. */
export function modelYaml(found: Calibration): string {
  const pairs = pairsOf(found);
  const line = (fitted: FittedSetting, indent: string): string =>
    `${indent}${fitted.name}: ${settingOf(fitted)} # ${forTerminal(groundsOf(fitted))}`;
  return `${[
    `# Execution model, fitted by tranche calibrate ${version}. Settings that are not listed here come from the preset that base names.`,
    ...sourceLines(found).map((text) => `# ${forTerminal(text)}`),
    ...found.caveats.map((text) => `# Note: ${forTerminal(text)}.`),
    `base: ${found.base}`,
    ...fittedOf(found).map((fitted) => line(fitted, '')),
    ...(pairs.length === 0 ? [] : ['pairs:']),
    ...pairs.flatMap((pair) => [`  ${pair}:`, ...fittedOf(found, pair).map((fitted) => line(fitted, '    '))]),
    '',
    '# Not learnt:',
    ...unlearntOf(found).map(({ name, pair, why }) => `#   ${pair === undefined ? '' : `${pair} `}${name}: ${forTerminal(why)}`),
    `#   ${NEVER_LEARNT}`,
  ].join('\n')}\n`;
} // prettier-ignore

function sourceLines({ journal, asked }: Calibration): readonly string[] {
  const { modes, records, first, last, head, asks } = asked;
  if (first === undefined || last === undefined) return [`From ${journal}: no records.`];
  return [
    `From ${journal}, mode ${modes.join(', ') || 'unknown'}: ${records} records of ${isoOf(first)} to ${isoOf(last)}, ${asks.length} requests for a quote.`,
    `Hash of its newest record: ${head ?? ''}`,
  ];
}

/** Returns the evidence of a setting: `412 quotes; 95 %: 3.1 to 3.4; middle half 2.9 to 3.6, 95th percentile 5.2`. */
function groundsOf({ count, of, low, high, spread, note, name }: FittedSetting): string {
  const scatter = spread === undefined || spread.p25 === spread.p95 ? [] : [`middle half ${spread.p25} to ${spread.p75}, 95th percentile ${spread.p95}`]; // prettier-ignore
  const interval = name === 'fee_bps' || name === 'last_look_bps' ? 'from' : '95 %:';
  const reach = Number.isFinite(high) ? `${interval} ${decimalText(low)} to ${decimalText(high)}` : `at least ${decimalText(low)}`; // prettier-ignore
  return [`${count} ${of}`, reach, ...scatter, ...(note === undefined ? [] : [note])].join('; ');
}

/** Returns the calibration as text: the fitted settings with their evidence, and the settings that could not be fitted. */
export function calibrationLines(found: Calibration): readonly string[] {
  const fittedSettings = found.learnt.filter(isFitted);
  const unlearnt = unlearntOf(found);
  return [
    ...sourceLines(found),
    '',
    ...(fittedSettings.length === 0
      ? ['Nothing was learnt.']
      : table([
          ['setting', 'of', 'learnt', found.base, 'from'],
          ...fittedSettings.map((fitted) => [fitted.name, fitted.pair ?? 'all', settingOf(fitted).replaceAll("'", ''), baseOf(found, fitted), groundsOf(fitted)]),
        ])),
    '',
    ...(unlearnt.length === 0 ? [] : [`Not fitted; taken from ${found.base}:`]),
    ...table(unlearnt.map((one) => [one.name, one.pair ?? 'all', baseOf(found, one), one.why])),
    `Also taken from ${found.base}: ${NEVER_LEARNT}.`,
    ...found.caveats.map((text) => `Note: ${text}.`),
  ];
} // prettier-ignore

/** Returns the value that applies if no value was fitted. */
const baseOf = ({ base, learnt }: Calibration, { name, pair }: Learnt): string => {
  const whole = learnt.filter(isFitted).some((fitted) => fitted.name === name && fitted.pair === undefined);
  if (pair !== undefined && whole) return 'as of all';
  const value = settingsOf(modelFileSchema.parse({ base }))[name];
  return value === undefined ? 'never' : typeof value === 'string' ? value : String(Number(value));
};

export function calibrationJson(found: Calibration, model: ExecutionModel): Readonly<Record<string, unknown>> {
  const { asked, base, journal, caveats } = found;
  return {
    format: 1,
    version,
    journal,
    base,
    modes: asked.modes,
    records: asked.records,
    requests: asked.asks.length,
    ...(asked.first === undefined ? {} : { from: isoOf(asked.first) }),
    ...(asked.last === undefined ? {} : { until: isoOf(asked.last) }),
    ...(asked.head === undefined ? {} : { head: asked.head }),
    learnt: found.learnt.filter(isFitted).map(({ high, ...fitted }) => ({ ...fitted, ...(Number.isFinite(high) ? { high } : {}) })),
    not_learnt: unlearntOf(found),
    caveats,
    model: settingsOf(model),
  };
} // prettier-ignore
