// A piece of a page that looks again by itself while what it tells of moves. Without a script it is loaded again by hand.
import type { IncomingMessage } from 'node:http';

import { html, type Html } from '#api/pages/html.ts';

/** The ids of such pieces; a browser names the one that asks. */
const pieces = ['main', 'own-uploads'] as const;

/** The attributes by which a piece looks again after two seconds, until it comes without them. */
export const looksAgain = (id: (typeof pieces)[number], address: string): Html =>
  html`hx-get="${address}" hx-select="#${id}" hx-swap="outerHTML show:none" hx-trigger="every 2s"`;

/** Whether nobody asked for this page: an open window is no sign that somebody sits before it, and prolongs no session. */
export const isLookingAgain = ({ headers }: IncomingMessage): boolean =>
  pieces.some((piece) => headers['hx-trigger'] === piece);
