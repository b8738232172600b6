// The page for a refusal. It keeps the content of one of our forms, so that it can be sent again.
import { requireBrowserSession, isOwnForm } from '#http/request/browser-sessions.ts';
import type { OperationResponse, RefusedRequest } from '#http/operation.ts';
import { html, nothing } from '#http/pages/html.ts';
import { isEngineUnavailable, type Refusal } from '#domain/refusal.ts';
import { textOf, type Fault } from '#platform/faults.ts';
import { renderInFrame } from './frame.ts';
import { logInPage } from './login/log-in-page.ts';
import { pageOf } from './page.ts';
import { notice } from './parts/notice.ts';
import { renderRestoredForm, readRestorableContent } from './restored-form.ts';

export async function renderRefusal(refusal: Refusal, call: RefusedRequest): Promise<OperationResponse> {
  const { request, config, records, version, principal } = call;
  const [address = ''] = (request.url ?? '').split('?');
  const isForm = request.method === 'POST';
  // Console pages need the records. The faults are not secret (GET /readyz).
  const isUnavailable: boolean = isEngineUnavailable(refusal);
  if (isUnavailable) return plainly(refusal, call, (await call.health()).faults);
  const typed = isForm && isOwnForm(request, config.http.base_url) ? readRestorableContent(call.typed) : undefined;
  if (principal === undefined) {
    if (refusal.status !== 401) return plainly(refusal, call);
    return logInPage({
      config,
      to: isForm ? address : (request.url ?? address),
      typed,
      status: 401,
      says: refusal.message,
      // A browser that follows a link from another site sends no cookie with the first request, but with the next one.
      fromElsewhere: request.headers['sec-fetch-site'] === 'cross-site',
    });
  }
  const browsing = await requireBrowserSession(call, call);
  const names = isForm && typeof call.typed === 'object' ? Object.keys(call.typed ?? {}) : [];
  const view = {
    title: titles[refusal.status] ?? 'The request failed',
    status: statusOf(refusal),
    headers: retrying(refusal),
    content: html`${notice('warn', refusal.message)}
      ${typed === undefined ? nothing : renderRestoredForm(browsing, address, typed, names)}
      <p><a href="/console">Back to the front page</a></p>`,
  };
  return renderInFrame({ request, config, records, version, browsing }, view);
}

/** A known account needs no login: a missing right is 403. */
const statusOf = ({ status }: Refusal): number => (status === 401 ? 403 : status);

const retrying = ({ retryAfter }: Refusal): Record<string, string> =>
  retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };

const titles: Readonly<Record<number, string>> = {
  401: 'You do not have access',
  403: 'The request is not valid',
  404: 'There is nothing here',
  409: 'This conflicts with the current state',
  429: 'Too many requests',
};

/** A page without a frame, for an unknown caller. */
const plainly = (refusal: Refusal, { config }: RefusedRequest, faults: readonly Fault[] = []): OperationResponse =>
  pageOf({
    title: 'The request failed',
    store: new URL(config.http.base_url).host,
    status: refusal.status,
    headers: retrying(refusal),
    body: html`<body>
      <main id="main" class="alone">
        <h1>The request failed</h1>
        ${notice('warn', refusal.message)}
        ${faults.filter(({ severity }) => severity === 'problem').map((fault) => notice('warn', textOf(fault)))}
      </main>
    </body>`,
  });
