// The page of one revision: its details, its channels, and whether it may be released.
import { onPackage } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, joined, nothing, type Html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { parseRevisionNumber } from '#operations/revisions/parse-revision-number.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { Revision } from '#records/revisions/revisions.ts';
import { notice } from '../parts/notice.ts';
import { facts, table } from '../parts/table.ts';
import { count, identifier, size, time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOf } from '../packages/address.ts';
import { readActorNames, type ConsoleActorNames } from '../packages/actor-names.ts';
import { describeTargets, statusOf } from './revisions.ts';

/** The maximum number of characters of a file to show, and of applications and channels. */
const maxTextLength = 8000;
const maxItems = 100;

export const consoleRevision = screen({
  name: 'console_revision',
  path: '/console/packages/:namespace/:name/revisions/:revision',
  summary: 'Show a revision: its digests, contents, channels and assertions.',
  access: onPackage('package-view-revisions'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ package: subject, params, records, now }) {
    const revision = await findRevision(records, subject, params.revision);
    const names = await readActorNames(records, [revision.createdBy, revision.withdrawnBy, revision.deletedBy]);
    const held = await records.releases.holding(subject.id, revision.revision, timestamp(now()));
    return {
      title: `${subject.namespace}/${subject.name}, revision ${String(revision.revision)}`,
      lead: describeState(revision, held),
      content: html`${renderNotice(revision, names)} ${renderFacts(revision, names)} ${renderActions(subject, revision)}
        ${renderChannels(subject, held)} ${renderReviewFindings(revision)}
        ${await renderStoredFiles(records, subject, revision)} ${await renderAssertions(records, revision)}
        <p><a href="${addressOf(subject)}">Back to the package</a></p>`,
    };
  },
});

/** Returns the revision in the path, also if it was deleted. */
export async function findRevision(
  { revisions }: Pick<HandlerRecords, 'revisions'>,
  subject: PublishedPackage,
  text: string,
): Promise<Revision> {
  const number = parseRevisionNumber(text);
  const [revision] = await revisions.before(subject.id, number + 1, 1);
  if (revision?.revision === number) return revision;
  throw new Refusal('resource-not-found', `'${subject.name}' has no revision ${String(number)}.`);
}

function describeState({ version, withdrawnAt, deletedAt }: Revision, held: readonly Release[]): string {
  if (deletedAt !== null) return `Version ${version}, deleted.`;
  if (withdrawnAt !== null) return `Version ${version}, withdrawn: the store does not offer it.`;
  const channels = [...new Set(held.map(({ channel }) => channel))];
  return `Version ${version}, ${channels.length === 0 ? 'in no channel' : `in ${channels.slice(0, maxItems).join(', ')}`}.`;
}

function renderNotice(
  { withdrawnAt, withdrawnBecause, withdrawnBy, deletedAt, deletedBecause, deletedBy }: Revision,
  names: ConsoleActorNames,
): Html {
  if (deletedAt !== null) {
    return notice(
      'note',
      html`Deleted by ${names(deletedBy)}, ${time(deletedAt)}: ${deletedBecause}. Push the same file again to restore
      it.`,
    );
  }
  if (withdrawnAt === null) return nothing;
  return notice('note', html`Withdrawn by ${names(withdrawnBy)}, ${time(withdrawnAt)}: ${withdrawnBecause}`);
}

const renderFacts = (revision: Revision, names: ConsoleActorNames): Html =>
  facts([
    ['State', statusOf(revision)],
    ['Made for', describeTargets(revision)],
    ['Size', revision.size < 1024 ? size(revision.size) : `${size(revision.size)} (${count(revision.size)} bytes)`],
    ['Pushed', html`${time(revision.createdAt)} by ${names(revision.createdBy)}`],
    ['SHA3-384', identifier(revision.sha3_384)],
    ['SHA-256', identifier(revision.sha256)],
  ]);

/** Links to the changes that are possible. */
function renderActions(subject: PublishedPackage, { revision, withdrawnAt, deletedAt }: Revision): Html {
  if (deletedAt !== null) return nothing;
  const withdraw = addressOf(subject, 'revisions', revision, 'withdraw');
  if (withdrawnAt !== null) return html`<p><a class="button" href="${withdraw}">Restore</a></p>`;
  return html`<p class="row">
    <a class="button" href="${addressOf(subject, 'release')}?revision=${revision}">Release</a>
    <a href="${withdraw}">Withdraw</a>
  </p>`;
}

