// Lists and ends pull credentials, for store administrators.
import { endPullCredential as act } from '#acts/images/credentials.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { PullCredential } from '#contract/wire.ts';
import { after, seconds, timestamp } from '#domain/clock.ts';
import type { PullCredential as PullCredentialRecord } from '#records/images/image-credentials.ts';
import { caller } from '../caller.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';

export const listPullCredentials = operation({
  name: 'list_pull_credentials',
  method: 'GET',
  path: '/internal/v1/pull-credentials',
  since: 0,
  summary: 'List the credentials to pull images, page by page, without their passwords.',
  access: storeAdministrator('store-view'),
  query: 'PageQuery',
  response: 'ListPullCredentialsResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const [after] = placeOf(query, [''] as const);
    const rows = await records.imageCredentials.listToPull(after, size + 1);
    const { entries, next } = pageOf(rows, size, ({ id }) => [id]);
    return { credentials: entries.map(presentPullCredential), 'next-cursor': next };
  },
});

export const endPullCredential = operation({
  name: 'end_pull_credential',
  method: 'POST',
  path: '/internal/v1/pull-credentials/:credential_id/end',
  since: 0,
  summary:
    'Revoke credentials to pull an image, now or after a grace period. The next request for the image issues new ones.',
  access: storeAdministrator('store-manage'),
  body: 'EndPullCredentialRequest',
  bodyOptional: true,
  response: 'PullCredential',
  refuses: ['resource-not-found', 'conflict'],

  async handle(call) {
    const { params, body, acts, authority } = call;
    const { overlap = 0 } = (body as { overlap?: number } | undefined) ?? {};
    const moment = authority.latestTime();
    const input = {
      id: params.credential_id,
      moment: timestamp(moment),
      endsAt: timestamp(after(moment, seconds(overlap))),
    };
    return presentPullCredential(await acts.do(act, caller(call), input));
  },
});

export const presentPullCredential = (credential: PullCredentialRecord): PullCredential => ({
  id: credential.id,
  namespace: credential.namespace,
  name: credential.name,
  resource: credential.resource,
  'issued-at': credential.issuedAt,
  'ends-at': credential.endsAt,
});
