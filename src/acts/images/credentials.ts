// Image credentials: push credentials, which expire after some hours, and pull credentials, which stay valid.
import { after, hours, timestamp } from '#domain/clock.ts';
import type { ImageCredential, PullCredential } from '#records/images/image-credentials.ts';
import type { Repository } from '#records/images/images.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { Refusal } from '#domain/refusal.ts';
import { act } from '../act.ts';

/** The maximum lifetime of push credentials; use does not extend it. */
export const maxPushCredentialMs = hours(6);

interface ResourceTarget {
  package: Pick<PublishedPackage, 'namespace' | 'name'>;
  repository: Repository;
}

/** New credentials: their user name, and the digest of their password. */
export interface NewCredential {
  id: string;
  /** The password's digest, hexadecimal. */
  secretSha256: string;
}

/** Pull credentials are given out repeatedly, so their password is stored, sealed. */
export interface SealedPullCredential {
  id: string;
  sealedSecret: string;
}

/** An image, and the facts about it that have to be recorded for clients that pull it. */
export interface PulledImage extends ResourceTarget {
  sha256: string;
  /** Whether to record that the image is wanted, so that it is kept until a resource names it. */
  shouldKeep: boolean;
  /** The external registry to record for the image. Set if it sends no notifications, so that only the publisher reports the push. */
  registry: string | undefined;
}

const object = ({ package: { namespace, name } }: ResourceTarget): string => `${namespace}/${name}`;

export const issuePushCredential = act({
  name: 'issue_push_credential',
  summary: 'Issue credentials to push the image of a resource.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'they expire after some hours, and devices get an image only when it is released' },

  /** They end with the session. `moment` is the latest time that the store has seen. */
  async perform(
    tx,
    request: ResourceTarget & { credential: NewCredential; sessionId: string; moment: string },
    { actor, note },
  ): Promise<void> {
    const { repository, credential, sessionId, moment: issuedAt } = request;
    note({ resource: repository.resource, credentials: credential.id });
    await tx.imageCredentials.forgetIssuedBefore(
      repository,
      timestamp(after(new Date(issuedAt), -maxPushCredentialMs)),
    );
    await tx.imageCredentials.addToPush(repository, { ...credential, accountId: actor, sessionId, issuedAt });
  },
});

export const issuePullCredential = act({
  name: 'issue_pull_credential',
  summary: 'Issue the content of an image resource: the address and the credentials that deployments need to pull it.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'they pull what the resource names, and nothing else' },

  /**
   * Returns the existing pull credentials of the repository, or else these new ones. `moment` is the latest time that
   * the store has seen.
   */
  async perform(
    tx,
    image: PulledImage & { credential: NewCredential & SealedPullCredential; moment: string },
    { at, note },
  ): Promise<SealedPullCredential> {
    const { repository, sha256, shouldKeep, registry, credential, moment: issuedAt } = image;
    note({ resource: repository.resource, digest: `sha256:${sha256}`, registry });
    if (shouldKeep) await tx.images.want(repository, sha256, at);
    if (registry !== undefined) await tx.externalImages.add(repository, { registry, sha256, at });
    const existing = await tx.imageCredentials.toPull(repository);
    if (existing !== undefined) return existing;
    note({ credentials: credential.id });
    await tx.imageCredentials.addToPull(repository, { ...credential, issuedAt });
    return credential;
  },
});

export const useImageCredential = act({
  name: 'use_push_credential',
  summary: 'Use credentials to push an image for the first time.',
  on: 'NAMESPACE/NAME',
  object: ({ credential: { namespace, name } }: { credential: ImageCredential; address: string; moment: string }) =>
    `${namespace}/${name}`,
  gate: { never: 'they were issued to be used' },

  /** `moment` is the latest time that the store has seen. */
  async perform(
    tx,
    { credential: { id, resource }, address, moment }: { credential: ImageCredential; address: string; moment: string },
    { note },
  ): Promise<void> {
    note({ address, resource, credentials: id });
    await tx.imageCredentials.use(id, moment);
  },
});

export const endPullCredential = act({
  name: 'end_pull_credential',
  summary: 'End pull credentials of an image, at once or after a grace period; new ones are issued on request.',
  on: 'image-credential/ID',
  object: ({ id }: { id: string }) => `image-credential/${id}`,
  gate: { never: 'credentials in the wrong hands must stop working at once' },

  /** An end that is set can be moved earlier but not later. `moment` is the latest time that the store has seen. */
  async perform(
    tx,
    { id, moment, endsAt }: { id: string; moment: string; endsAt: string },
    { note },
  ): Promise<PullCredential> {
    const credential = await tx.imageCredentials.pullById(id);
    if (credential === undefined) {
      throw new Refusal(
        'resource-not-found',
        `There are no pull credentials '${id.slice(0, 64)}'. List them with 'larder pull-credential list'.`,
      );
    }
    if (credential.endsAt !== null && (credential.endsAt <= moment || credential.endsAt <= endsAt)) {
      throw new Refusal('conflict', `The credentials ${id} end at ${credential.endsAt} already.`);
    }
    note({ package: `${credential.namespace}/${credential.name}`, resource: credential.resource, 'ends-at': endsAt });
    await tx.imageCredentials.endAt(id, endsAt);
    return { ...credential, endsAt };
  },
});

export const sweepPullCredentials = act({
  name: 'sweep_pull_credentials',
  summary: 'Delete pull credentials that ended long ago.',
  on: 'image-credentials',
  object: () => 'image-credentials',
  gate: { never: 'it follows from the time alone' },

  async perform(tx, { before, atMost }: { before: string; atMost: number }, { note }): Promise<number> {
    const forgotten = await tx.imageCredentials.forgetEnded(before, atMost);
    note({ forgotten });
    return forgotten;
  },
});

export const makeRegistryKey = act({
  name: 'make_registry_key',
  summary: 'Make the key that signs tokens for another image registry.',
  on: 'appliance/registry-key',
  object: () => 'appliance/registry-key',
  gate: { never: 'only a registry that was given its certificate trusts the key' },

  /** Returns the stored sealed key: the given one, unless another process stored one first. */
  async perform(tx, { sealed }: { sealed: string }): Promise<string> {
    const stored = await tx.appliance.find(registryKey);
    if (stored === undefined) await tx.appliance.set(registryKey, sealed);
    return stored ?? sealed;
  },
});

/** The appliance setting with the key that signs tokens for another registry. */
export const registryKey = 'registry-signing-key';
