import type { PulledImage } from '#acts/images/credentials.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import { after, days, seconds, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { imageKey, readDigest, sha256Of, type Repository } from '#registry/repository.ts';
import { caller } from '../caller.ts';
import { imageResource, formatImageResource, ownHost } from './image-resource.ts';

/** How long the notification of the external registry can take after a push. */
const notificationTimeoutMs = seconds(5);

export const ociImageResourceBlob = operation({
  name: 'oci_image_resource_blob',
  method: 'POST',
  path: '/v1/:namespace/:name/resources/:resource_name/oci-image/blob',
  since: 1,
  summary: 'Get the file that deployments need to pull a pushed image. Clients upload it as the resource.',
  access: onPackage('package-manage-revisions'),
  body: 'OciImageResourceBlobRequest',
  response: 'OciImageResourceBlobResponse',
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, params, body, registry } = call;
    const repository = await imageResource(call, subject, params.resource_name);
    const digest = body['image-digest'];
    const sha256 = sha256Of(digest) ?? (await findSha256(call, repository, digest));
    const keeper = sha256 === undefined ? undefined : await findKeeper(call, repository, sha256);
    if (sha256 === undefined || keeper === undefined) {
      throw new Refusal(
        'resource-not-found',
        `No image ${digest.slice(0, 100)} was pushed for the resource '${repository.resource}'${describeMissingReport(call)}.`,
      );
    }
    const { host, ...news } = keeper;
    // The same image must always give the same text: clients keep it as the content of the resource.
    const login = await registry.credentials.toPull({ package: subject, repository, sha256, ...news }, caller(call));
    return formatImageResource(host, repository, { sha256, ...login });
  },
});

/** The sha256 of an image that was pushed by its sha512. The response uses sha256, which all clients support. */
async function findSha256({ records }: Services, repository: Repository, digest: string): Promise<string | undefined> {
  const digits = readDigest(digest)?.digits;
  return digits === undefined ? undefined : (await records.images.manifest(repository, digits))?.sha256;
}

/** The host of the registry that stores an image, and the facts to record when a client gets its pull credentials. */
type ResourceImageKeeper = { host: string } & Pick<PulledImage, 'shouldKeep' | 'registry'>;

const toKeeper = (host: string): ResourceImageKeeper => ({ host, shouldKeep: false, registry: undefined });

/**
 * Finds the registry that stores an image: the configured external registry, else this store, else an external registry that was configured
 * earlier. Waits for the notification of an image that was pushed just now. Undefined if no registry has it.
 */
async function findKeeper(
  call: Services,
  repository: Repository,
  sha256: string,
): Promise<ResourceImageKeeper | undefined> {
  const { records, registry, config } = call;
  const { external, notifications } = config.registry;
  const searchRegistries = async (): Promise<ResourceImageKeeper | undefined> => {
    const keepers = await records.externalImages.keepers(repository, sha256);
    if (external !== undefined && keepers.includes(external)) return toKeeper(external);
    const manifest = await records.images.manifest(repository, sha256);
    if (manifest === undefined) return keepers[0] === undefined ? undefined : toKeeper(keepers[0]);
    if (await records.images.isDamaged(repository, sha256)) throw corruptRecordRefusal(repository);
    // Keep an older image from the sweep, because the client is about to publish it.
    const mustKeep = manifest.pushedAt < timestamp(after(call.now(), -days(1)));
    return { ...toKeeper(ownHost(call)), shouldKeep: mustKeep };
  };
  const keeper = await searchRegistries();
  if (keeper !== undefined || external === undefined) return keeper;
  if (!notifications) return { ...toKeeper(external), registry: external };
  return registry.news.wait(imageKey(repository, sha256), searchRegistries, notificationTimeoutMs);
}

const corruptRecordRefusal = ({ resource }: Repository): Refusal =>
  new Refusal(
    'conflict',
    `The store's record of this image of the resource '${resource}' is corrupt. ` +
      'An administrator must restore the records from a backup.',
  );

const describeMissingReport = ({ config: { registry } }: Services): string =>
  registry.external === undefined ? '' : `, and the external registry ${registry.external} has not reported it`;
