// Seen devices: when they last called, the revisions that they reported, and the results of offers. `contacts.ts` writes the rows.
import { after, days, timestamp } from '#domain/clock.ts';
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface SeenDevice {
  /** An account id. */
  brandId: string;
  model: string;
  serial: string;
  /** RFC 3339. */
  firstAt: string;
  lastAt: string;
}

/** A revision of a snap that a device reports. */
export interface ReportedRevision {
  packageId: string;
  revision: number;
}

/** The results of offering a revision in a channel to devices. */
export interface OfferCounts {
  channel: string;
  revision: number;
  offered: number;
  took: number;
  /** Devices that got the same offer again an hour or more later, and said that their refreshes are held. */
  held: number;
  /** Devices that got the same offer again an hour or more later, and gave no reason. */
  failed: number;
}

/** Sort orders of devices other than by brand; `-` reverses the order. */
export type DeviceOrder = '-brand' | `${'' | '-'}${'serial' | 'model' | 'first' | 'last'}`;

/** Tells whether a device is counted, such as one of a fleet. */
export type DeviceFilter = (device: Pick<SeenDevice, 'brandId' | 'model' | 'serial'>) => boolean;

const mostSorted = 100_000;

/** The maximum number of snaps to search in the text of a device; more are read from the parsed text. */
const maxSearched = 4;

/** How many devices are read per query, in about 5 ms. */
const batchSize = 500;

/** Devices that have not called for this long are deleted. */
const remembered = days(400);

export const firstMomentSeen = (now: Date): string => timestamp(after(now, -remembered));

const deviceColumns = columns`brand_id AS "brandId", model, serial, first_at AS "firstAt", last_at AS "lastAt"`;

