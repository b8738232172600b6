// Reads uploaded feeds for people at pages, with the command of the host. Results are kept for a while, because a page and its form ask for
// the same.
import type { Actor } from '#acts/act.ts';
import { Refusal } from '#domain/refusal.ts';
import type { FeedChoices, FeedDesk, UploadedFeed } from '#http/feed-desk.ts';
import type { FeedFormat } from '#records/vulnerabilities/feeds.ts';
import type { PageCommands } from './page-commands.ts';
import { withinWait } from './within-wait.ts';

/** The part of the output of `larder feed import --dry-run` that pages show. */
interface FeedOutput {
  source: string;
  format: FeedFormat;
  'dated-at': string;
  sha256: string;
  size: number;
  entries: number;
  skipped: number;
  releases: string[];
  problems: string[];
}

/** The maximum number of kept results. */
const maxKept = 16;

export function createFeedCommands({ runShared }: Pick<PageCommands, 'runShared'>): FeedDesk {
  const readings = new Map<string, Promise<UploadedFeed>>();
  return {
    async read({ id, sha3_384 }, choices: FeedChoices, actor: Actor) {
      const argv = argvOf(id, choices);
      const key = JSON.stringify(argv);
      const reading =
        readings.get(key) ?? runShared<FeedOutput>(argv, actor).then((output) => toUploadedFeed(output, sha3_384));
      readings.delete(key);
      readings.set(key, reading);
      for (const oldest of [...readings.keys()].slice(0, -maxKept)) readings.delete(oldest);
      // A file that is no valid feed stays one; other errors may pass.
      reading.catch((error: unknown) => {
        if (!(error instanceof Refusal && error.code === 'api-error')) readings.delete(key);
      });
      return withinWait(reading);
    },
  };
}

const argvOf = (upload: string, { source, skipsInvalid }: FeedChoices): string[] => [
  ...['feed', 'import', '--dry-run', '--upload', upload],
  ...(source === undefined ? [] : ['--source', source]),
  ...(skipsInvalid ? ['--skip-invalid'] : []),
];

function toUploadedFeed(output: FeedOutput, sha3_384: string): UploadedFeed {
  const { source, format, 'dated-at': datedAt, sha256, size, entries, skipped, releases, problems } = output;
  return { feed: { source, format, datedAt, sha256, sha3_384, size, entries, skipped, releases }, problems };
}
