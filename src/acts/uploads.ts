// Uploads: files that were sent, and that a package claims as a new revision of itself or of a resource.
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { ResourceRequest } from '#records/uploads.ts';
import { act, type Doing } from './act.ts';
import { resourceRequest, type WantedResource } from './resources.ts';

interface Push {
  /** The upload's id. */
  upload: string;
  package: PublishedPackage;
}

const object = <Input extends Push>({ package: { namespace, name } }: Input): string => `${namespace}/${name}`;

export const pushRevision = act({
  name: 'push_revision',
  summary: 'Claim an upload as a new revision of a package, and have it reviewed.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'devices get nothing of it before it is released' },

  perform: (tx, wanted: Push, doing) => claim(tx, wanted, doing),
});

export const pushResource = act({
  name: 'push_resource',
  summary: 'Claim an upload as a new revision of a resource.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'devices get nothing of it before it is released' },

  async perform(tx, wanted: Push & WantedResource, doing): Promise<void> {
    doing.note({ resource: wanted.resource });
    await claim(tx, wanted, doing, { name: wanted.resource, request: await resourceRequest(tx, wanted) });
  },
});

/** Whether a package has pushed this upload as the same before: a retry finds its first attempt. */
export const wasPushed = async (
  { uploads }: Pick<Changes, 'uploads'> | Pick<Records, 'uploads'>,
  { upload, package: subject, resource }: Push & { resource?: string | undefined },
): Promise<boolean> => (await uploads.review(subject.id, upload))?.resource === (resource ?? null);

async function claim(
  tx: Changes,
  { upload: id, package: subject }: Push,
  { at, actor, note }: Doing,
  resource?: { name: string; request: ResourceRequest },
): Promise<void> {
  note({ upload: id });
  const claimed = { packageId: subject.id, pushedBy: actor, pushedAt: at, ...(resource && { resource }) };
  if (await tx.uploads.claim(id, claimed)) {
    // What a stranger sends is in no log before somebody claims it: so this says where it came from.
    const { address, receivedAt, size, sha3_384 } = (await tx.uploads.find(id))!;
    note({ from: address, 'received-at': receivedAt, size, 'sha3-384': sha3_384 });
    return;
  }
  if (await wasPushed(tx, { upload: id, package: subject, resource: resource?.name })) return;
  throw new Refusal(
    'resource-not-found',
    `There is no upload '${id}' to push; send the file to /unscanned-upload/ first.`,
  );
}
