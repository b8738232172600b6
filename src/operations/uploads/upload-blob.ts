import { anyone } from '#access/access-rules.ts';
import { receiveUpload } from '#http/request/multipart.ts';
import { operation } from '#http/operation.ts';
import { clientOf } from '#domain/client.ts';
import { idleTimeoutMs, receiveUnclaimed } from './receive-unclaimed.ts';

export const uploadBlob = operation({
  name: 'upload_blob',
  method: 'POST',
  path: '/unscanned-upload/',
  since: 0,
  summary: 'Upload a file. Push it as a revision or a resource afterwards.',
  // The stock clients send no token here; unclaimed uploads are deleted after some hours.
  access: anyone,
  consumes: 'multipart/form-data',
  response: 'UploadResponse',
  refuses: ['length-required', 'too-many-requests', 'insufficient-storage'],

  async handle(call) {
    const { request, response, config, newId } = call;
    const { max_size: limit } = config.uploads;
    const client = clientOf(call.address);
    const id = newId.uuid();
    return receiveUpload(request, response, {
      field: 'binary',
      limit,
      idle: idleTimeoutMs,
      async receive(content, expected) {
        await receiveUnclaimed(call, content, { id, client, limit, expected, actor: 'anyone' });
        return { successful: true, upload_id: id };
      },
    });
  },
});
