// Edits the metadata of a package. Sends only the fields that were changed on the page: changes by other people in the meantime stay, and
// fields that follow the uploaded packages continue to follow them.
import { createDigest } from '#domain/cryptography.ts';
import { updatePackageMetadata } from '#acts/packages/metadata.ts';
import { onPackage } from '#access/access-rules.ts';
import { readJson } from '#contract/json.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { ConsoleDescribe, UpdatePackageMetadataRequest } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '#operations/caller.ts';
import { readMetadataRequest } from '#operations/packages/metadata-request.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { choice, field, formOf, longField } from '../parts/form.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOf } from './address.ts';

const withMessage = declareMessages({
  'described-as-before': 'No changes were made.',
  described: 'The description is changed.',
});

const path = '/console/packages/:namespace/:name/describe';
const access = onPackage('package-manage-metadata');

/** The kinds of links with their labels. */
const kinds = {
  contact: 'Contact',
  website: 'Website',
  docs: 'Documentation',
  issues: 'Issues',
  source: 'Source code',
  donations: 'Donations',
} as const;
type PackageLinkKind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as PackageLinkKind[];

/** The fields of the page by name. */
type PackageMetadataFields = Omit<ConsoleDescribe, 'form-token' | 'shown'>;

const fieldsOf = ({
  title,
  summary,
  description,
  defaultTrack,
  private: isPrivate,
  links,
}: PublishedPackage): PackageMetadataFields => {
  const linksIn = (kind: PackageLinkKind): string => (links[kind] ?? []).join('\n');
  return {
    title: title ?? '',
    summary: summary ?? '',
    description: description ?? '',
    'default-track': defaultTrack ?? '',
    seen: isPrivate ? 'by its people' : 'by everybody',
    ...(Object.fromEntries(kindNames.map((kind) => [kind, linksIn(kind)])) as Record<PackageLinkKind, string>),
  };
};

/** The text as a form returns it: browsers change line ends, and drop a line end at the beginning. */
const asSent = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/^\n/, '').trimEnd();

const digestOf = (text: string): string => createDigest('change').update(asSent(text)).digest('base64url').slice(0, 16);

export const consoleAskDescribe = screen({
  name: 'console_ask_describe',
  path,
  summary: 'Show the form to edit the metadata and the default track of a package.',
  access,
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ package: subject, records, browsing }) {
    const fields = fieldsOf(subject);
    const tracks = (await records.tracks.list(subject.id)).map(({ name }) => name);
    const shown = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, digestOf(text)]));
    const page = addressOf(subject);
    return {
      title: `Describe ${subject.namespace}/${subject.name}`,
      lead: 'People see this before they install the package. An empty title, summary or description is taken from the uploaded file.',
      content: html`${formOf(
          browsing,
          addressOf(subject, 'describe'),
          html`<input type="hidden" name="shown" value="${JSON.stringify(shown)}" /> ${prose(fields)}
            ${choice({ name: 'default-track', label: 'Default track', value: fields['default-track'] }, [
              ['', 'None, which means latest'],
              ...tracks.map((track) => [track, track] as const),
            ])}
            ${choice({ name: 'seen', label: 'Visible', value: fields.seen }, [
              ['by everybody', 'To everyone'],
              ['by its people', 'Only to its publisher and collaborators'],
            ])}
            ${kindNames.map((kind) => linkField(kind, fields))} <button>Save</button>`,
        )}
        <p><a href="${page}">Cancel</a></p>`,
    };
  },
});

const prose = ({ title, summary, description }: PackageMetadataFields): Html =>
  html`${field({ name: 'title', label: 'Title', value: title, maxLength: 256 })}
  ${field({ name: 'summary', label: 'Summary', value: summary, maxLength: 512, hint: 'One line.' })}
  ${longField({ name: 'description', label: 'Description', value: description, maxLength: 65536 })}`;

const linkField = (kind: PackageLinkKind, fields: PackageMetadataFields): Html =>
  longField({
    name: kind,
    label: kinds[kind],
    value: fields[kind],
    maxLength: 10_240,
    hint:
      kind === 'contact' || kind === 'website'
        ? 'Addresses that begin with https://, http:// or mailto:, one per line, at most five.'
        : 'One per line, at most five.',
  });

export const consoleDescribe = formHandler({
  name: 'console_describe',
  path,
  summary: 'Change the metadata of a package.',
  access,
  body: 'ConsoleDescribe',
  bodyLimit: 1024 * 1024,

  async perform(call) {
    const { package: subject, body, acts } = call;
    const changes = changed(body);
    if (Object.keys(changes).length === 0) return withMessage(addressOf(subject), 'described-as-before');
    await acts.do(updatePackageMetadata, caller(call), {
      package: subject,
      members: Object.keys(changes),
      changes: readMetadataRequest(changes),
    });
    return withMessage(addressOf(subject), 'described');
  },
});

/** The fields that differ from the shown ones, as a request of the interface. */
function changed({ shown, ...fields }: Omit<ConsoleDescribe, 'form-token'>): UpdatePackageMetadataRequest {
  const before = readJson(shown) as Partial<Record<string, unknown>> | null | undefined;
  const isChanged = (name: keyof PackageMetadataFields): boolean => before?.[name] !== digestOf(fields[name]);
  const texts = (['title', 'summary', 'description'] as const).filter(isChanged);
  const links = kindNames.filter(isChanged).map((kind) => [kind, linksIn(kind, fields[kind])] as const);
  return {
    ...Object.fromEntries(texts.map((name) => [name, asSent(fields[name])])),
    ...(isChanged('default-track') && { 'default-track': fields['default-track'] || null }),
    ...(isChanged('seen') && { private: fields.seen === 'by its people' }),
    ...(links.length > 0 && { links: Object.fromEntries(links) }),
  };
}

function linksIn(kind: PackageLinkKind, text: string): string[] {
  const links = asSent(text)
    .split('\n')
    .map((link) => link.trim())
    .filter((link) => link !== '');
  if (links.length <= 5 && links.every((link) => link.length <= 2000)) return links;
  throw new Refusal('api-error', `${kinds[kind]} has at most five addresses, each of at most 2000 characters.`);
}
