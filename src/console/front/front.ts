// The front page: is all well, and if not, what is to be done.
import { account } from '#api/access.ts';
import { html } from '#api/pages/html.ts';
import { screen } from '../screen.ts';

export const consoleFront = screen({
  name: 'console_front',
  path: '/console',
  summary: 'Say whether all is well, and what is to be done if not.',
  access: account('token'),
  show: () => ({ title: 'Front page', content: html`<p>All is well.</p>` }),
});
