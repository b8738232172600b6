import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { sha256Of } from '#registry/repository.ts';
import { by } from '../by.ts';
import { imageName, imageResource } from './image-resource.ts';

export const ociImageResourceBlob = operation({
  name: 'oci_image_resource_blob',
  method: 'POST',
  path: '/v1/:namespace/:name/resources/:resource_name/oci-image/blob',
  since: 1,
  summary: 'Get what deployments need to fetch an image that was pushed, to be uploaded as the resource.',
  access: onPackage('package-manage-revisions'),
  body: 'OciImageResourceBlobRequest',
  response: 'OciImageResourceBlobResponse',

  async handle(call) {
    const { package: subject, params, body, records, registry, now } = call;
    const repository = await imageResource(call, subject, params.resource_name);
    const digest = body['image-digest'];
    const sha256 = sha256Of(digest);
    if (sha256 === undefined || (await records.images.manifest(repository, sha256)) === undefined) {
      throw new Refusal(
        'resource-not-found',
        `No image ${digest.slice(0, 100)} was pushed for the resource '${repository.resource}'.`,
      );
    }
    // The same image must always come out the same: clients keep this text as the content of the resource.
    const login = await registry.credentials.toPull(repository, {
      ...by(call, 'oci_image_resource_blob'),
      at: timestamp(now()),
      object: `${subject.namespace}/${subject.name}`,
      details: { resource: repository.resource },
    });
    return {
      ImageName: `${imageName(call, repository)}@${digest}`,
      Username: login.username,
      Password: login.password,
    };
  },
});
