// Notices, cards and badges. A word and a sign show the severity, not only a colour.
import { isOverTls } from '#http/request/browser-sessions.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';

export type Gravity = 'good' | 'note' | 'warn';

const signs: Readonly<Record<Gravity, readonly [sign: string, word: string]>> = {
  good: ['✓', 'Done'],
  note: ['i', 'To know'],
  warn: ['!', 'Wrong'],
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
export const card = ({ gravity, title, words, mend }: Card): Html =>
  html`<article class="card ${gravity}">
    <h2>${sign(gravity)}${title}</h2>
    <p>${words}</p>
    ${mend === undefined ? nothing : html`<p class="mend">${mend}</p>`}
  </article>`;

export interface Card {
  gravity: Gravity;
  title: HtmlContent;
  words: HtmlContent;
  mend?: HtmlContent;
}

/** A word for a state. */
export const badge = (gravity: Gravity, words: string): Html => html`<span class="badge ${gravity}">${words}</span>`;

const sign = (gravity: Gravity): Html => {
  const [mark, word] = signs[gravity];
  return html`<span class="sign" aria-hidden="true">${mark}</span><span class="unseen">${word}: </span>`;
};
