import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import type { PushResourceRequest } from '#api/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { everywhere, mergedBases } from '#domain/resource-base.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { ResourceRequest } from '#records/uploads.ts';
import { by } from '../by.ts';
import { claimUpload, statusUrl } from '../revisions/claim-upload.ts';
import { declaredOr404 } from './declared.ts';

export const pushResource = operation({
  name: 'push_resource',
  method: 'POST',
  path: '/v1/:namespace/:name/resources/:resource_name/revisions',
  since: 1,
  summary: 'Push an upload as a new revision of a resource.',
  access: onPackage('package-manage-revisions'),
  body: 'PushResourceRequest',
  response: 'PushResourceResponse',

  async handle(call) {
    const { package: subject, params, principal, body, records, now, reviewSoon } = call;
    const resource = {
      name: params.resource_name,
      request: await requestOf(records, subject, params.resource_name, body),
    };
    const at = timestamp(now());
    const details = { upload: body['upload-id'], resource: resource.name };
    const entry = { ...by(call, 'push_resource'), at, object: `${subject.namespace}/${subject.name}`, details };
    const claim = { packageId: subject.id, pushedBy: principal.accountId, pushedAt: at, resource };
    await claimUpload(records, entry, body['upload-id'], claim);
    reviewSoon();
    return { 'status-url': statusUrl(subject, body['upload-id']) };
  },
});

/** What the pushed content will be, by the request and by the revision that declares the resource. */
async function requestOf(
  records: Pick<Records, 'revisions' | 'resources'>,
  subject: PublishedPackage,
  name: string,
  body: PushResourceRequest,
): Promise<ResourceRequest> {
  const isSnap = subject.namespace === 'snap';
  // A snap's components belong to one revision of it, other resources to all.
  const revision = isSnap ? (body['package-revision'] ?? (await records.revisions.newest(subject.id))) : undefined;
  const declared = await declaredOr404(records, subject, name, revision);
  if (body.type !== undefined && body.type !== declared.type) {
    throw new Refusal(
      'api-error',
      `The resource '${name}' is declared as ${declared.type}, not as ${body.type} at /type`,
    );
  }
  if (!isSnap) {
    const bases = body.bases === undefined ? everywhere : mergedBases(body.bases);
    return { type: declared.type, bases, architectures: null, packageRevision: null };
  }
  if (body.bases !== undefined) {
    throw new Refusal(
      'api-error',
      'A component of a snap has the architectures of the snap; it takes no bases at /bases',
    );
  }
  const architectures = (await records.revisions.find(subject.id, declared.revision))?.details.architectures ?? ['all'];
  return { type: declared.type, bases: null, architectures, packageRevision: declared.revision };
}
