// larder release history
import { pastReleaseText } from '#domain/releases/release-text.ts';
import type { PastRelease } from '#records/releases/past-releases.ts';
import { command } from '../frame/command.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { parseChannelArgument } from './channel-arguments.ts';

/** Rows per query. */
const batch = 500;

export const releaseHistory = command({
  name: 'release history',
  summary: 'Show the releases of a package, newest first, with account, time and the previous revision of the channel.',
  description: 'Releases from before this version of larder was installed have no account.',
  positionals: [packageArgument],
  options: {
    channel: { type: 'string', value: 'CHANNEL', summary: 'Show only this channel, such as latest/stable.' },
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 10_000,
      summary: 'The number of releases. Default: 50.',
    },
  },
  examples: ['larder release history snap/hello', 'larder release history snap/hello --channel stable --json'],

  run({ positionals, options, data, world }) {
    const { limit = 50 } = options;
    const channel = options.channel === undefined ? undefined : parseChannelArgument(options.channel);
    return withStore({ data, world }, async ({ records }) => {
      const { id } = await findPackage(records, positionals.package);
      const matching: PastRelease[] = [];
      for (let before = Number.MAX_SAFE_INTEGER; matching.length < limit;) {
        const some = await records.pastReleases.newest(id, before, batch);
        matching.push(...some.filter((past) => channel === undefined || past.channel === channel.name));
        if (some.length < batch) break;
        before = some.at(-1)!.seq;
      }
      const past = matching.slice(0, limit);
      return {
        text:
          past.length === 0
            ? 'Nothing was ever released there.'
            : table(['Time', 'Who', 'Channel', 'For', 'Revision', 'Before'], past.map(row)),
        json: { releases: past.map(present) },
      };
    });
  },
});

const row = ({ releasedAt, releasedBy, channel, slot, before, ...past }: PastRelease): string[] => [
  ...[releasedAt, releasedBy ?? '-', channel, slot === '*' ? 'all devices' : slot],
  ...[pastReleaseText(past) ?? 'closed', before === null ? '-' : String(before)],
];

const present = ({ releasedAt, releasedBy, channel, slot, before, ...past }: PastRelease) => ({
  when: releasedAt,
  who: releasedBy,
  channel,
  slot,
  revision: past.revision,
  before,
  progressive: { percentage: past.percentage, paused: past.paused },
  ...(past.resources !== null && { resources: past.resources }),
  'expires-at': past.expiresAt,
  text: pastReleaseText(past),
});