export const seenDevices = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists devices that have not called since `silentSince`, ordered by brand, model and serial. The page starts after the device `after`. */
  list: (after: readonly [brand: string, model: string, serial: string], silentSince: string, limit: number) =>
    db.all<SeenDevice>(sql`
      SELECT ${deviceColumns} FROM passing_seen_devices
      WHERE (brand_id, model, serial) > (${after[0]}, ${after[1]}, ${after[2]}) AND last_at <= ${silentSince}
      ORDER BY brand_id, model, serial LIMIT ${limit}`),

  /** Lists devices in another order than `list`, by offset. Sorts only the first 100,000 devices. */
  sorted: (order: DeviceOrder, { offset, limit }: { offset: number; limit: number }) =>
    db.all<SeenDevice>(sql`
      SELECT ${deviceColumns}
      FROM (
        SELECT brand_id, model, serial, first_at, last_at FROM passing_seen_devices
        WHERE (brand_id, model, serial) > ('', '', '') ORDER BY brand_id, model, serial LIMIT ${mostSorted}) AS devices
      ORDER BY
        CASE ${order} WHEN 'serial' THEN serial WHEN 'model' THEN model WHEN 'first' THEN first_at WHEN 'last' THEN last_at END,
        CASE ${order} WHEN '-brand' THEN brand_id WHEN '-serial' THEN serial WHEN '-model' THEN model
          WHEN '-first' THEN first_at WHEN '-last' THEN last_at END DESC,
        brand_id, model, serial
      LIMIT ${limit} OFFSET ${offset}`),

  /** Finds a device with the revisions that it last reported. */
  async find(
    brandId: string,
    model: string,
    serial: string,
  ): Promise<(SeenDevice & { holds: ReportedRevision[] }) | undefined> {
    const row = await db.get<SeenDevice & { holds: string }>(sql`
      SELECT ${deviceColumns}, holds FROM passing_seen_devices
      WHERE brand_id = ${brandId} AND model = ${model} AND serial = ${serial}`);
    if (row === undefined) return undefined;
    const { holds: text, ...seen } = row;
    const holds = readHolds(text);
    const rows = await db.all<{ number: number; packageId: string }>(sql`
      SELECT number, package_id AS "packageId" FROM passing_seen_snaps WHERE number IN ${list([...holds.keys()])}`);
    return {
      ...seen,
      holds: rows.map(({ number, packageId }) => ({ packageId, revision: holds.get(number) ?? 0 })),
    };
  },

  /** Returns the revisions that most devices report, by package id: at most `maxRevisions` per snap, the most frequent first. */
  async mostHeld(maxRevisions: number): Promise<Map<string, number[]>> {
    const counts = new Map<number, Map<number, number>>();
    for (let after = ['', '', ''] as [string, string, string]; ;) {
      const rows = await db.all<{ brandId: string; model: string; serial: string; holds: string }>(sql`
        SELECT brand_id AS "brandId", model, serial, holds FROM passing_seen_devices
        WHERE (brand_id, model, serial) > (${after[0]}, ${after[1]}, ${after[2]})
        ORDER BY brand_id, model, serial LIMIT ${batchSize}`);
      for (const { holds } of rows) {
        for (const [number, revision] of readHolds(holds)) {
          const of = counts.get(number) ?? new Map<number, number>();
          counts.set(number, of.set(revision, (of.get(revision) ?? 0) + 1));
        }
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < batchSize) break;
      after = [last.brandId, last.model, last.serial];
    }
    const names = await db.all<{ number: number; packageId: string }>(sql`
      SELECT number, package_id AS "packageId" FROM passing_seen_snaps WHERE number IN ${list([...counts.keys()])}`);
    return new Map(
      names.map(({ number, packageId }) => {
        const held = [...counts.get(number)!].sort((a, b) => b[1] - a[1] || b[0] - a[0]);
        return [packageId, held.slice(0, maxRevisions).map(([revision]) => revision)];
      }),
    );
  },

  /** Counts the devices that report a snap, by its revision, newest revision first, among the `maxDevices` devices that called last. */
  async holding(
    packageId: string,
    maxDevices: number,
  ): Promise<{ looked: number; holds: [revision: number, devices: number][] }> {
    const looked = (await db.get<{ devices: number }>(sql`
      SELECT count(*) AS devices FROM (SELECT last_at FROM passing_seen_devices LIMIT ${maxDevices}) AS looked `))!
      .devices;
    const snap = await db.get<{ number: number }>(sql`
      SELECT number FROM passing_seen_snaps WHERE package_id = ${packageId}`);
    if (snap === undefined) return { looked, holds: [] };
    const rows = await db.all<{ holds: string }>(sql`
      SELECT holds FROM (
        SELECT holds, last_at FROM passing_seen_devices WHERE last_at > '' ORDER BY last_at DESC LIMIT ${maxDevices}) AS looked
      WHERE ' ' || holds LIKE ${`% ${snap.number.toString(36)}:%`}`);
    const counts = new Map<number, number>();
    for (const { holds } of rows) {
      const revision = revisionIn(holds, snap.number);
      if (revision !== undefined) counts.set(revision, (counts.get(revision) ?? 0) + 1);
    }
    return { looked, holds: [...counts].sort(([a], [b]) => b - a) };
  },

  /**
   * Counts the devices that report each revision of these snaps, by package id and revision, among the `maxDevices` devices that called
   * last and that `isCounted` accepts.
   */
  async holders(
    packageIds: readonly string[],
    maxDevices: number,
    isCounted: DeviceFilter = () => true,
  ): Promise<{ looked: number; counts: Map<string, Map<number, number>> }> {
    const snaps = await db.all<{ number: number; packageId: string }>(sql`
      SELECT number, package_id AS "packageId" FROM passing_seen_snaps WHERE package_id IN ${list(packageIds)}`);
    const counts = new Map(snaps.map(({ packageId }) => [packageId, new Map<number, number>()]));
    const devices = await db.all<SeenDevice & { holds: string }>(sql`
      SELECT ${deviceColumns}, holds FROM passing_seen_devices WHERE last_at > '' ORDER BY last_at DESC LIMIT ${maxDevices}`);
    for (const { holds, ...device } of snaps.length === 0 ? [] : devices) {
      if (!isCounted(device)) continue;
      // For few snaps a search in the text takes a fraction of the time of parsing it (`npm run bench -- console`).
      const revisions = snaps.length > maxSearched ? readHolds(holds) : undefined;
      for (const { number, packageId } of snaps) {
        const revision = revisions === undefined ? revisionIn(holds, number) : revisions.get(number);
        const ofSnap = counts.get(packageId)!;
        if (revision !== undefined) ofSnap.set(revision, (ofSnap.get(revision) ?? 0) + 1);
      }
    }
    return { looked: devices.length, counts };
  },

  /** Counts the results of offering each revision of a snap in each channel, newest revision first. */
  async offersOf(packageId: string): Promise<OfferCounts[]> {
    const rows = await db.all<{ kind: string; key: string; count: number }>(sql`
      SELECT kind, key, count FROM notes
      WHERE kind IN ('refresh-offered', 'refresh-took', 'refresh-held', 'refresh-failed')
        AND key >= ${`${packageId} `} AND key < ${`${packageId}!`}`);
    const countsByOffer = new Map<string, OfferCounts>();
    for (const { kind, key, count } of rows) {
      const [, channel = '', revision = ''] = key.split(' ');
      const counts = countsByOffer.get(key) ?? {
        channel,
        revision: Number(revision),
        offered: 0,
        took: 0,
        held: 0,
        failed: 0,
      };
      counts[kind.slice('refresh-'.length) as 'offered' | 'took' | 'held' | 'failed'] = count;
      countsByOffer.set(key, counts);
    }
    return [...countsByOffer.values()].sort((a, b) => b.revision - a.revision || (a.channel < b.channel ? -1 : 1));
  },
});

export const ephemeralSeenDevices = (db: Queries) => ({
  /** Deletes devices with their last call before a time. Returns the number of deleted rows. */
  sweep: (before: string) => db.run(sql`DELETE FROM passing_seen_devices WHERE last_at < ${before}`),
});

/** The revision of one snap in the text of a device. */
function revisionIn(holds: string, number: number): number | undefined {
  const key = `${number.toString(36)}:`;
  const at = holds.startsWith(key) ? 0 : holds.indexOf(` ${key}`) + 1;
  if (at === 0 && !holds.startsWith(key)) return undefined;
  return parseInt(holds.slice(at + key.length), 36);
}

/** Parses the text in the row of a device: installed revisions by snap number. */
export const readHolds = (text: string): Map<number, number> =>
  new Map(
    text.split(' ').flatMap((entry) => {
      const [number = '', revision = ''] = entry.split(':');
      return number === '' ? [] : [[parseInt(number, 36), parseInt(revision, 36)] as const];
    }),
  );
