// The page of one revision: its details, its channels, and whether it may be released.
import { onPackage } from '#api/access.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import { html, joined, nothing, type Html } from '#api/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { revisionNamed } from '#operations/revisions/revision-named.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { Revision } from '#records/revisions.ts';
import { notice } from '../parts/notice.ts';
import { facts, table } from '../parts/table.ts';
import { count, size, time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOf } from './address.ts';
import { namesOf, type Names } from './people.ts';
import { madeFor, statusOf } from './revisions.ts';

/** The maximum of characters of a file, and of applications and channels, shown. */
const mostText = 8000;
const most = 100;

export const consoleRevision = screen({
  name: 'console_revision',
  path: '/console/packages/:namespace/:name/revisions/:revision',
  summary: 'Show a revision: its digests, what is inside, the channels that hold it, its assertions.',
  access: onPackage('package-view-revisions'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ package: subject, params, records, now }) {
    const one = await revisionOf(records, subject, params.revision);
    const names = await namesOf(records, [one.createdBy, one.withdrawnBy, one.deletedBy]);
    const held = await records.releases.holding(subject.id, one.revision, timestamp(now()));
    return {
      title: `${subject.namespace}/${subject.name}, revision ${String(one.revision)}`,
      lead: leadOf(one, held),
      content: html`${toKnow(one, names)} ${factsOf(one, names)} ${deedsOf(subject, one)} ${heldBy(subject, held)}
        ${inside(one)} ${await textsOf(records, subject, one)} ${await assertionsOf(records, one)}
        <p><a href="${addressOf(subject)}">Back to the package</a></p>`,
    };
  },
});

/** Returns the revision in the path, also if it was deleted. */
export async function revisionOf(
  { revisions }: Pick<HandlerRecords, 'revisions'>,
  subject: PublishedPackage,
  named: string,
): Promise<Revision> {
  const number = revisionNamed(named);
  const [found] = await revisions.before(subject.id, number + 1, 1);
  if (found?.revision === number) return found;
  throw new Refusal('resource-not-found', `'${subject.name}' has no revision ${String(number)}.`);
}

function leadOf({ version, withdrawnAt, deletedAt }: Revision, held: readonly Release[]): string {
  if (deletedAt !== null) return `Version ${version}, which is deleted.`;
  if (withdrawnAt !== null) return `Version ${version}, which is withdrawn: nobody gets it.`;
  const channels = [...new Set(held.map(({ channel }) => channel))];
  return `Version ${version}, ${channels.length === 0 ? 'which no channel holds' : `held by ${channels.slice(0, most).join(', ')}`}.`;
}

function toKnow(
  { withdrawnAt, withdrawnBecause, withdrawnBy, deletedAt, deletedBecause, deletedBy }: Revision,
  names: Names,
): Html {
  if (deletedAt !== null) {
    return notice(
      'note',
      html`Deleted by ${names(deletedBy)}, ${time(deletedAt)}: ${deletedBecause}. The same file pushed again brings it
      back.`,
    );
  }
  if (withdrawnAt === null) return nothing;
  return notice('note', html`Withdrawn by ${names(withdrawnBy)}, ${time(withdrawnAt)}: ${withdrawnBecause}`);
}

const factsOf = (one: Revision, names: Names): Html =>
  facts([
    ['State', statusOf(one)],
    ['Made for', madeFor(one)],
    ['Size', one.size < 1024 ? size(one.size) : `${size(one.size)} (${count(one.size)} bytes)`],
    ['Pushed', html`${time(one.createdAt)} by ${names(one.createdBy)}`],
    ['SHA3-384', html`<code>${one.sha3_384}</code>`],
    ['SHA-256', html`<code>${one.sha256}</code>`],
  ]);