const renderChannels = (subject: PublishedPackage, held: readonly Release[]): Html =>
  html`<h2>Channels</h2>
    ${table({
      caption: 'Channels with this revision',
      columns: [
        { heading: 'Channel', cell: ({ channel }) => channel },
        { heading: 'For', cell: ({ slot }) => (slot === '*' ? 'All' : slot) },
        {
          heading: 'How far',
          cell: ({ progressive: { percentage, paused } }) =>
            percentage === null ? 'All devices' : `${String(percentage)} %${paused === true ? ', paused' : ''}`,
        },
        { heading: 'Since', cell: ({ releasedAt }) => time(releasedAt) },
      ],
      rows: held.slice(0, maxItems),
      empty: html`The revision is in no channel. See <a href="${addressOf(subject)}">the channels of the package</a>.`,
    })}`;

/** The details that the review found in the file. */
function renderReviewFindings({ details }: Revision): Html {
  const { apps, base, confinement, grade, type, buildUrl, said: declarations, notices = [] } = details;
  const resources = Object.entries(declarations?.resources ?? {}).map(
    ([name, { filename }]) => `${name} (${filename})`,
  );
  const pairs = (
    [
      ['Type', type],
      ['Base', base],
      ['Confinement', confinement],
      ['Grade', grade],
      ['Applications', joinNames(apps)],
      ['Provides', joinNames(declarations?.provides)],
      ['Requires', joinNames(declarations?.requires)],
      ['Resources', joinNames(resources)],
      ['Built at', buildUrl],
    ] as const
  ).flatMap(([name, value]): [string, string][] => (value === undefined || value === null ? [] : [[name, value]]));
  return pairs.length === 0
    ? nothing
    : html`<h2>Contents</h2>
        ${notices.map((text) => notice('note', text))} ${facts(pairs)}`;
}

function joinNames(names: readonly string[] | undefined): string | undefined {
  if (names === undefined || names.length === 0) return undefined;
  return names.length > maxItems ? `${names.slice(0, maxItems).join(', ')} and others` : names.join(', ');
}

/** The stored files from inside the revision. */
async function renderStoredFiles(
  { revisions }: Pick<HandlerRecords, 'revisions'>,
  { id, namespace }: PublishedPackage,
  { revision }: Revision,
): Promise<Html> {
  const texts = await revisions.texts(id, revision);
  if (texts === undefined) return nothing;
  const files = [
    [namespace === 'snap' ? 'snap.yaml' : 'metadata.yaml', texts.packageYaml],
    ['config.yaml', texts.configYaml],
    ['actions.yaml', texts.actionsYaml],
    ['The build recipe', texts.craftYaml],
  ] as const;
  return html`${files.map(([name, text]) => (text === null || text === '' ? nothing : file(name, text)))}`;
}

const file = (name: string, text: string): Html =>
  html`<details>
    <summary>${name}</summary>
    ${text.length > maxTextLength ? html`<p class="hint">The first ${count(maxTextLength)} of ${count(text.length)} characters.</p>` : nothing}
    <pre tabindex="0" role="region" aria-label="${name}"><code>${text.slice(0, maxTextLength)}</code></pre>
  </details>`;

/** The assertions about the revision. */
async function renderAssertions(
  { revisions, assertions }: Pick<HandlerRecords, 'revisions' | 'assertions'>,
  { packageId, revision }: Revision,
): Promise<Html> {
  const assertionNames = (await revisions.assertionsOf(packageId, [revision])).map(({ assertion }) => assertion);
  const stored = await assertions.listOf(assertionNames);
  if (stored.length === 0) return nothing;
  return html`<h2>Assertions</h2>
    ${joined(
      stored.map(
        ({ name, text, origin }) =>
          html`<p>${origin === 'signed' ? 'Signed here' : 'Carried in'}:</p>
            ${file(name, text)}`,
      ),
      '',
    )}`;
}
