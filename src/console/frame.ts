// The frame of every page: the present place, the menu, and the account.
import type { OperationResponse } from '#http/operation.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { IncomingMessage } from 'node:http';
import type { BrowserEvidence } from './browser-access.ts';
import { pageOf } from './page.ts';
import { isAutomaticRefresh, refreshAttributes } from './parts/auto-refresh.ts';
import { formOf } from './parts/form.ts';
import { unencryptedNotice, notice } from './parts/notice.ts';
import { findMessage } from './messages.ts';
import { renewedSessionHeader } from './session-headers.ts';
import { viewerOf, type Viewer } from './viewer.ts';

/** The content of a screen. */
export interface View {
  title: string;
  /** A sentence that answers the question of the page. */
  lead?: HtmlContent;
  content: Html;
  /**
   * Whether the content can change within seconds without an action of the reader; then the page refreshes itself. Not for pages with
   * fields to type into.
   */
  moves?: boolean;
  status?: number;
  headers?: Record<string, string>;
}

/** The input for the frame of a view. */
export interface ConsoleFrameInput extends BrowserEvidence, Pick<Services, 'config' | 'records' | 'version'> {
  request: IncomingMessage;
  query?: unknown;
}

/** Returns the view in its frame. */
export async function renderInFrame(call: ConsoleFrameInput, view: View): Promise<OperationResponse> {
  const { config, request, browsing, records } = call;
  const { base_url: baseUrl } = config.http;
  const viewer = await viewerOf(browsing.principal, records);
  const [address = ''] = (request.url ?? '').split('?');
  const store = new URL(baseUrl).host;
  const done = findMessage((call.query as { done?: string } | undefined)?.done);
  return pageOf({
    title: view.title,
    store,
    status: view.status,
    headers: { ...(isAutomaticRefresh(request) ? {} : renewedSessionHeader(call)), ...view.headers },
    body: html`<body hx-boost="true">
      <a class="skip" href="#main">To the content</a>
      <header>
        <a class="home" href="/console"><img src="/favicon.ico" width="28" height="28" alt="" />${store}</a>
        ${menu(viewer, address)} ${myself(call, viewer)}
      </header>
      <main id="main" tabindex="-1" ${view.moves === true ? refreshAttributes('main', address) : nothing}>
        ${unencryptedNotice(baseUrl)} ${done === undefined ? nothing : notice('good', done)}
        <h1>${view.title}</h1>
        ${view.lead === undefined ? nothing : html`<p class="lead">${view.lead}</p>`} ${view.content}
      </main>
      <footer>
        <p>Release ${call.version}. <a href="/docs/">Documents</a></p>
      </footer>
    </body>`,
  });
}

interface ConsoleMenuEntry {
  address: string;
  words: string;
  for(viewer: Viewer): boolean;
}

const everyAccount = (): boolean => true;
const administrators = ({ administers }: Viewer): boolean => administers;
const entries: readonly ConsoleMenuEntry[] = [
  { address: '/console', words: 'Front page', for: everyAccount },
  { address: '/console/packages', words: 'Packages', for: everyAccount },
  { address: '/console/waiting', words: 'What waits', for: everyAccount },
  { address: '/console/carry', words: 'Carry', for: ({ oversees }) => oversees },
  { address: '/console/people', words: 'People and tokens', for: administrators },
  {
    address: '/console/audit',
    words: 'Audit',
    for: ({ administers, roles }) => administers || roles.includes('auditor'),
  },
  { address: '/console/brands', words: 'Brands and keys', for: administrators },
  { address: '/console/devices', words: 'Devices', for: administrators },
  { address: '/console/backups', words: 'Backups and proof', for: administrators },
  { address: '/console/storage', words: 'Storage', for: administrators },
  { address: '/console/settings', words: 'Settings', for: administrators },
];

function menu(viewer: Viewer, address: string): Html {
  const links = entries
    .filter((entry) => entry.for(viewer))
    .map(({ address: to, words }) => {
      const isHere = to === '/console' ? address === to : address === to || address.startsWith(`${to}/`);
      return html`<li><a href="${to}" ${isHere ? html`aria-current="page"` : nothing}>${words}</a></li>`;
    });
  return html`<nav aria-label="Console">
    <details open>
      <summary>Menu</summary>
      <ul>
        ${links}
      </ul>
    </details>
  </nav>`;
}

const myself = ({ browsing }: BrowserEvidence, { name }: Viewer): Html =>
  html`<div class="myself">
    <a href="/console/myself">${name}</a>
    ${formOf(browsing, '/console/log-out', html`<button class="quiet">Log out</button>`)}
  </div>`;
