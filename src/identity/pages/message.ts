// A page with one message.
import { html, type Html } from '#http/pages/html.ts';

/** `alert`: the page reports a failure, and screen readers announce it at once. */
export const messageContent = (heading: string, words: string, { alert }: { alert: boolean }): Html =>
  html`<h1>${heading}</h1>
    <p ${alert && html`role="alert"`}>${words}</p>`;
