// Small charts, each with its content as text.
import { html, nothing, type Html } from '#http/pages/html.ts';

/** A bar for used space that warns when little is left; `portion` from 0 to 1. */
export const bar = (portion: number, words: string): Html => barOf(portion, words, portion > 0.9);

/** A bar for a share; does not warn at a high one. */
export const share = (portion: number, words: string): Html => barOf(portion, words, false);

const barOf = (portion: number, words: string, warns: boolean): Html => {
  const width = Math.round(Math.min(1, Math.max(0, portion)) * 1000) / 10;
  return html`<svg
    class="drawing bar ${warns ? 'full' : ''}"
    viewBox="0 0 100 6"
    preserveAspectRatio="none"
    role="img"
    aria-label="${words}"
  >
    <rect class="whole" width="100" height="6" />
    <rect class="part" width="${width}" height="6" />
  </svg>`;
};

export interface Pillar {
  all: number;
  /** The failed part. */
  bad: number;
}

/** A chart over time, one pillar per interval; the last is the current one. */
export function pillars(values: readonly Pillar[], words: string): Html {
  const maxValue = Math.max(1, ...values.map(({ all }) => all));
  const height = (count: number): number => Math.round((count / maxValue) * 360) / 10;
  const width = 4;
  return html`<svg
    class="drawing"
    viewBox="0 0 ${values.length * width} 37"
    preserveAspectRatio="none"
    role="img"
    aria-label="${words}"
  >
    <rect class="ground" y="36" width="${values.length * width}" height="1" />
    ${values.map(({ all, bad }, at) => [
      all === 0
        ? nothing
        : html`<rect
            class="part"
            x="${at * width}"
            y="${36 - height(all)}"
            width="${width - 1}"
            height="${height(all)}"
          />`,
      bad === 0
        ? nothing
        : html`<rect
            class="bad"
            x="${at * width}"
            y="${36 - height(bad)}"
            width="${width - 1}"
            height="${height(bad)}"
          />`,
    ])}
  </svg>`;
}
