// What is said apart from the rest: with a word and a sign for how grave it is, never by its colour alone.
import { isOverTls } from '#api/browser.ts';
import { html, nothing, type Content, type Html } from '#api/pages/html.ts';

export type Gravity = 'good' | 'note' | 'warn';

const signs: Readonly<Record<Gravity, readonly [sign: string, word: string]>> = {
  good: ['✓', 'Done'],
  note: ['i', 'To know'],
  warn: ['!', 'Wrong'],
};

/** A sentence in a box; whoever listens to the page hears of it at once. */
export const notice = (gravity: Gravity, words: Content): Html =>
  html`<p class="notice ${gravity}" role="${gravity === 'warn' ? 'alert' : 'status'}">
    ${sign(gravity)}<span>${words}</span>
  </p>`;

/** What each page says that came without TLS. */
export const inClear = (baseUrl: string): Html =>
  isOverTls(baseUrl)
    ? nothing
    : notice(
        'note',
        'This page came without TLS, which is only safe because browser and store are on the same machine.',
      );

/** What is so, and what is to be done about it, on a card of its own. */
export const card = ({ gravity, title, words, mend }: Card): Html =>
  html`<article class="card ${gravity}">
    <h2>${sign(gravity)}${title}</h2>
    <p>${words}</p>
    ${mend === undefined ? nothing : html`<p class="mend">${mend}</p>`}
  </article>`;

export interface Card {
  gravity: Gravity;
  title: Content;
  words: Content;
  mend?: Content;
}

/** A word for the state of something. */
export const badge = (gravity: Gravity, words: string): Html => html`<span class="badge ${gravity}">${words}</span>`;

const sign = (gravity: Gravity): Html => {
  const [mark, word] = signs[gravity];
  return html`<span class="sign" aria-hidden="true">${mark}</span><span class="unseen">${word}: </span>`;
};
