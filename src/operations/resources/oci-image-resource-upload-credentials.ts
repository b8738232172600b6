import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { imageName, imageResource, registryHost } from './image-resource.ts';

export const ociImageResourceUploadCredentials = operation({
  name: 'oci_image_resource_upload_credentials',
  method: 'GET',
  path: '/v1/:namespace/:name/resources/:resource_name/oci-image/upload-credentials',
  since: 1,
  summary: 'Get credentials to push the image of a resource to the registry.',
  access: onPackage('package-manage-revisions'),
  response: 'OciImageResourceUploadCredentialsResponse',

  async handle(call) {
    const { package: subject, params, registry } = call;
    const repository = await imageResource(call, subject, params.resource_name);
    const login = await registry.credentials.toPush({ package: subject, repository }, caller(call));
    const name = imageName(registryHost(call), repository);
    return { 'image-name': name, username: login.username, password: login.password };
  },
});
