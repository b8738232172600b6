// larder review list
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

const maxUploads = 1000;

export const reviewList = command({
  name: 'review list',
  summary: 'List the uploads that wait for a person, the longest waiting first.',
  examples: ['larder review list', 'larder review list --json'],

  run: (call) =>
    withStore(call, async ({ records }) => {
      const waiting = await records.uploads.awaitingPeople(maxUploads);
      const rows = [];
      for (const { id, packageId, resource, pushedAt, pushedBy, size, sha3_384, findings } of waiting) {
        const subject = await records.packages.byId(packageId);
        if (subject === undefined) continue;
        const fullName = `${subject.namespace}/${subject.name}`;
        rows.push({
          'upload-id': id,
          package: fullName,
          resource,
          'pushed-at': pushedAt,
          'pushed-by': pushedBy,
          size,
          'sha3-384': sha3_384,
          notices: findings?.kind === 'revision' ? (findings.details.notices ?? []) : [],
        });
      }
      const lines = rows.map((row) => {
        const label = row.resource === null ? row.package : `${row.package} (resource ${row.resource})`;
        const line = `${row['upload-id']}  ${row['pushed-at']}  ${label}, ${row.size} bytes`;
        return [line, ...row.notices.map((text) => `  ${text}`)].join('\n');
      });
      return { text: lines.length === 0 ? 'Nothing waits.' : lines.join('\n'), json: { uploads: rows } };
    }),
});
