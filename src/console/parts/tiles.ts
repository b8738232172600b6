// Tiles with one figure each, tabs between the pages of one subject, and the steps of a procedure.
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { IconName } from '../icons.ts';
import { icon } from './icon.ts';
import type { Gravity } from './notice.ts';

export interface Tile {
  icon: IconName;
  title: string;
  figure: HtmlContent;
  /** One line below the figure. */
  words: HtmlContent;
  /** The page that shows more. */
  address: string;
  gravity: Gravity;
}

/** Tiles in a row; each is a link. */
export const tiles = (all: readonly Tile[]): Html =>
  html`<ul class="tiles">
    ${all.map(
      ({ icon: name, title, figure, words, address, gravity }) =>
        html`<li>
          <a class="tile ${gravity}" href="${address}">
            <span class="tile-title">${icon(name)}${title}</span>
            <span class="figure">${figure}</span>
            <span class="hint">${words}</span>
          </a>
        </li>`,
    )}
  </ul>`;

export interface Tab {
  words: string;
  address: string;
  /** Shown after the words; undefined for none. */
  count?: number | undefined;
}

/** Links to the pages of one subject; `current` is the address of the present one. */
export const tabs = (label: string, all: readonly Tab[], current: string): Html =>
  html`<nav class="tabs" aria-label="${label}">
    <ul>
      ${all.map(
        ({ words, address, count }) =>
          html`<li>
            <a href="${address}" ${address === current ? html`aria-current="page"` : nothing}
              >${words}${count === undefined ? nothing : html` <span class="count">${count}</span>`}</a
            >
          </li>`,
      )}
    </ul>
  </nav>`;

/** The steps of a procedure; the first `done` ones are done, and the next one is current. */
export const stepper = (label: string, steps: readonly HtmlContent[], done: number): Html =>
  html`<ol class="steps" aria-label="${label}">
    ${steps.map(
      (words, at) =>
        html`<li class="${at < done ? 'done' : ''}" ${at === done ? html`aria-current="step"` : nothing}>
          ${at < done ? html`<span class="unseen">Done: </span>` : nothing}${words}
        </li>`,
    )}
  </ol>`;
