// Gathers charms, bundles, rocks and resources of charms. The digest of a file must match a saved response; nothing is guessed.
import type { TransferAccount, TransferPackage } from '#contract/wire.ts';
import { readJson } from '#contract/json.ts';
import { slotsOf } from '#domain/releases/channel-map.ts';
import { timestamp } from '#domain/clock.ts';
import { namespaces, packageTypes } from '#domain/packages/namespace.ts';
import { Refusal } from '#domain/refusal.ts';
import { everywhere } from '#domain/resources/resource-base.ts';
import type { ReviewVerdict } from '#review/verdict.ts';
import { anyBytes, mediaTypes } from '../make/media-types.ts';
import type { ReportedPackage } from './saved-responses.ts';
import { readAt, type GatheredFile } from './folder.ts';
import type { GatheredPackage } from './gathered-content.ts';
import { withOpenFile, type GatherState } from './gather-state.ts';

type ReportedFileMatch = ReturnType<GatherState['answers']['filesLike']>[number];

/**
 * Adds a file in all the roles that responses give it. Returns a reason if it cannot be included; undefined if no response describes it.
 */
export async function takeStoreFile(
  file: GatheredFile,
  sorting: GatherState,
): Promise<'taken' | { reason: string } | undefined> {
  const matches = sorting.answers.filesLike(sorting.digestsOf(file)).filter(({ of }) => of.type !== 'snap');
  let result: 'taken' | { reason: string } | undefined;
  for (const match of matches) {
    const reason =
      match.resource === undefined
        ? await takeRevision(file, match, sorting)
        : await takeResource(file, match, sorting);
    if (reason === undefined) result = 'taken';
    else result ??= { reason };
  }
  return result;
}

/** Returns the package in a response, or a sentence if it is not valid in this store. */
export function packageOf(reported: ReportedPackage, { gathered }: GatherState): GatheredPackage | string {
  const { id, name, type, publisher, title, summary, description, isPrivate } = reported;
  const namespace = namespaces.find((candidate) => packageTypes(candidate).some((packageType) => packageType === type));
  if (namespace === undefined) return `There is no package type '${type.slice(0, 32)}'.`;
  if (publisher === undefined) return `No response in the folder names the publisher of ${namespace}/${name}.`;
  const entry = gathered.package({
    id,
    namespace,
    name,
    type,
    publisher: publisher.id,
    private: isPrivate,
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
  });
  if (entry === undefined) return `Another package in the folder is ${namespace}/${name}, with another id.`;
  gathered.account({
    id: publisher.id,
    username: publisher.username ?? publisher.id,
    'display-name': publisher.displayName ?? publisher.username ?? publisher.id,
    validation: validationOf(publisher.validation),
  });
  return entry;
}

const validationOf = (text: string | undefined): TransferAccount['validation'] =>
  text === 'verified' || text === 'starred' ? text : 'unproven';

/** The charm store does not say which bases or architectures a resource is for. */
const forAll = { bases: everywhere, architectures: null, serves: [] };

/** Adds a charm, a bundle or a rock. Returns a reason if it is not valid. */
async function takeRevision(
  file: GatheredFile,
  { of, revision }: ReportedFileMatch,
  sorting: GatherState,
): Promise<string | undefined> {
  const entry = packageOf(of, sorting);
  if (typeof entry === 'string') return entry;
  const verdict = await verdictOn(file, of, sorting);
  if (!verdict.approved) return verdict.errors.map(({ message }) => message).join(' ');
  const reported = of.revisions.get(revision);
  const version = reported?.version ?? ('facts' in verdict ? (verdict.facts.version ?? undefined) : undefined);
  const isOnly = entry.addRevision({
    revision,
    content: sorting.contentOf(file, mediaTypes[of.type] ?? anyBytes),
    ...(version !== undefined && { version }),
    ...createdBy(of, reported?.createdAt, sorting),
  });
  if (!isOnly) return `Another file in the folder is revision ${String(revision)} of ${entry.called}.`;
  const bases = verdict.kind === 'charm' || verdict.kind === 'bundle' ? verdict.facts.bases : [];
  sorting.slots.set(`${of.id}/${String(revision)}`, slotsOf(entry.about.namespace, { bases }));
  return undefined;
}

async function verdictOn(
  file: GatheredFile,
  { type, name }: ReportedPackage,
  sorting: GatherState,
): Promise<ReviewVerdict> {
  const kind = type === 'charm' || type === 'bundle' || type === 'rock' ? type : 'plain';
  return withOpenFile(file.path, (descriptor) =>
    sorting.gathering.reviewer.reviewOpen({ kind, file: descriptor, name }),
  );
}

export const createdBy = (
  { publisher }: ReportedPackage,
  createdAt: string | undefined,
  { gathering }: GatherState,
) => ({
  'created-at': createdAt ?? timestamp(gathering.now),
  'created-by': publisher?.id ?? '',
});

