// The page for a refusal. It keeps the content of one of our forms, so that it can be sent again.
import { hasSessionCookie, isOwnForm, requireBrowserSession } from '#http/request/browser-sessions.ts';
import type { OperationResponse, RefusedRequest } from '#http/operation.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { loginButtons } from '#http/pages/login-buttons.ts';
import { providerName } from '#configuration/config.ts';
import { isEngineUnavailable, type Refusal } from '#domain/refusal.ts';
import { ReauthenticationRequired } from '#domain/tokens/reauthentication.ts';
import { textOf, type Fault } from '#platform/faults.ts';
import { credentialFields, findOwnProof, type OwnProof } from './accounts/credential-fields.ts';
import type { BrowserEvidence } from './browser-access.ts';
import { renderInFrame, type View } from './frame.ts';
import { logInPage } from './login/log-in-page.ts';
import { pageOf } from './page.ts';
import { formOf } from './parts/form.ts';
import { notice } from './parts/notice.ts';
import { renderRestoredForm, readRestorableContent, type ConsoleFormContent } from './restored-form.ts';

export async function renderRefusal(refusal: Refusal, call: RefusedRequest): Promise<OperationResponse> {
  const { request, config, records, version, principal, now } = call;
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
      // The first visit is no failure.
      says: hasSessionCookie(request, config.http.base_url) || isForm ? refusal.message : undefined,
      // A browser that follows a link from another site sends no cookie with the first request, but with the next one.
      fromElsewhere: request.headers['sec-fetch-site'] === 'cross-site',
    });
  }
  const browsing = await requireBrowserSession(call, call);
  if (refusal instanceof ReauthenticationRequired) {
    const form = { to: address, typed };
    const proof = await findOwnProof(browsing.principal, records);
    const view =
      proof === 'provider'
        ? reauthenticationAtProvider(browsing, form, { config, maxAgeMinutes: refusal.maxAgeMinutes })
        : {
            title: 'Enter your password again',
            lead: refusal.message,
            content: reauthenticationForm(browsing, form, proof),
          };
    return renderInFrame({ request, config, records, version, now, browsing }, { ...view, status: refusal.status });
  }
  const names = isForm && typeof call.typed === 'object' ? Object.keys(call.typed ?? {}) : [];
  const view = {
    title: titles[refusal.status] ?? 'The request failed',
    status: statusOf(refusal),
    headers: retrying(refusal),
    content: html`${notice('warn', refusal.message)}
      ${typed === undefined ? nothing : renderRestoredForm(browsing, address, typed, names)}
      <p><a href="/console">Back to the overview</a></p>`,
  };
  return renderInFrame({ request, config, records, version, now, browsing }, view);
}

/** The form that proves the credentials again, and then returns to the input of the refused form. */
function reauthenticationForm(
  browsing: BrowserEvidence['browsing'],
  { to, typed }: RefusedForm,
  proof: OwnProof,
): Html {
  const hidden = typed === undefined ? { to } : { to, typed: JSON.stringify(typed) };
  return formOf(
    browsing,
    '/console/reauthenticate',
    html`${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      ${credentialFields(browsing, proof)} <button>Continue</button>`,
  );
}

/** The provider opens in another window, so that the input of the refused form stays here. */
function reauthenticationAtProvider(
  browsing: BrowserEvidence['browsing'],
  { to, typed }: RefusedForm,
  { config, maxAgeMinutes }: Pick<RefusedRequest, 'config'> & { maxAgeMinutes: number },
): Pick<View, 'title' | 'lead' | 'content'> {
  const name = providerName(config) ?? 'the OpenID provider';
  return {
    title: `Log in with ${name} again`,
    lead: `This needs a login with ${name} within the last ${String(maxAgeMinutes)} minutes.`,
    content: html`${loginButtons(config, { field: 'again', value: 'yes' })}
      <p>The login opens in another window. Then send your input again; it has not been carried out yet.</p>
      ${typed === undefined ? nothing : renderRestoredForm(browsing, to, typed, [])}`,
  };
}

interface RefusedForm {
  to: string;
  typed: ConsoleFormContent | undefined;
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
