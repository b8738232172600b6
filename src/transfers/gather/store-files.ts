// Charms, bundles, rocks and the resources of charms: a file is what an answer says whose digest it has, and nothing is guessed.
import type { TransferAccount, TransferPackage } from '#api/wire.ts';
import { readJson } from '#api/json.ts';
import { slotsOf } from '#domain/channel-map.ts';
import { timestamp } from '#domain/clock.ts';
import { namespaces, packageTypes } from '#domain/namespace.ts';
import { Refusal } from '#domain/refusal.ts';
import { everywhere } from '#domain/resource-base.ts';
import type { Verdict } from '#review/verdict.ts';
import { anyBytes, mediaTypes } from '../carried.ts';
import type { SaidPackage } from './answers.ts';
import { readAt, type FoundFile } from './folder.ts';
import type { FoundPackage } from './gathered.ts';
import { opened, type Sorting } from './sorting.ts';

type Match = ReturnType<Sorting['answers']['filesLike']>[number];

/** Takes a file up as everything that answers say that it is; a sentence where it cannot be, nothing where none speaks of it. */
export async function takeStoreFile(file: FoundFile, sorting: Sorting): Promise<'taken' | { why: string } | undefined> {
  const matches = sorting.answers.filesLike(sorting.digestsOf(file)).filter(({ of }) => of.type !== 'snap');
  let result: 'taken' | { why: string } | undefined;
  for (const match of matches) {
    const why =
      match.resource === undefined
        ? await takeRevision(file, match, sorting)
        : await takeResource(file, match, sorting);
    if (why === undefined) result = 'taken';
    else result ??= { why };
  }
  return result;
}

/** The package that an answer tells of; a sentence where it cannot be one here. */
export function packageOf(said: SaidPackage, { gathered }: Sorting): FoundPackage | string {
  const { id, name, type, publisher, title, summary, description, isPrivate } = said;
  const namespace = namespaces.find((one) => packageTypes(one).some((known) => known === type));
  if (namespace === undefined) return `No package is of the type '${type.slice(0, 32)}'.`;
  if (publisher === undefined) return `No answer in the folder says who publishes ${namespace}/${name}.`;
  const found = gathered.package({
    ...{ id, namespace, name, type, publisher: publisher.id, private: isPrivate },
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
  });
  if (found === undefined) return `Another package in the folder is ${namespace}/${name}, with another id.`;
  gathered.account({
    ...{ id: publisher.id, username: publisher.username ?? publisher.id },
    'display-name': publisher.displayName ?? publisher.username ?? publisher.id,
    validation: validationOf(publisher.validation),
  });
  return found;
}

const validationOf = (text: string | undefined): TransferAccount['validation'] =>
  text === 'verified' || text === 'starred' ? text : 'unproven';

/** What the charm store says of a resource names nothing that it is for. */
const forAll = { bases: everywhere, architectures: null, serves: [] };

/** Takes up a charm, a bundle or a rock; a sentence where it cannot be one. */
async function takeRevision(file: FoundFile, { of, revision }: Match, sorting: Sorting): Promise<string | undefined> {
  const found = packageOf(of, sorting);
  if (typeof found === 'string') return found;
  const verdict = await verdictOn(file, of, sorting);
  if (!verdict.approved) return verdict.errors.map(({ message }) => message).join(' ');
  const said = of.revisions.get(revision);
  const version = said?.version ?? ('facts' in verdict ? (verdict.facts.version ?? undefined) : undefined);
  const isOnly = found.addRevision({
    revision,
    content: sorting.contentOf(file, mediaTypes[of.type] ?? anyBytes),
    ...(version !== undefined && { version }),
    ...createdBy(of, said?.createdAt, sorting),
  });
  if (!isOnly) return `Another file in the folder is revision ${String(revision)} of ${found.called}.`;
  const bases = verdict.kind === 'charm' || verdict.kind === 'bundle' ? verdict.facts.bases : [];
  sorting.slots.set(`${of.id}/${String(revision)}`, slotsOf(found.about.namespace, { bases }));
  return undefined;
}

async function verdictOn(file: FoundFile, { type, name }: SaidPackage, sorting: Sorting): Promise<Verdict> {
  const kind = type === 'charm' || type === 'bundle' || type === 'rock' ? type : 'plain';
  return opened(file.path, (descriptor) => sorting.gathering.reviewer.reviewOpen({ kind, file: descriptor, name }));
}

export const createdBy = ({ publisher }: SaidPackage, createdAt: string | undefined, { gathering }: Sorting) => ({
  'created-at': createdAt ?? timestamp(gathering.now),
  'created-by': publisher?.id ?? '',
});

async function takeResource(file: FoundFile, match: Match, sorting: Sorting): Promise<string | undefined> {
  const { of, revision, resource = '' } = match;
  const found = packageOf(of, sorting);
  if (typeof found === 'string') return found;
  const said = of.resources.get(resource);
  if (said === undefined) throw new Error(`cannot take up ${resource}: no answer speaks of it`);
  const kept = {
    ...{ revision, ...createdBy(of, said.revisions.get(revision)?.createdAt, sorting) },
    ...forAll,
  };
  if (said.type === 'oci-image') {
    const named = await imageNamedIn(file);
    return named === undefined
      ? 'It names no image by its digest.'
      : takeImage({ found, resource, kept, sha256: named.sha256 }, sorting);
  }
  const isOnly = found.addResource(resource, said.type, { ...kept, content: sorting.contentOf(file, anyBytes) });
  return isOnly ? undefined : `Another file in the folder is revision ${String(revision)} of the resource ${resource}.`;
}

