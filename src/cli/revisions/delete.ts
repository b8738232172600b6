// larder revision delete
import { formatCount } from '#domain/quantities.ts';
import { deleteRevisions, findOldRevisions } from '#acts/revisions/old-revisions.ts';
import type { DeleteRevisionsResponse } from '#contract/wire.ts';
import { days, timestamp } from '#domain/clock.ts';
import { presentOldRevisions } from '#operations/revisions/present-old-revisions.ts';
import { command } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { parseChannelArgument } from '../releases/channel-arguments.ts';
import { formatBytes } from '#domain/byte-size.ts';

export const revisionDelete = command({
  name: 'revision delete',
  summary: 'Delete old revisions of a package, at most 500 at once; --preview shows which.',
  description:
    'Revisions in a channel, in a branch or in a build are never deleted. The number, the digest and the reason ' +
    'of a deleted revision stay. Its file is removed within a day, unless something else needs it. If the same ' +
    'file is pushed again, the revision is restored. Components that belong only to deleted revisions are ' +
    'deleted in the same way.',
  positionals: [packageArgument],
  options: {
    keep: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 100_000,
      required: true,
      summary: 'Keep this many of the newest revisions, not counting withdrawn ones.',
    },
    channel: {
      type: 'string',
      value: 'CHANNEL',
      summary: 'Count and delete only revisions that were ever released to this channel.',
    },
    'older-than': { type: 'string', value: 'TIME', summary: 'Delete only revisions older than this, such as 90d.' },
    reason: { type: 'string', value: 'TEXT', summary: 'The reason, in one line. Default: the rule.' },
    preview: { type: 'boolean', summary: 'Show the revisions that would be deleted, and delete none.' },
  },
  examples: [
    'larder revision delete snap/hello --keep 10 --preview',
    'larder revision delete snap/hello --keep 10 --channel edge --older-than 90d',
  ],
  confirm: {
    question: ({ positionals, options }) =>
      options.preview
        ? undefined
        : `Delete all revisions of ${positionals.package} but the newest ${String(options.keep)} and those in use?`,
    unattended: 'refused',
  },

  run({ positionals, options, data, world }) {
    const { keep, reason, preview } = options;
    const age = options['older-than'];
    const rule = {
      keep,
      channel: options.channel === undefined ? undefined : parseChannelArgument(options.channel).name,
      olderThan: age === undefined ? undefined : readDuration(age, '--older-than', days(36_500)),
    };
    return withStore({ data, world }, async ({ records, acts, person, now }) => {
      const subject = await findPackage(records, positionals.package);
      const candidates = await findOldRevisions(records, subject, rule, timestamp(now()));
      const revisions = candidates.revisions.map(({ revision }) => revision);
      const deleted = !preview && revisions.length > 0;
      if (deleted) await acts.do(deleteRevisions, person, { package: subject, rule, revisions, reason });
      const answer = { deleted, ...presentOldRevisions(candidates) };
      return { text: inWords(answer), json: answer };
    });
  },
});

function inWords({ deleted, revisions, bytes: size, more }: DeleteRevisionsResponse): string {
  if (revisions.length === 0) return 'No revision matches the rule.';
  const rows = revisions.map((entry) => [
    String(entry.revision),
    entry.version,
    formatBytes(entry.size),
    entry['created-at'].slice(0, 10),
  ]);
  const summary = `${formatCount(revisions.length, 'revision')}, ${formatBytes(size)}`;
  const done = deleted ? `${summary}: deleted.` : `${summary} would be deleted.`;
  return [table(['REVISION', 'VERSION', 'SIZE', 'CREATED'], rows), done, ...(more ? ['There are more.'] : [])].join(
    '\n',
  );
}
