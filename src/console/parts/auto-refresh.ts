// Refreshes a piece of a page while its content changes. Without scripts, the reader reloads the page.
import type { IncomingMessage } from 'node:http';

import { html, type Html } from '#http/pages/html.ts';

/** The ids of such pieces; the browser sends the id of the piece that it refreshes. */
const pieces = ['main', 'own-uploads'] as const;

/** The attributes that refresh a piece after two seconds, until a response leaves them out. */
export const refreshAttributes = (id: (typeof pieces)[number], address: string): Html =>
  html`hx-get="${address}" hx-select="#${id}" hx-swap="outerHTML show:none" hx-trigger="every 2s"`;

/** Whether this is an automatic refresh. It does not show that a person is at the browser, so it does not extend the session. */
export const isAutomaticRefresh = ({ headers }: IncomingMessage): boolean =>
  pieces.some((piece) => headers['hx-trigger'] === piece);
