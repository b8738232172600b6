// Notices, cards and badges. A word and a sign show the severity, not only a colour.
import { isOverTls } from '#http/request/browser-sessions.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { IconName } from '../icons.ts';
import { icon } from './icon.ts';

export type Gravity = 'good' | 'note' | 'warn';

const signs: Readonly<Record<Gravity, readonly [name: IconName, word: string]>> = {
  good: ['check-circle', 'Done'],
  note: ['info', 'To know'],
  warn: ['alert', 'Wrong'],
};

/** A sentence in a box; screen readers announce it at once. */
export const notice = (gravity: Gravity, words: HtmlContent): Html =>
  html`<p class="notice ${gravity}" role="${gravity === 'warn' ? 'alert' : 'status'}">
    ${sign(gravity)}<span>${words}</span>
  </p>`;

/** The warning on each page that is served without TLS. */
export const unencryptedNotice = (baseUrl: string): Html =>
  isOverTls(baseUrl)
    ? nothing
    : notice(
        'note',
        'This page came without TLS, which is only safe because browser and store are on the same machine.',
      );

/** A card with a state and its remedy. */
export const card = ({ gravity, title, words, mend, action }: Card): Html =>
  html`<article class="card ${gravity}">
    <h2>${sign(gravity)}${title}</h2>
    <p>${words}</p>
    ${mend === undefined ? nothing : html`<p class="mend">${mend}</p>`}
    ${action === undefined ? nothing : html`<p><a class="button second" href="${action.address}">${action.words}</a></p>`}
  </article>`;

export interface Card {
  gravity: Gravity;
  title: HtmlContent;
  words: HtmlContent;
  mend?: HtmlContent;
  /** A link to the page of the console where this is mended. */
  action?: { words: string; address: string } | undefined;
}

/** A word for a state; `part` is for content that only some devices get. */
export const badge = (gravity: Gravity | 'part', words: string): Html =>
  html`<span class="badge ${gravity}">${words}</span>`;

const sign = (gravity: Gravity): Html => {
  const [name, word] = signs[gravity];
  return html`<span class="sign">${icon(name)}</span><span class="unseen">${word}: </span>`;
};
