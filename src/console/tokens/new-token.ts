// Creates a token for a purpose and shows it once, with lines to paste for the tools.
import { account } from '#access/access-rules.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { OperationResponse } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import type { ConsoleNewToken } from '#contract/wire.ts';
import { days } from '#domain/clock.ts';
import { isNamespace } from '#domain/packages/namespace.ts';
import type { Permission } from '#domain/tokens/permission.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PackageSelector } from '#domain/tokens/package-selector.ts';
import type { Attenuation } from '#macaroons/caveats.ts';
import { caller } from '#operations/caller.ts';
import { linesFor, type Tool } from '#operations/tokens/tool-environment.ts';
import { renderInFrame, type ConsoleFrameInput } from '../frame.ts';
import { choice, field, formOf } from '../parts/form.ts';
import { notice } from '../parts/notice.ts';
import { time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { credentialFields, findOwnProof, readCredentials } from '../accounts/credential-fields.ts';

const path = '/console/myself/new-token';

/** The purposes of a token: a description, and the permissions. */
const purposes: Readonly<Record<ConsoleNewToken['purpose'], readonly [words: string, permissions: Permission[]]>> = {
  publish: [
    'Register, push and release my packages',
    [
      'account-register-package',
      'account-view-packages',
      'package-manage-metadata',
      'package-manage-releases',
      'package-manage-revisions',
      'package-view',
    ],
  ],
  edge: [
    'Push one package, and release it to edge',
    ['account-view-packages', 'package-manage-releases', 'package-manage-revisions', 'package-view'],
  ],
  read: ['Read only', ['account-view-packages', 'package-view']],
};

const lifetimesInDays = [1, 7, 30, 90, 365];

/** The lifetimes to choose from, in days: usual ones up to the maximum of the store, and that maximum. */
function lifeChoices(longestLife: number): (readonly [string, string])[] {
  const maxDays = Math.floor(longestLife / days(1));
  const offered = [...new Set([...lifetimesInDays.filter((life) => life < maxDays), maxDays])];
  return offered.map((life) => [String(life), life === 1 ? '1 day' : `${String(life)} days`] as const);
}

export const consoleNewToken = screen({
  name: 'console_new_token',
  path,
  summary: 'Show the form to make a token for a tool.',
  access: account('token'),

  async show({ principal, records, authority, browsing }) {
    const choices = lifeChoices(authority.longestLife());
    return {
      title: 'New token',
      lead: 'A token gives a tool or a machine access as you, limited to the choices below.',
      content: html`${formOf(
          browsing,
          path,
          html`${choice(
              { name: 'purpose', label: 'Permissions', value: 'publish' },
              Object.entries(purposes).map(([name, [words]]) => [name, words] as const),
            )}
            ${field({
              name: 'package',
              label: 'Only for this package',
              maxLength: 128,
              hint: 'For example snap/hello; empty for all your packages. Required for a token that releases to edge.',
            })}
            ${choice({ name: 'days', label: 'Valid for', value: choices.some(([life]) => life === '30') ? '30' : '1' }, choices)}
            ${field({
              name: 'description',
              label: 'Description',
              required: true,
              maxLength: 128,
              hint: 'For example "nightly builds of hello"; shown in lists of tokens.',
            })}
            ${credentialFields(browsing, await findOwnProof(principal, records))} <button>Make token</button>`,
        )}
        <p><a href="/console/myself">Cancel</a></p>`,
    };
  },
});

export const consoleMakeToken = formHandler({
  name: 'console_make_token',
  path,
  summary: 'Make a token for yourself and show it once, with the lines for the tools.',
  access: account('token'),
  body: 'ConsoleNewToken',
  refuses: [
    'invalid-credentials',
    'twofactor-required',
    'twofactor-failure',
    'too-many-requests',
    'conflict',
    'resource-not-found',
  ],

  async perform(call) {
    const { body, principal, records, authority, identity } = call;
    const allowed = await allowedBy(body, principal.accountId, records);
    await identity.own.proveBeforeAct(principal.accountId, readCredentials(call));
    const ttl = Math.min(Number(body.days) * days(1), authority.longestLife()) / 1000;
    const { accountId } = principal;
    const provenBy = (await records.macaroons.find(principal.sessionId))?.provenBy;
    const request = { accountId, ...allowed, description: body.description.trim(), ttl, provenBy };
    const { token, validUntil } = await authority.issue(request, caller(call));
    return tokenPage(call, { token, validUntil, purpose: body.purpose });
  },
});

async function allowedBy(
  { purpose, package: packageText = '' }: ConsoleNewToken,
  accountId: string,
  records: HandlerRecords,
): Promise<Attenuation> {
  const [, permissions] = purposes[purpose];
  const channels = purpose === 'edge' ? ['*/edge'] : null;
  if (packageText.trim() !== '')
    return { permissions, channels, packages: [await ownPackage(packageText.trim(), accountId, records)] };
  if (purpose !== 'edge') return { permissions, channels, packages: null };
  throw new Refusal('api-error', 'Enter the package of the token, such as snap/hello, at /package');
}

/** A package that the account publishes or collaborates on, for a token that is valid for this package only. */
async function ownPackage(text: string, accountId: string, { packages }: HandlerRecords): Promise<PackageSelector> {
  const [namespace = '', name = ''] = text.split(/[/:]/);
  if (isNamespace(namespace)) {
    const own = (await packages.publishedBy(accountId, namespace)).find((candidate) => candidate.name === name);
    const match = own ?? (await packages.sharedWith(accountId, namespace)).find((candidate) => candidate.name === name);
    if (match !== undefined) return { type: match.type, name: match.name };
  }
  throw new Refusal('resource-not-found', `You do not work on a package '${text}'. Write snap/NAME or charm/NAME.`);
}

interface NewTokenView {
  token: string;
  validUntil: string;
  purpose: ConsoleNewToken['purpose'];
}

const tools: readonly (readonly [Tool, string, string])[] = [
  [
    'snapcraft',
    'snapcraft',
    'Paste this into your shell or into the variables of a pipeline. No login is needed then.',
  ],
  ['charmcraft', 'charmcraft', 'The same for charmcraft.'],
  ['images', 'Images', 'Paste this on a machine that builds images with snap prepare-image or ubuntu-image.'],
  ['curl', 'CI and scripts', 'Store the token as a secret of the pipeline, and send it as a header.'],
];

function tokenPage(
  call: ConsoleFrameInput & Pick<Services, 'authorityCertificate'>,
  { token, validUntil, purpose }: NewTokenView,
): Promise<OperationResponse> {
  const { config } = call;
  const store = { config, authority: call.authorityCertificate() };
  const section = ([tool, title, words]: (typeof tools)[number]): Html =>
    html`<h2>${title}</h2>
      <p>${words}</p>
      <pre tabindex="0">
${linesFor(tool, token, store)}${tool === 'curl' ? '\ncurl -H "$auth" "$base/v1/tokens/whoami"' : ''}</pre>`;
  return renderInFrame(call, {
    title: 'Your new token',
    lead: html`${purposes[purpose][0]}, until ${time(validUntil)}.`,
    content: html`${notice('note', 'The token is shown only now, and the store does not keep it. Keep it secret: it gives its holder all that it allows.')}
      <h2>The token</h2>
      <pre tabindex="0">${token}</pre>
      ${tools.map(section)}
      <p><a href="/console/myself">Your tokens, where you can revoke it</a></p>`,
  });
}
