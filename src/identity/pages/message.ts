// A page that says one thing.
import { html, type Html } from '#api/pages/html.ts';

/** `alert` where it is read out at once, because something went wrong. */
export const messageContent = (heading: string, words: string, { alert }: { alert: boolean }): Html =>
  html`<h1>${heading}</h1>
    <p ${alert && html`role="alert"`}>${words}</p>`;
