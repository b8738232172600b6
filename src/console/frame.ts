// The frame of every page: the present place, the menu, and the account.
import type { OperationResponse } from '#http/operation.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { describeEarlierLogin } from '#http/pages/login-notices.ts';
import type { Services } from '#http/services.ts';
import type { IncomingMessage } from 'node:http';
import { siteNameSetting } from '#acts/sites/sites.ts';
import { pendingWork } from '#transfers/pending.ts';
import type { BrowserEvidence } from './browser-access.ts';
import { pageOf } from './page.ts';
import { isAutomaticRefresh, refreshAttributes } from './parts/auto-refresh.ts';
import { formOf } from './parts/form.ts';
import { letterTile } from './parts/icon.ts';
import { unencryptedNotice, notice } from './parts/notice.ts';
import { commit } from '#platform/version.ts';
import { renderMenu, type PendingNumbers } from './menu.ts';
import { findMessage } from './messages.ts';
import { searchForm } from './parts/search-form.ts';
import { renewedSessionHeader } from './session-headers.ts';
import { viewerOf, type Viewer } from './viewer.ts';

/** The content of a screen. */
export interface View {
  title: string;
  /** In place of the title as the heading; has an `h1`. */
  heading?: Html;
  /** A sentence that answers the question of the page. */
  lead?: HtmlContent;
  content: Html;
  /**
   * Whether the content can change within seconds without an action of the reader; then the page refreshes itself. Not for pages with
   * fields to type into. A text is the address of the page with its query.
   */
  moves?: boolean | string;
  status?: number;
  headers?: Record<string, string>;
}

/** The input for the frame of a view. */
export interface ConsoleFrameInput extends BrowserEvidence, Pick<Services, 'config' | 'records' | 'version' | 'now'> {
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
  const earlier = await describeEarlierLogin(browsing.principal.accountId, config.sessions, records);
  const done = findMessage((call.query as { done?: string } | undefined)?.done);
  return pageOf({
    title: view.title,
    store,
    status: view.status,
    headers: { ...(isAutomaticRefresh(request) ? {} : renewedSessionHeader(call)), ...view.headers },
    body: html`<body hx-boost="true">
      <a class="skip" href="#main">To the content</a>
      <header>
        ${nameplate(store, await records.appliance.find(siteNameSetting), config.site.label)} ${searchForm}
        ${renderMenu(viewer, address, await readPendingNumbers(call, viewer))} ${myself(call, viewer)}
      </header>
      <main id="main" tabindex="-1" data-now="${call.now().toISOString()}" ${refreshing(view.moves, address)}>
        ${unencryptedNotice(baseUrl)} ${done === undefined ? nothing : notice('good', done)}
        ${view.heading ?? html`<h1>${view.title}</h1>`}
        ${view.lead === undefined ? nothing : html`<p class="lead">${view.lead}</p>`} ${view.content}
      </main>
      <footer>
        ${earlier === undefined ? nothing : html`<p>${earlier}</p>`}
        <p>
          Release ${call.version}${commit === undefined ? '' : `, commit ${commit.slice(0, 12)}`}.
          <a href="/docs/">Documents</a>
        </p>
      </footer>
    </body>`,
  });
}

const refreshing = (moves: View['moves'], address: string): Html =>
  moves === undefined || moves === false ? nothing : refreshAttributes('main', moves === true ? address : moves);

/** The number of items that wait; publishers do not see how many there are in the store. */
async function readPendingNumbers({ records, now }: ConsoleFrameInput, { oversees }: Viewer): Promise<PendingNumbers> {
  if (!oversees) return { all: 0, transfers: 0 };
  const work = await pendingWork(records, now());
  return {
    all: work.reduce((sum, { count }) => sum + count, 0),
    transfers: work.find(({ kind }) => kind === 'transfer')?.count ?? 0,
  };
}

/** The name of the store and its label, so that users notice if they are in the wrong store. */
function nameplate(store: string, site: string | undefined, label: string | undefined): Html {
  const name = site ?? store;
  return html`<a class="home" href="/console"
    ><img src="/favicon.ico" width="32" height="32" alt="" /><span
      ><strong>${name}</strong>${name === store ? nothing : html`<span class="hint">${store}</span>`}
      ${label === undefined ? nothing : html`<span class="badge part">${label}</span>`}</span
    ></a
  >`;
}

const myself = ({ browsing }: BrowserEvidence, { name }: Viewer): Html =>
  html`<div class="myself">
    <a href="/console/myself">${letterTile(name)}<span>${name}</span></a>
    ${formOf(browsing, '/console/log-out', html`<button class="quiet">Log out</button>`)}
  </div>`;
