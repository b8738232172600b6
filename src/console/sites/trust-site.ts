// The pages that trust a new source: take its file, show the fingerprints of its keys, and compare them with the typed ones.
import { trustSource } from '#acts/sites/sites.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import type { ConsoleSiteFilesQuery, SiteIdentity } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { html, joined, type Html } from '#http/pages/html.ts';
import { caller } from '#operations/caller.ts';
import { areFingerprintsOf, fingerprintOf, parseIdentity } from '#transfers/site.ts';
import { credentialFields, credentialRefusals, findOwnProof, readCredentials } from '../accounts/credential-fields.ts';
import { declareMessages } from '../messages.ts';
import { formOf, longField } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { notice } from '../parts/notice.ts';
import { facts } from '../parts/table.ts';
import { count } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { readTrustSettings, trustFields } from './sources.ts';

const withMessage = declareMessages({
  'source-trusted': 'The site is trusted. Its signed transfers can be accepted now.',
});

const path = '/console/trust-site';

/** The maximum number of files of scanning stations. */
const maxStations = 16;

export const consoleTrustSiteForm = screen({
  name: 'console_trust_site_form',
  path,
  summary: 'Show the fingerprints of the keys in the file of a site, with the form to trust it.',
  access: storeAdministrator('store-manage'),
  query: 'ConsoleSiteFilesQuery',

  async show({ query, records, principal, browsing }) {
    const { file = '' } = query;
    if (file.trim() === '') return { title: 'Trust a site', lead: firstStep, content: filesForm(query) };
    const files = readFiles(query);
    const { identity, scanners } = files;
    const before = await records.transferSources.find(identity.site);
    const settings = before ?? { packages: ['*/*'], mayRelease: true, accept: 'people' as const };
    const form = {
      ...settings,
      keys: identity.keys,
      threshold: identity.threshold,
      scanners,
      scans: scanners.length === 0 ? 0 : 1,
    };
    return {
      title: `Trust ${identity.site}?`,
      lead: 'Nothing has changed yet. Compare the fingerprints with the ones that the administrators of the site tell you by telephone or on paper.',
      content: html`${before === undefined ? '' : notice('note', `The site trusts a source ${identity.site} already. Its keys and settings become the ones below; its highest accepted number stays.`)}
        ${facts([
          ['Site', identity.site],
          ['Keys', count(identity.keys.length)],
          ['Fingerprints in the file', codes(fingerprintOf(identity.keys))],
          ...(scanners.length === 0 ? [] : [['Fingerprints of stations', codes(fingerprintOf(scanners))] as const]),
        ])}
        ${formOf(
          browsing,
          path,
          html`<input type="hidden" name="file" value="${file}" />
            <input type="hidden" name="scanners" value="${query.scanners ?? ''}" />
            ${longField({
              name: 'fingerprint',
              label: 'Fingerprints as the administrators of the site told you',
              maxLength: 4096,
              required: true,
              hint: 'Of each key, and of each station, one a line. The store compares them with the file.',
            })}
            ${trustFields(form)} ${credentialFields(browsing, await findOwnProof(principal, records))}
            <button>Trust the site</button>`,
        )}
        ${hostCommand(`larder site trust FILE --fingerprint FINGERPRINT --threshold ${String(identity.threshold)}`)}
        <p><a href="/console/sites">Cancel</a></p>`,
    };
  },
});

const firstStep = html`The file is what <code>larder site show --export FILE</code> writes at the other site.`;

const filesForm = ({ file = '', scanners = '' }: ConsoleSiteFilesQuery): Html =>
  html`<form method="get" action="${path}">
      ${longField({
        name: 'file',
        label: 'Content of the file of the site',
        value: file,
        maxLength: 4096,
        required: true,
        hint: 'One JSON document. It has public keys only.',
      })}
      ${longField({
        name: 'scanners',
        label: 'Content of the files of scanning stations that must sign too',
        value: scanners,
        maxLength: 4096,
        hint: 'One after the other; empty for none.',
      })}
      <button>Show the fingerprints</button>
    </form>
    <p><a href="/console/sites">Cancel</a></p>`;

const codes = (texts: readonly string[]): Html =>
  html`${joined(
    texts.map((text) => html`<code>${text}</code>`),
    html`<br />`,
  )}`;

/** The identity in the file of a site, and the keys in the files of its stations. */
function readFiles({ file = '', scanners = '' }: ConsoleSiteFilesQuery): {
  identity: SiteIdentity;
  scanners: string[];
} {
  const stations = splitDocuments(scanners);
  if (stations.length > maxStations) throw new Refusal('api-error', 'Name at most 16 stations at /scanners');
  return {
    identity: readIdentity(file, 'file'),
    scanners: stations.flatMap((text) => readIdentity(text, 'scanners').keys),
  };
}

/** The documents in a text: an identity has no nested object, so each begins with a brace. */
const splitDocuments = (text: string): string[] => text.split(/(?=\{)/).filter((part) => part.trim() !== '');

function readIdentity(text: string, member: string): SiteIdentity {
  const identity = parseIdentity(text);
  if (!('problem' in identity)) return identity;
  throw new Refusal(
    'api-error',
    `This is not the content of a file of 'larder site show --export'${identity.problem === undefined ? '' : `: ${identity.problem}`} at /${member}`,
  );
}

export const consoleTrustSite = formHandler({
  name: 'console_trust_site',
  path,
  summary: 'Trust the transfers of a site whose fingerprints are typed as in its file.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleTrustSource',
  refuses: [...credentialRefusals, 'conflict', ...gateErrorCodes],

  async perform(call) {
    const { body, principal, identity: accounts, acts } = call;
    const { identity, scanners } = readFiles(body);
    refuseOtherFingerprints([...identity.keys, ...scanners], body.fingerprint);
    const settings = readTrustSettings(body);
    await accounts.own.proveBeforeAct(principal.accountId, readCredentials(call));
    await acts.do(trustSource, caller(call), { name: identity.site, keys: identity.keys, scanners, ...settings });
    return withMessage(`/console/sites/${encodeURIComponent(identity.site)}`, 'source-trusted');
  },
});

/** Requires the typed fingerprints to be exactly the ones of the keys. */
function refuseOtherFingerprints(keys: readonly string[], typed: string): void {
  const fingerprints = typed.split(/[\s,]+/).filter((word) => word !== '');
  if (areFingerprintsOf(keys, fingerprints)) return;
  throw new Refusal(
    'conflict',
    `The keys in the file have the fingerprints ${fingerprintOf(keys).join(', ')}, which differ from the ones that you typed. Ask the administrators of the source again.`,
  );
}
