// Gathers charms, bundles, rocks and resources of charms. The digest of a file must match a saved response; nothing is guessed.
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

/**
 * Adds a file in all the roles that responses give it. Returns a reason if it cannot be included; undefined if no response describes it.
 */
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

/** Returns the package in a response, or a sentence if it is not valid in this store. */
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

/** The charm store does not say which bases or architectures a resource is for. */
const forAll = { bases: everywhere, architectures: null, serves: [] };

/** Adds a charm, a bundle or a rock. Returns a reason if it is not valid. */
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
  /** Digest of its manifest. */
  sha256: string;
}

/** Adds the image of a resource. Keeps only the digest from the file that names it. */
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

/** Maximum size of a file that names an image. A deployment needs some hundred bytes. */
const longestNaming = 64 * 1024;

interface NamedImage extends Record<'charm' | 'resource' | 'revision', unknown> {
  sha256: string;
  /** The repository with its registry. */
  path: string;
}

/** Returns the image that a deployment file names. Does not read its credentials. */
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
 * Adds a file that names an image. No response contains its digest, because its credentials change with each download. The file itself
 * names charm and resource, as the script of a request writes it; or its repository contains the charm's id and the resource, and the
 * responses list only one revision of it.
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

/** Explains a file that no response describes. */
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
