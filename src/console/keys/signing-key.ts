// The page of a signing key with the three steps of its registration: made, requested, answered.
import { importAssertions } from '#acts/assertions/assertions.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { deleteSigningKey, makeSigningKey, noSigningKey } from '#acts/keys/signing-keys.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import type { Registration } from '#assertions/keys/registration.ts';
import { shellWord } from '#domain/shell-word.ts';
import { html, joined, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import type { SerialPolicy } from '#records/brands/serial-policies.ts';
import { brandAddress } from '../brands/address.ts';
import { declareMessages } from '../messages.ts';
import { field, formOf, longField } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { facts } from '../parts/table.ts';
import { stepper } from '../parts/tiles.ts';
import { identifier, time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { privateKeyPlace, readBrandKeys, registrationBadge, type BrandSigningKey } from './brand-keys.ts';
import { keyRequestForm } from './key-request.ts';

const withMessage = declareMessages({
  'key-made': 'The key is made. Request its registration next.',
  'key-answer-taken': 'The answer is imported.',
  'key-deleted': 'The key is deleted.',
});

const keysPath = '/console/brands/:brand_account_id/keys';
const path = `${keysPath}/:signing_key_sha3_384` as const;

/** The maximum number of bytes of assertions, as form content. */
const maxAssertionsBytes = 256 * 1024;

export const signingKeyAddress = ({
  brandAccountId,
  sha3_384,
}: Pick<BrandSigningKey, 'brandAccountId' | 'sha3_384'>): string => brandAddress(brandAccountId, 'keys', sha3_384);

export const consoleSigningKey = screen({
  name: 'console_signing_key',
  path,
  summary: 'Show the steps to register a signing key, with the request to download and the form for the answer.',
  access: brandAdministrator('account-manage-keys', true),
  query: 'ConsolePageQuery',

  async show({ brand, params, records, browsing, now }) {
    const keys = await readBrandKeys(brand, records, now());
    const key = keys.find(({ sha3_384 }) => sha3_384 === params.signing_key_sha3_384);
    if (key === undefined) throw noSigningKey(brand.accountId, params.signing_key_sha3_384);
    return {
      title: `Signing key ${key.name}`,
      lead: html`${leads[key.status]}
        <a href="${brandAddress(brand.accountId)}">To the brand <bdi>${brand.name}</bdi></a>`,
      content: html`${stepper('Registration of the key', steps, doneSteps[key.status])}
        ${keyFacts(key, await records.serialPolicies.ofKey(key.sha3_384))} ${requestStep(browsing, key)}
        ${answerStep(browsing, key)}
        <p><a href="${signingKeyAddress(key)}/delete">Delete the key</a></p>`,
    };
  },
});

const steps = ['Make the key', 'Request its registration', 'Import the answer'];

const doneSteps: Readonly<Record<Registration, number>> = {
  new: 1,
  requested: 2,
  registered: 3,
  expired: 1,
  revoked: 3,
};

const leads: Readonly<Record<Registration, string>> = {
  new: 'The key is made. The online store must register it before devices trust its signatures.',
  requested: 'The registration is requested. The answer of the online store has not been taken in yet.',
  registered: 'The key is registered, and devices trust its signatures.',
  expired: 'The registration has expired. Request it again.',
  revoked: 'The online store has revoked the key. Make another one.',
};

const keyFacts = (
  key: BrandSigningKey,
  policies: readonly Pick<SerialPolicy, 'brandAccountId' | 'modelName' | 'revision'>[],
): Html =>
  facts([
    ['State', registrationBadge(key.status)],
    ['Id (SHA3-384)', identifier(key.sha3_384)],
    ['Private key', privateKeyPlace(key)],
    ['Made', time(key.createdAt)],
    ['Requested', key.requestedAt === null ? 'not yet' : time(key.requestedAt)],
    key.until === undefined ? undefined : ['Valid until', time(key.until)],
    ['Signs serials of', policies.length === 0 ? 'no model' : modelNames(policies)],
  ]);

const modelNames = (policies: readonly Pick<SerialPolicy, 'modelName'>[]): HtmlContent =>
  html`${joined([...new Set(policies.map(({ modelName }) => modelName))], ', ')}`;

const requestStep = (browsing: Browsing, key: BrandSigningKey): Html =>
  key.status === 'revoked'
    ? nothing
    : html`<h2>2. Request its registration</h2>
        <p>
          Download the request, take it to a machine with internet, and send it to the online store as the account of
          the brand.
        </p>
        ${keyRequestForm(browsing, key)}
        ${hostCommand(
          `larder key request ${key.name} --brand ${key.brandAccountId} --folder ./to-the-internet`,
          'The same on the host, with a script that registers the key and fetches the answer:',
        )}`;

const answerStep = (browsing: Browsing, key: BrandSigningKey): Html =>
  key.status === 'revoked'
    ? nothing
    : html`<h2>3. Import the answer</h2>
        ${formOf(
          browsing,
          `${signingKeyAddress(key)}/answer`,
          html`${longField({
              name: 'assertions',
              label: 'Answer of the online store',
              maxLength: 65_536,
              required: true,
              hint: html`The assertions as they were fetched: the <code>account-key</code> of the key, and the ones that
                it needs. The store verifies them up to a root of trust.`,
            })} <button>Import the answer</button>`,
        )}
        ${hostCommand('larder assertion import ./return.assert')}`;

/** The form that makes a key, on the page of the brand. */
export const newKeyForm = (browsing: Browsing, accountId: string): Html =>
  html`${formOf(
    browsing,
    brandAddress(accountId, 'keys'),
    html`${field({
        name: 'name',
        label: 'Name of the key',
        maxLength: 128,
        required: true,
        hint: 'Lower-case letters, digits and single inner dashes, such as serials.',
      })} <button>Make a key</button>`,
  )}
  ${hostCommand(`larder key create ${shellWord(accountId)} NAME`)}`;

export const consoleMakeSigningKey = formHandler({
  name: 'console_make_signing_key',
  path: keysPath,
  summary: 'Make a signing key of a brand. The private key never leaves the store.',
  access: brandAdministrator('account-manage-keys', false),
  body: 'ConsoleNewSigningKey',
  refuses: ['conflict', 'sealed'],

  async perform(call) {
    const { brand, body, principal } = call;
    const request = { brandAccountId: brand.accountId, name: body.name.trim(), createdBy: principal.accountId };
    const key = await makeSigningKey(call, caller(call), request);
    return withMessage(signingKeyAddress(key), 'key-made');
  },
});

export const consoleTakeKeyAnswer = formHandler({
  name: 'console_take_key_answer',
  path: `${path}/answer`,
  summary: 'Import the account-key of a signing key with its prerequisites, verified up to a root of trust.',
  access: brandAdministrator('account-manage-keys', false),
  body: 'ConsoleAssertions',
  bodyLimit: maxAssertionsBytes,
  refuses: ['conflict'],

  async perform(call) {
    const { brand, params, body, records, acts, roots, signSoon, now } = call;
    const imports = { records, acts, roots: roots(), now: now(), brandAccountId: brand.accountId };
    await importAssertions(withLineFeeds(body.assertions), caller(call), imports);
    signSoon();
    const key = { brandAccountId: brand.accountId, sha3_384: params.signing_key_sha3_384 };
    return withMessage(signingKeyAddress(key), 'key-answer-taken');
  },
});

/** Assertions have line feeds, and are signed with them; a browser sends each line end of a field as CR LF. */
const withLineFeeds = (text: string): string => `${text.replaceAll('\r\n', '\n').trim()}\n`;

export const consoleAskDeleteSigningKey = screen({
  name: 'console_ask_delete_signing_key',
  path: `${path}/delete`,
  summary: 'Ask whether to delete a signing key.',
  access: brandAdministrator('account-manage-keys', false),

  async show({ brand, params, records, browsing }) {
    const keys = await records.signingKeys.list(brand.accountId);
    const key = keys.find(({ sha3_384 }) => sha3_384 === params.signing_key_sha3_384);
    if (key === undefined) throw noSigningKey(brand.accountId, params.signing_key_sha3_384);
    return {
      title: `Delete the key ${key.name}?`,
      lead: 'The key is deleted for good. A key that a serial policy names cannot be deleted.',
      content: html`${key.managerKey === null ? nothing : html`<p>The key manager keeps <code>${key.managerKey}</code>: delete it with the tools of the device.</p>`}
        ${formOf(browsing, `${signingKeyAddress(key)}/delete`, html`<button class="grave">Delete the key</button>`)}
        ${hostCommand(`larder key delete ${key.brandAccountId} ${key.name}`)}
        <p><a href="${signingKeyAddress(key)}">Cancel</a></p>`,
    };
  },
});

export const consoleDeleteSigningKey = formHandler({
  name: 'console_delete_signing_key',
  path: `${path}/delete`,
  summary: 'Delete a signing key for good. No serial policy may use it.',
  access: brandAdministrator('account-manage-keys', false),
  body: 'ConsoleForm',
  refuses: ['conflict', ...gateErrorCodes],

  async perform(call) {
    const { brand, params, acts, custody } = call;
    const key = { brandAccountId: brand.accountId, sha3_384: params.signing_key_sha3_384 };
    await acts.do(deleteSigningKey, caller(call), key);
    custody.destroy(key.sha3_384);
    return withMessage(brandAddress(brand.accountId), 'key-deleted');
  },
});
