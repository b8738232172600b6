// A device as snapd makes it: it asks for a request-id, signs a request with its own key, and sends it.
import { mediaType, type Headers } from '#assertions/format/assertion.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { vectorKey, vectorSigner } from '#test/assertions/vectors.ts';
import type { Reply, TestAppliance } from '#test/fixtures/appliance.ts';

export interface Device {
  keyId: string;
  /** Signs a request for a serial, with a fresh request-id unless another is given. */
  request(headers: Headers): Promise<string>;
  /** Sends its signed request, as a `snapd` that reads streams does. */
  send(text: string, headers?: Record<string, string>): Promise<Reply>;
}

export function device(store: TestAppliance, vector: string, path = '/device-service'): Device {
  const key = vectorKey(vector);
  const [requestId, serial] = path === '/device-service' ? ['/request-id', '/serial'] : ['/request-id', '/devices'];
  return {
    keyId: key.id,
    async request(headers) {
      const id = (await store.anyone.post(path + requestId, '', {})).body['request-id'];
      const all = { 'request-id': id, 'device-key': key.encoded, ...headers };
      return signAssertion(vectorSigner(), key.id, { type: 'serial-request', headers: all, signedAt: store.clock.now });
    },
    send: (text, headers = {}) =>
      store.anyone.post(path + serial, text, {
        'content-type': mediaType,
        'snap-device-capabilities': 'serial-stream',
        ...headers,
      }),
  };
}
