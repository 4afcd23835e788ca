import type { JSX } from 'preact';

/** The parts of a sum side by side, in basis points; parts below zero are on the left, parts above zero on the right. */
export function ShareBars(props: {
  /** Name of the sum, for screen readers. */
  readonly label: string;
  readonly parts: readonly { readonly name: string; readonly value: number }[];
  /** Whether values above zero are bad. */
  readonly isCost: boolean;
}): JSX.Element {
  const { label, parts, isCost } = props;
  const largest = Math.max(...parts.map(({ value }) => Math.abs(value)), 0.01);
  const said = parts.map(({ name, value }) => `${name} ${value.toFixed(2)} bp`).join(', ');
  return (
    <div class="parts" role="img" aria-label={`${label}: ${said}`}>
      {parts.map(({ name, value }) => {
        const width = `${(Math.abs(value) / largest) * 50}%`;
        return (
          <div class="part" key={name}>
            <span>{name}</span>
            <span class="track">
              <span
                class={value > 0 === isCost ? 'worse' : 'better'}
                style={value > 0 ? { left: '50%', width } : { right: '50%', width }}
              />
            </span>
            <span class="number">{value.toFixed(2)} bp</span>
          </div>
        );
      })}
    </div>
  );
}
