/** The document of a twap with 48 slices in four hours; `more` adds or repeats no field of it. */
export const aTwapText = (id = 'a', more = ''): string => `id: ${id}
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: "1.5", currency: btc }
duration: PT4H
slices: 48
${more}`;

/** The config of a live desk with every limit that live mode requires. */
export const aLiveText = (venue: string, more = 'strategies: ./strategies\n'): string => `mode: live
venue: { ${venue} }
controls:
  max_order_quantity: { btcusd: "1" }
  max_order_notional: { amount: "50000", currency: usd }
  max_day_notional: { amount: "500000", currency: usd }
  collar_bps: 50
  pairs: [btcusd]
  sides: [buy]
${more}`;

/** A module that waits a minute; `body` is the body of its step. */
export const aKernelText = (
  body = 'return { state, finished: true };',
): string => `import { defineKernel, later, z } from 'tranche/strategy';
export const kernel = defineKernel({
  params: z.strictObject({ each: z.string().default('1') }),
  start: (params, view) => ({ state: { n: 0 }, waits: [{ on: 'at', at: later(view.at, 'PT1M') }] }),
  step(state, _wake, params, view) {
    ${body}
  },
});
`;
export const aModuleText = (module = './own.ts', more = ''): string => `id: own
kind: module
module: ${module}
pairs: [btcusd]
total_notional: { amount: "1000", currency: usd }
${more}`;
