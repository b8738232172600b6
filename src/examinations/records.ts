// What the records say, and whether they are whole.
import { days } from '#domain/clock.ts';
import { problemOf } from '#jobs/remember-time.ts';
import { contentAndPusher } from '#integrity/content-name.ts';
import { tokensEnding } from '#macaroons/uses.ts';
import { mendOfRecords, recordsPlace } from '#data/records-place.ts';
import { CannotLook, notice, well, wrong, type Examination } from './examination.ts';

export const records: Examination = {
  what: 'Records',
  onHostAlone: true,
  async look({ data, credentials, config, store, damage }) {
    // The database alone first: what is damaged may be the very thing that keeps the store from opening.
    const problems = await damage();
    if (problems.length > 0) {
      const mend = mendOfRecords(recordsPlace(data, config(), credentials), data);
      return wrong(`the database is damaged: ${problems[0]!}`, `'larder verify' lists everything. ${mend}`);
    }
    await store().catch((error: unknown) => {
      throw error instanceof CannotLook ? (error.cause as Error) : error;
    });
    return well(
      config().records.postgres === undefined
        ? 'the database is whole, every row as it was written'
        : 'every row of the database can be read, and refers to what is there',
    );
  },
};

export const clock: Examination = {
  what: 'Clock',
  async look({ store }) {
    const { records: known, now } = await store();
    const kept = await known.appliance.find('latest-time');
    const problem = kept === undefined ? undefined : problemOf(now(), kept);
    return problem === undefined ? well(`the clock says ${now().toISOString()}`) : wrong(problem);
  },
};

export const blobs: Examination = {
  what: 'Blobs',
  async look({ store }) {
    const { records: known } = await store();
    const damaged = await known.damagedBlobs.list(10);
    return damaged.length === 0
      ? well('no blob is known to be damaged')
      : wrong(
          `damaged and out of service: ${(await Promise.all(damaged.map(({ sha3_384 }) => contentAndPusher(known, sha3_384)))).join('; ')}`,
          "Upload the same files again, or restore them from a backup; 'larder verify' names all.",
        );
  },
};

export const registry: Examination = {
  what: 'Registry',
  async look({ config, store }) {
    const { external, notifications } = config().registry;
    if (external === undefined) return well('the store keeps images itself');
    if (!notifications) return well(`${external} keeps the images, and tells nothing of them`);
    return (await (await store()).records.externalImages.hasAnyOf(external))
      ? well(`${external} keeps the images, and tells this store of them`)
      : notice(
          `${external} keeps the images, and has told of none yet`,
          "What its configuration needs for that, 'larder registry settings' prints.",
        );
  },
};

export const tokens: Examination = {
  what: 'Tokens',
  async look({ store }) {
    const { records: known, latestTime } = await store();
    const count = await tokensEnding(known, latestTime);
    return count === 0
      ? well('none that has served for two weeks ends within the next two')
      : notice(
          `${String(count)} that ${count === 1 ? 'has' : 'have'} served for two weeks or more ${count === 1 ? 'ends' : 'end'} within the next two`,
          "'larder token list --ending 14d' lists them; 'larder token rotate SESSION' issues another one in its place.",
        );
  },
};

/** So long a store may be without a backup, or with an old one: milliseconds. */
export const backupPatience = days(7);

export const backups: Examination = {
  what: 'Backups',
  async look({ store }) {
    const { records: known, now } = await store();
    const last = await known.audit.newestOf('backup');
    const isOld = (at: string): boolean => now().getTime() - Date.parse(at) > backupPatience;
    const mend = "Run 'larder backup FILE', and keep copies of site.key and master.key elsewhere.";
    if (last !== undefined) {
      const says = `the last backup was made at ${last.at}`;
      return isOld(last.at) ? wrong(says, mend) : well(says);
    }
    const [first] = await known.audit.list(0, 1);
    const says = 'no backup was ever made';
    return first !== undefined && !isOld(first.at) ? notice(says, mend) : wrong(says, mend);
  },
};