interface ImageOf {
  found: FoundPackage;
  resource: string;
  kept: Omit<TransferPackage['resources'][number]['revisions'][number], 'content' | 'image'>;
  /** Of its manifest. */
  sha256: string;
}

/** Takes up the image that a resource names; nothing but its digest is kept of what names it. */
async function takeImage({ found, resource, kept, sha256 }: ImageOf, sorting: Sorting): Promise<string | undefined> {
  const whole = sorting.images.whole(sha256);
  if (typeof whole === 'string') return whole;
  const manifests = [];
  const blobs = [];
  for (const { sha256: one, place, mediaType } of whole.manifests) {
    const content = await sorting.contentAt(place, one, mediaType);
    if (content === undefined) return `The image is damaged in the folder: sha256:${one} is not what its name says.`;
    manifests.push({ content, 'media-type': mediaType, tags: [] });
  }
  for (const { sha256: one, place } of whole.blobs) {
    const content = await sorting.contentAt(place, one, anyBytes);
    if (content === undefined) return `The image is damaged in the folder: sha256:${one} is not what its name says.`;
    blobs.push(content);
  }
  sorting.images.roots.delete(sha256);
  for (const { sha256: one } of whole.manifests) sorting.images.roots.delete(one);
  found.addImage({ resource, manifests, blobs });
  const isOnly = found.addResource(resource, 'oci-image', { ...kept, image: sha256 });
  return isOnly ? undefined : `Another file names another image as revision ${String(kept.revision)} of ${resource}.`;
}

/** What a deployment reads of an image is some hundred bytes. */
const longestNaming = 64 * 1024;

interface NamedImage extends Record<'charm' | 'resource' | 'revision', unknown> {
  sha256: string;
  /** Of its repository, with the registry. */
  path: string;
}

/** The image that a file names for a deployment; its credential is not looked at. */
async function imageNamedIn({ path, size }: FoundFile): Promise<NamedImage | undefined> {
  if (size > longestNaming) return undefined;
  try {
    const document = readJson((await readAt(path, 0, size)).toString()) as Record<string, unknown> | null;
    const name = document?.['ImageName'];
    const [, repository, sha256] =
      typeof name === 'string' ? (/^([^@\s]+)@sha256:([0-9a-f]{64})$/.exec(name) ?? []) : [];
    if (sha256 === undefined || repository === undefined) return undefined;
    return {
      sha256,
      path: repository,
      charm: document?.['charm'],
      resource: document?.['resource'],
      revision: document?.['revision'],
    };
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/**
 * Takes up a file that names an image and has no digest that an answer knows, because credentials differ from one download to the
 * next. It says itself which resource of which charm it is, as the script of a request writes it; or its repository says the charm's
 * id and the resource, and answers know one revision of that alone.
 */
export async function takeNaming(file: FoundFile, sorting: Sorting): Promise<'taken' | { why: string } | undefined> {
  const named = await imageNamedIn(file);
  if (named === undefined) return undefined;
  const segments = named.path.toLowerCase().split('/');
  for (const of of sorting.answers.all) {
    const isSaid = of.name === named.charm && of.type !== 'snap';
    if (!isSaid && !segments.includes(of.id.toLowerCase())) continue;
    for (const [resource, { type, revisions }] of of.resources) {
      if (type !== 'oci-image') continue;
      if (isSaid ? resource !== named.resource : segments.at(-1) !== resource.toLowerCase()) continue;
      const numbers = [...revisions.keys()].filter((number) => !isSaid || number === named.revision);
      if (numbers.length !== 1)
        return { why: `Answers speak of several revisions of the resource ${resource}, or not of this one.` };
      const why = await takeNamed({ of, resource, revision: numbers[0]!, sha256: named.sha256 }, sorting);
      return why === undefined ? 'taken' : { why };
    }
  }
  return { why: 'It names an image, and no answer in the folder says which resource of which charm it is.' };
}

function takeNamed(
  { of, resource, revision, sha256 }: Match & { resource: string; sha256: string },
  sorting: Sorting,
): Promise<string | undefined> | string {
  const found = packageOf(of, sorting);
  if (typeof found === 'string') return found;
  const said = of.resources.get(resource)?.revisions.get(revision);
  return takeImage(
    { found, resource, kept: { revision, ...createdBy(of, said?.createdAt, sorting), ...forAll }, sha256 },
    sorting,
  );
}

/** What a file is for a person of which no answer speaks. */
export async function whyUnknown(file: FoundFile, { gathering }: Sorting): Promise<string> {
  const found =
    file.kind === 'zip' ? await opened(file.path, (descriptor) => gathering.reviewer.ownName(descriptor)) : undefined;
  const name = found !== undefined && 'named' in found ? found.named?.name : undefined;
  if (name === undefined) return 'It is nothing that can be carried, and no answer in the folder speaks of it.';
  return (
    `No answer in the folder says which revision of charm/${name.slice(0, 64)} it is: save beside it what the charm ` +
    'store answers to info and refresh.'
  );
}
