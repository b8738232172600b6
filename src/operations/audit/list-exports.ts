import { overseer } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { numberBefore, pageOf, pageSize } from '../page.ts';

export const listExports = operation({
  name: 'list_exports',
  method: 'GET',
  path: '/internal/v1/exports',
  since: 0,
  summary: 'List the exports from the host, newest first, page by page: actor, digest and size.',
  access: overseer('auditor'),
  query: 'ListExportsQuery',
  response: 'ListExportsResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const before = numberBefore(query);
    const moment = (text: string | undefined, fallback: string): string =>
      text === undefined ? fallback : timestamp(new Date(text));
    const [from, to] = [moment(query.from, ''), moment(query.to, '~')];
    const rows = await records.exports.list(from, to, before, size + 1);
    const { entries, next } = pageOf(rows, size, (row) => [String(row.seq)]);
    return {
      exports: entries.map(({ at, actor, what: kind, name, sha256, bytes }) => ({
        at,
        actor,
        what: kind,
        name,
        sha256,
        bytes,
      })),
      'next-cursor': next,
    };
  },
});
