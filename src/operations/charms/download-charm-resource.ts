import { operation } from '#http/operation.ts';
import { publicCharms } from '#access/public-charms.ts';
import { fileResponses, respondWithFile } from '#http/response/byte-ranges.ts';
import { Refusal } from '#domain/refusal.ts';

const address = /^charm_([A-Za-z0-9]{1,64})\.([A-Za-z0-9._-]{1,128})_([1-9]\d{0,9})$/;

export const downloadCharmResource = operation({
  name: 'download_charm_resource',
  method: 'GET',
  path: '/api/v1/resources/download/:file',
  since: 0,
  summary:
    'Download a revision of a resource of a charm. For an image, this is the small file with its address for a cluster.',
  access: publicCharms,
  enabledBy: 'devices.charm',
  errors: 'juju',
  prefixed: false,
  ...fileResponses,

  async handle(call) {
    const { params, charms, records } = call;
    const [, id = '', name = '', number = ''] = address.exec(params.file) ?? [];
    const charm = await charms.findById(id);
    const resource = charm && (await records.resourceRevisions.find(charm.id, name, Number(number)));
    if (resource === undefined) throw new Refusal('resource-not-found', 'There is no such file.');
    return respondWithFile({ ...resource, name: params.file, private: false }, call);
  },
});
