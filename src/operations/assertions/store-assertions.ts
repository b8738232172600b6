// Serves the store assertion with its prerequisites. After `snap ack`, a device trusts the address of this store.
import { mediaType, parseAssertion, stream } from '#assertions/format/assertion.ts';
import { withPrerequisites } from '#assertions/prerequisites.ts';
import { storeAssertionMissing } from '#assertions/store-assertion.ts';
import { anyone } from '#access/access-rules.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';

export const storeAssertions = operation({
  name: 'store_assertions',
  method: 'GET',
  path: '/v2/auth/store/assertions',
  since: 0,
  summary: "Get the store assertion of this store with its account and keys, for 'snap ack'.",
  access: anyone,
  produces: [mediaType],
  headers: ['content-disposition'],
  refuses: ['not-found'],
  prefixed: false,
  errors: 'snapd',
  enabledBy: 'devices.snap',

  async handle({ records, config }) {
    const { id } = config.store;
    const stored = await records.assertions.find(`store/${id}`);
    if (stored === undefined) {
      throw new Refusal('not-found', storeAssertionMissing(id));
    }
    const all = await withPrerequisites(parseAssertion(stored.text), (names) => records.assertions.listOf(names));
    return new OperationResponse({
      headers: { 'content-type': mediaType, ...attachment(`store_${id}.assert`) },
      body: stream(all),
    });
  },
});
