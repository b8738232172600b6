// The pages of the trusted sources of transfers: list, settings of one source, end of its trust.
import { distrustSource, siteNameSetting, trustSource } from '#acts/sites/sites.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { overseer, storeAdministrator } from '#access/access-rules.ts';
import type { ConsoleSourceSettings } from '#contract/wire.ts';
import { isPackageGlob } from '#domain/packages/package-glob.ts';
import { noun } from '#domain/quantities.ts';
import { Refusal } from '#domain/refusal.ts';
import { shellWord } from '#domain/shell-word.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, joined, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { caller } from '#operations/caller.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { credentialFields, credentialRefusals, findOwnProof, readCredentials } from '../accounts/credential-fields.ts';
import { declareMessages } from '../messages.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { choice, field, formOf, longField, tick } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { badge, notice } from '../parts/notice.ts';
import { facts, table } from '../parts/table.ts';
import { count, time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { sitesAddress as path, sourceAddress } from './address.ts';
import { rotationForm } from './rotations.ts';

const withMessage = declareMessages({
  'source-changed': 'The settings of the trust are changed.',
  'source-distrusted': 'The site is no longer trusted. Its transfers are refused.',
});

/** The maximum number of sources to show. `larder site show` shows all. */
const maxShown = 200;

export const consoleSites = screen({
  name: 'console_sites',
  path,
  summary: 'Show the name and label of this site, and the sources that it trusts.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsolePageQuery',

  async show({ records, config, principal }) {
    const sources = await records.transferSources.list();
    const name = await records.appliance.find(siteNameSetting);
    return {
      title: 'Sites',
      lead: 'This store accepts the transfers of these sites if enough of their keys have signed them.',
      content: html`${facts([
          ['This site', name ?? 'without a name'],
          ['Label of its network', config.site.label ?? 'none'],
        ])}
        <h2>Trusted sources</h2>
        ${sourceTable(sources.slice(0, maxShown))}
        ${principal.storeAdministrator ? html`<p><a class="button" href="/console/trust-site">Trust a site</a></p>` : nothing}
        ${name === undefined ? nameCommand : hostCommand(`larder site show --export ${shellWord(name)}.json`, 'The file that other sites need to trust this one, on the host:')}
        <p class="hint">
          The name and the key of this site are made on the host, because the key signs everything that leaves the site.
          The label is <code>site.label</code> in <code>larder.toml</code>.
        </p>`,
    };
  },
});

const nameCommand = hostCommand('larder site init NAME', 'This site has no name yet. Name it on the host:');

const sourceTable = (sources: readonly TransferSource[]): Html =>
  table<TransferSource>({
    caption: 'Trusted sources',
    columns: [
      { heading: 'Source', cell: ({ name }) => html`<a href="${sourceAddress(name)}">${name}</a>` },
      { heading: 'Signatures', cell: ({ threshold, keys }) => `${count(threshold)} of ${count(keys.length)}` },
      { heading: 'Packages', cell: ({ packages }) => packages.join(', ') },
      { heading: 'Accepted', cell: acceptanceOf },
    ],
    rows: sources,
    empty: 'No source is trusted yet.',
  });

const acceptanceOf = ({ accept, keyCopiedAt }: TransferSource): HtmlContent => {
  if (keyCopiedAt !== null) return badge('warn', 'blocked: a key was copied');
  return accept === 'automatic' ? badge('part', 'automatically') : 'by people';
};

/** Returns a trusted source; refuses an unknown name. */
async function findSource({ transferSources }: Pick<HandlerRecords, 'transferSources'>, name: string) {
  const source = await transferSources.find(name);
  if (source !== undefined) return source;
  throw new Refusal('resource-not-found', `This site does not trust a source '${name.slice(0, 64)}'.`);
}

const codes = (texts: readonly string[]): HtmlContent =>
  texts.length === 0
    ? 'none'
    : joined(
        texts.map((text) => html`<code>${text}</code>`),
        html`<br />`,
      );

export const consoleSource = screen({
  name: 'console_source',
  path: '/console/sites/:source',
  summary: 'Show the keys and the scope of a trusted source, with the forms to change them.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsolePageQuery',

  async show({ params, records, principal, browsing }) {
    const source = await findSource(records, params.source);
    const who = await readActorLabels([source.addedBy], records);
    const proof = principal.storeAdministrator ? await findOwnProof(principal, records) : undefined;
    return {
      title: source.name,
      lead: html`${count(source.threshold)} of ${count(source.keys.length)} ${noun(source.keys.length, 'key')} must
        sign. <a href="${path}">All sites</a>`,
      content: html`${source.keyCopiedAt === null ? nothing : notice('warn', copiedText)}
      ${facts([
        ['Fingerprints', codes(fingerprintOf(source.keys))],
        ['Scanning stations', codes(fingerprintOf(source.scanners))],
        ['Signatures of stations', count(source.scans)],
        ['Packages', codes(source.packages)],
        ['Releases', source.mayRelease ? 'accepted' : 'not accepted: channels stay as they are'],
        ['Transfers are accepted', source.accept === 'automatic' ? 'automatically' : 'by people'],
        [
          'Last accepted',
          `${source.floor === 0 ? 'nothing yet' : `number ${count(source.floor)}`}${source.floorInDoubt ? ', uncertain since a restore' : ''}`,
        ],
        ['Trusted since', html`${time(source.addedAt)}, by ${who(source.addedBy)}`],
      ])}
      ${
        proof === undefined
          ? nothing
          : html`<h2>Change the trust</h2>
              ${formOf(browsing, sourceAddress(source.name), html`${trustFields(source)} ${credentialFields(browsing, proof)} <button>Change</button>`)}
              ${rotationForm(browsing, source.name)}
              <h2>End the trust</h2>
              <p><a class="button grave" href="${sourceAddress(source.name)}/distrust">Stop trusting the source</a></p>`
      }`,
    };
  },
});

const copiedText =
  'Two different rotations with one number prove that a key of the source was copied. Ask its administrators by telephone which keys are theirs, end the trust, and trust the keys that they name.';

type TrustSettings = Pick<
  TransferSource,
  'keys' | 'threshold' | 'scanners' | 'scans' | 'packages' | 'mayRelease' | 'accept'
>;

/** The fields for the settings of the trust in a source. */
export const trustFields = ({
  keys,
  threshold,
  scanners,
  scans,
  packages,
  mayRelease,
  accept,
}: TrustSettings): Html => html`
  ${field({
    name: 'threshold',
    label: 'Signatures that a transfer needs',
    value: String(threshold),
    maxLength: 2,
    required: true,
    inputMode: 'numeric',
    hint: `From 1 to ${count(keys.length)}, the number of keys of the source.`,
  })}
  ${
    scanners.length === 0
      ? html`<input type="hidden" name="scans" value="0" />`
      : field({
          name: 'scans',
          label: 'Signatures of scanning stations',
          value: String(scans),
          maxLength: 2,
          required: true,
          inputMode: 'numeric',
          hint: `From 0 to ${count(scanners.length)}, the number of keys of stations.`,
        })
  }
  ${longField({
    name: 'packages',
    label: 'Packages that it may send',
    value: packages.join('\n'),
    maxLength: 4096,
    required: true,
    hint: 'Globs such as snap/*, one a line; */* for all.',
  })}
  ${tick('releases', 'Accept its releases; if not, only revisions', mayRelease)}
  ${choice({ name: 'accept', label: 'Transfers are accepted', value: accept }, [
    ['people', 'by people'],
    ['automatic', 'automatically, unless the preview marks something'],
  ])}
`;

/** The settings from a form. */
export function readTrustSettings(body: Omit<ConsoleSourceSettings, 'form-token'>) {
  const packages = body.packages.split(/[\s,]+/).filter((glob) => glob !== '');
  const wrong = packages.find((glob) => !isPackageGlob(glob));
  if (wrong !== undefined)
    throw new Refusal('api-error', `'${wrong.slice(0, 100)}' is not a glob such as snap/* at /packages`);
  if (packages.length === 0) throw new Refusal('api-error', 'Name the packages that the source may send.');
  const threshold = Number(body.threshold);
  if (threshold === 0) throw new Refusal('api-error', 'At least one key of the source must sign.');
  const [mayRelease, scans] = [body.releases === 'yes', Number(body.scans)];
  return { threshold, scans, packages, mayRelease, accept: body.accept };
}

export const consoleChangeSource = formHandler({
  name: 'console_change_source',
  path: '/console/sites/:source',
  summary: 'Change the settings of the trust in a source. Its keys stay.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleSourceSettings',
  refuses: [...credentialRefusals, 'conflict', ...gateErrorCodes],

  async perform(call) {
    const { params, body, records, principal, identity, acts } = call;
    const { name, keys, scanners } = await findSource(records, params.source);
    const settings = readTrustSettings(body);
    await identity.own.proveBeforeAct(principal.accountId, readCredentials(call));
    await acts.do(trustSource, caller(call), { name, keys, scanners, ...settings });
    return withMessage(sourceAddress(name), 'source-changed');
  },
});

export const consoleAskDistrustSource = screen({
  name: 'console_ask_distrust_source',
  path: '/console/sites/:source/distrust',
  summary: 'Ask whether to stop trusting a source.',
  access: storeAdministrator('store-manage'),

  async show({ params, records, browsing }) {
    const { name } = await findSource(records, params.source);
    return {
      title: `Stop trusting ${name}?`,
      lead: `Transfers of ${name} will be refused. Accepted transfers of it stay.`,
      content: html`${formOf(browsing, `${sourceAddress(name)}/distrust`, html`<button class="grave">Stop trusting ${name}</button>`)}
        ${hostCommand(`larder site distrust ${shellWord(name)} --yes`)}
        <p><a href="${sourceAddress(name)}">Cancel</a></p>`,
    };
  },
});

export const consoleDistrustSource = formHandler({
  name: 'console_distrust_source',
  path: '/console/sites/:source/distrust',
  summary: 'Stop trusting the transfers of a source. Accepted transfers of it stay.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleForm',

  async perform(call) {
    await call.acts.do(distrustSource, caller(call), { name: call.params.source });
    return withMessage(path, 'source-distrusted');
  },
});