async function takeResource(
  file: GatheredFile,
  match: ReportedFileMatch,
  sorting: GatherState,
): Promise<string | undefined> {
  const { of, revision, resource = '' } = match;
  const entry = packageOf(of, sorting);
  if (typeof entry === 'string') return entry;
  const reported = of.resources.get(resource);
  if (reported === undefined) throw new Error(`cannot take up ${resource}: no response describes it`);
  const resourceRevision = {
    revision,
    ...createdBy(of, reported.revisions.get(revision)?.createdAt, sorting),
    ...forAll,
  };
  if (reported.type === 'oci-image') {
    const image = await imageNamedIn(file);
    return image === undefined
      ? 'It names no image by its digest.'
      : takeImage({ entry, resource, resourceRevision, sha256: image.sha256 }, sorting);
  }
  const isOnly = entry.addResource(resource, reported.type, {
    ...resourceRevision,
    content: sorting.contentOf(file, anyBytes),
  });
  return isOnly ? undefined : `Another file in the folder is revision ${String(revision)} of the resource ${resource}.`;
}

interface GatheredResourceImage {
  entry: GatheredPackage;
  resource: string;
  resourceRevision: Omit<TransferPackage['resources'][number]['revisions'][number], 'content' | 'image'>;
  /** Digest of its manifest. */
  sha256: string;
}

/** Adds the image of a resource. Keeps only the digest from the file that names it. */
async function takeImage(
  { entry, resource, resourceRevision, sha256 }: GatheredResourceImage,
  sorting: GatherState,
): Promise<string | undefined> {
  const whole = sorting.images.findComplete(sha256);
  if (typeof whole === 'string') return whole;
  const manifests = [];
  const blobs = [];
  for (const { sha256: digest, place, mediaType } of whole.manifests) {
    const content = await sorting.contentAt(place, digest, mediaType);
    if (content === undefined) return `The image is corrupt in the folder: sha256:${digest} does not match its digest.`;
    manifests.push({ content, 'media-type': mediaType, tags: [] });
  }
  for (const { sha256: digest, place } of whole.blobs) {
    const content = await sorting.contentAt(place, digest, anyBytes);
    if (content === undefined) return `The image is corrupt in the folder: sha256:${digest} does not match its digest.`;
    blobs.push(content);
  }
  sorting.images.roots.delete(sha256);
  for (const { sha256: digest } of whole.manifests) sorting.images.roots.delete(digest);
  entry.addImage({ resource, manifests, blobs });
  const isOnly = entry.addResource(resource, 'oci-image', { ...resourceRevision, image: sha256 });
  return isOnly
    ? undefined
    : `Another file names another image as revision ${String(resourceRevision.revision)} of ${resource}.`;
}

/** Maximum size of a file that names an image. A deployment needs some hundred bytes. */
const maxReferenceBytes = 64 * 1024;

interface DeploymentImage extends Record<'charm' | 'resource' | 'revision', unknown> {
  sha256: string;
  /** The repository with its registry. */
  path: string;
}

/** Returns the image that a deployment file names. Does not read its credentials. */
async function imageNamedIn({ path, size }: GatheredFile): Promise<DeploymentImage | undefined> {
  if (size > maxReferenceBytes) return undefined;
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
export async function addImageReference(
  file: GatheredFile,
  sorting: GatherState,
): Promise<'taken' | { reason: string } | undefined> {
  const image = await imageNamedIn(file);
  if (image === undefined) return undefined;
  const segments = image.path.toLowerCase().split('/');
  for (const of of sorting.answers.all) {
    const isSaid = of.name === image.charm && of.type !== 'snap';
    if (!isSaid && !segments.includes(of.id.toLowerCase())) continue;
    for (const [resource, { type, revisions }] of of.resources) {
      if (type !== 'oci-image') continue;
      if (isSaid ? resource !== image.resource : segments.at(-1) !== resource.toLowerCase()) continue;
      const numbers = [...revisions.keys()].filter((number) => !isSaid || number === image.revision);
      if (numbers.length !== 1)
        return { reason: `The responses name several revisions of the resource ${resource}, or not this one.` };
      const reason = await takeNamed({ of, resource, revision: numbers[0]!, sha256: image.sha256 }, sorting);
      return reason === undefined ? 'taken' : { reason };
    }
  }
  return { reason: 'It names an image, but no response in the folder says which resource of a charm it is.' };
}

function takeNamed(
  { of, resource, revision, sha256 }: ReportedFileMatch & { resource: string; sha256: string },
  sorting: GatherState,
): Promise<string | undefined> | string {
  const entry = packageOf(of, sorting);
  if (typeof entry === 'string') return entry;
  const reported = of.resources.get(resource)?.revisions.get(revision);
  return takeImage(
    {
      entry,
      resource,
      resourceRevision: { revision, ...createdBy(of, reported?.createdAt, sorting), ...forAll },
      sha256,
    },
    sorting,
  );
}

/** Explains a file that no response describes. */
export async function explainUnknown(file: GatheredFile, { gathering }: GatherState): Promise<string> {
  const nameResult =
    file.kind === 'zip'
      ? await withOpenFile(file.path, (descriptor) => gathering.reviewer.ownName(descriptor))
      : undefined;
  const name = nameResult !== undefined && 'ownName' in nameResult ? nameResult.ownName?.name : undefined;
  if (name === undefined) return 'Its format is not known, and no response in the folder describes it.';
  return (
    `No response in the folder says which revision of charm/${name.slice(0, 64)} it is. Save the responses of the charm ` +
    'store to info and refresh beside it.'
  );
}