/** Links to the changes that are possible. */
function deedsOf(subject: PublishedPackage, { revision, withdrawnAt, deletedAt }: Revision): Html {
  if (deletedAt !== null) return nothing;
  const withdraw = addressOf(subject, 'revisions', revision, 'withdraw');
  if (withdrawnAt !== null) return html`<p><a class="button" href="${withdraw}">Bring it back</a></p>`;
  return html`<p class="row">
    <a class="button" href="${addressOf(subject, 'release')}?revision=${revision}">Release it</a>
    <a href="${withdraw}">Withdraw it</a>
  </p>`;
}

const heldBy = (subject: PublishedPackage, held: readonly Release[]): Html =>
  html`<h2>Channels</h2>
    ${table({
      caption: 'Channels that hold it',
      columns: [
        { heading: 'Channel', cell: ({ channel }) => channel },
        { heading: 'For', cell: ({ slot }) => (slot === '*' ? 'All' : slot) },
        {
          heading: 'How far',
          cell: ({ progressive: { percentage, paused } }) =>
            percentage === null ? 'Everybody' : `${String(percentage)} %${paused === true ? ', paused' : ''}`,
        },
        { heading: 'Since', cell: ({ releasedAt }) => time(releasedAt) },
      ],
      rows: held.slice(0, most),
      empty: html`No channel holds it. <a href="${addressOf(subject)}">The package</a> says what they hold.`,
    })}`;

/** The details that the review found in the file. */
function inside({ details }: Revision): Html {
  const { apps, base, confinement, grade, type, buildUrl, said, notices = [] } = details;
  const resources = Object.entries(said?.resources ?? {}).map(([name, { filename }]) => `${name} (${filename})`);
  const known = (
    [
      ['Type', type],
      ['Base', base],
      ['Confinement', confinement],
      ['Grade', grade],
      ['Applications', listed(apps)],
      ['Provides', listed(said?.provides)],
      ['Requires', listed(said?.requires)],
      ['Resources', listed(resources)],
      ['Built at', buildUrl],
    ] as const
  ).flatMap(([name, value]): [string, string][] => (value === undefined || value === null ? [] : [[name, value]]));
  return known.length === 0
    ? nothing
    : html`<h2>What is inside</h2>
        ${notices.map((text) => notice('note', text))} ${facts(known)}`;
}

function listed(names: readonly string[] | undefined): string | undefined {
  if (names === undefined || names.length === 0) return undefined;
  return names.length > most ? `${names.slice(0, most).join(', ')} and others` : names.join(', ');
}

/** The stored files from inside the revision. */
async function textsOf(
  { revisions }: Pick<HandlerRecords, 'revisions'>,
  { id, namespace }: PublishedPackage,
  { revision }: Revision,
): Promise<Html> {
  const texts = await revisions.texts(id, revision);
  if (texts === undefined) return nothing;
  const named = [
    [namespace === 'snap' ? 'snap.yaml' : 'metadata.yaml', texts.packageYaml],
    ['config.yaml', texts.configYaml],
    ['actions.yaml', texts.actionsYaml],
    ['The build recipe', texts.craftYaml],
  ] as const;
  return html`${named.map(([name, text]) => (text === null || text === '' ? nothing : file(name, text)))}`;
}

const file = (name: string, text: string): Html =>
  html`<details>
    <summary>${name}</summary>
    ${text.length > mostText ? html`<p class="hint">The first ${count(mostText)} of ${count(text.length)} characters.</p>` : nothing}
    <pre tabindex="0" role="region" aria-label="${name}"><code>${text.slice(0, mostText)}</code></pre>
  </details>`;

/** The assertions about the revision. */
async function assertionsOf(
  { revisions, assertions }: Pick<HandlerRecords, 'revisions' | 'assertions'>,
  { packageId, revision }: Revision,
): Promise<Html> {
  const named = (await revisions.assertionsOf(packageId, [revision])).map(({ assertion }) => assertion);
  const kept = await assertions.listOf(named);
  if (kept.length === 0) return nothing;
  return html`<h2>Assertions</h2>
    ${joined(
      kept.map(
        ({ name, text, origin }) =>
          html`<p>${origin === 'signed' ? 'Signed here' : 'Carried in'}:</p>
            ${file(name, text)}`,
      ),
      '',
    )}`;
}
