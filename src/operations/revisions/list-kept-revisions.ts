import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { numberBefore, pageOf, pageSize } from '../page.ts';
import { readRevisionsWithChannels } from './revisions-with-channels.ts';

export const listKeptRevisions = operation({
  name: 'list_kept_revisions',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/revisions',
  since: 0,
  summary:
    'List the revisions of a package, newest first, page by page, with their channels and the reasons of withdrawals.',
  access: onPackage('package-view-revisions'),
  query: 'PageQuery',
  response: 'ListKeptRevisionsResponse',

  async handle({ package: subject, query, records, now }) {
    const size = pageSize(query);
    const before = numberBefore(query);
    const rows = await readRevisionsWithChannels(records, subject.id, { before, limit: size + 1, now: now() });
    const { entries, next } = pageOf(rows, size, ({ revision }) => [String(revision)]);
    return { revisions: entries, 'next-cursor': next };
  },
});
