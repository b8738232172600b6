import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';

export const pushRevision = operation({
  name: 'push_revision',
  method: 'POST',
  path: '/v1/:namespace/:name/revisions',
  since: 1,
  summary: 'Push an upload as a new revision of a package, and have it reviewed.',
  access: onPackage('package-manage-revisions'),
  body: 'PushRevisionRequest',
  response: 'PushRevisionResponse',

  async handle(call) {
    const { package: subject, principal, body, records, now, reviewSoon } = call;
    const id = body['upload-id'];
    const at = timestamp(now());
    // A path without host and prefix, as the clients put their own before it.
    const answer = {
      'status-url': `/v1/${subject.namespace}/${subject.name}/revisions/review?upload-id=${encodeURIComponent(id)}`,
    };
    // A retry finds its first attempt: the same push answers the same.
    if ((await records.uploads.review(subject.id, id)) !== undefined) return answer;
    const entry = {
      ...by(call, 'push_revision'),
      at,
      object: `${subject.namespace}/${subject.name}`,
      details: { upload: id },
    };
    await records.change(entry, async (tx) => {
      if (await tx.uploads.claim(id, { packageId: subject.id, pushedBy: principal.accountId, pushedAt: at })) return;
      if ((await tx.uploads.review(subject.id, id)) !== undefined) return;
      throw new Refusal('resource-not-found', `There is no upload '${id}' to push; send the file to /unscanned-upload/ first.`);
    });
    reviewSoon();
    return answer;
  },
});
