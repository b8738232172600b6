import { operation } from '#http/operation.ts';
import { publicCharms } from '#access/public-charms.ts';
import { fileResponses, respondWithFile } from '#http/response/byte-ranges.ts';
import { Refusal } from '#domain/refusal.ts';
import { countDownload } from '#records/packages/downloads.ts';

export const downloadCharm = operation({
  name: 'download_charm',
  method: 'GET',
  path: '/api/v1/charms/download/:file',
  since: 0,
  summary: 'Download the file of a revision of a charm or a bundle.',
  access: publicCharms,
  enabledBy: 'devices.charm',
  errors: 'juju',
  prefixed: false,
  ...fileResponses,

  async handle(call) {
    const { params, charms, records, now } = call;
    const [, id = '', number = ''] = /^([A-Za-z0-9]{1,64})_([1-9]\d{0,9})\.charm$/.exec(params.file) ?? [];
    const charm = await charms.findById(id);
    const revision = charm && (await records.revisions.forDevices(charm.id, Number(number)));
    // A revision that was never released stays hidden, also from guessing.
    if (charm === undefined || revision?.status !== 'released') {
      throw new Refusal('resource-not-found', 'There is no such file.');
    }
    const answer = await respondWithFile({ ...revision, name: params.file, private: false }, call);
    if (answer.status === 200) countDownload(records, charm.id, now());
    return answer;
  },
});
