// The command on the host that does the same as a form, to copy into a shell or a script.
import { html, type Html } from '#http/pages/html.ts';

/** Shows a command; our script adds the button that copies it. */
export const hostCommand = (command: string, words = 'The same on the host:'): Html =>
  html`<p class="hint">${words}</p>
    <pre tabindex="0">${command}</pre>`;
