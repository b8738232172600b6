// Devices seen: when they called last, what they say to hold, and what became of what they were offered. Their contacts
// (`contacts.ts`) write it.
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

/** A revision of a snap that a device says to have. */
export interface Held {
  packageId: string;
  revision: number;
}

/** What became of the offers of a revision in a channel, in devices that were offered it. */
export interface OfferCounts {
  channel: string;
  revision: number;
  offered: number;
  took: number;
  /** It was given the same again an hour later or more: because its refreshes are held, or for no reason that it said. */
  held: number;
  failed: number;
}

/** By what devices can be sorted beside their brands; `-` turns it round. */
export type DeviceOrder = '-brand' | `${'' | '-'}${'serial' | 'model' | 'first' | 'last'}`;

const mostSorted = 100_000;

/** So many are read at once, in some 5 ms. */
const atOnce = 500;

/** A device that was silent for so long is forgotten. */
const remembered = days(400);

export const firstMomentSeen = (now: Date): string => timestamp(after(now, -remembered));

const deviceColumns = columns`brand_id AS "brandId", model, serial, first_at AS "firstAt", last_at AS "lastAt"`;

export const seenDevices = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Those whose last contact is before a moment, in the order of brands, models and serials, behind the one named. */
  list: (after: readonly [brand: string, model: string, serial: string], silentSince: string, limit: number) =>
    db.all<SeenDevice>(sql`
      SELECT ${deviceColumns} FROM passing_seen_devices
      WHERE (brand_id, model, serial) > (${after[0]}, ${after[1]}, ${after[2]}) AND last_at <= ${silentSince}
      ORDER BY brand_id, model, serial LIMIT ${limit}`),

  /** The same in another order, so many behind so many; sorted are the first 100,000. */
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

  /** One, with what it said last to hold. */
  async find(brandId: string, model: string, serial: string): Promise<(SeenDevice & { holds: Held[] }) | undefined> {
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

  /** Of each snap the revisions that most devices say to hold, at most so many. */
  async mostHeld(most: number): Promise<Map<string, number[]>> {
    const counts = new Map<number, Map<number, number>>();
    for (let after = ['', '', ''] as [string, string, string]; ;) {
      const rows = await db.all<{ brandId: string; model: string; serial: string; holds: string }>(sql`
        SELECT brand_id AS "brandId", model, serial, holds FROM passing_seen_devices
        WHERE (brand_id, model, serial) > (${after[0]}, ${after[1]}, ${after[2]})
        ORDER BY brand_id, model, serial LIMIT ${atOnce}`);
      for (const { holds } of rows) {
        for (const [number, revision] of readHolds(holds)) {
          const of = counts.get(number) ?? new Map<number, number>();
          counts.set(number, of.set(revision, (of.get(revision) ?? 0) + 1));
        }
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < atOnce) break;
      after = [last.brandId, last.model, last.serial];
    }
    const names = await db.all<{ number: number; packageId: string }>(sql`
      SELECT number, package_id AS "packageId" FROM passing_seen_snaps WHERE number IN ${list([...counts.keys()])}`);
    return new Map(
      names.map(({ number, packageId }) => {
        const held = [...counts.get(number)!].sort((a, b) => b[1] - a[1] || b[0] - a[0]);
        return [packageId, held.slice(0, most).map(([revision]) => revision)];
      }),
    );
  },

  /** Of so many devices that called last those that say to hold a snap, counted by its revision, the newest revision first. */
  async holding(
    packageId: string,
    most: number,
  ): Promise<{ looked: number; holds: [revision: number, devices: number][] }> {
    const looked = (await db.get<{ devices: number }>(sql`
      SELECT count(*) AS devices FROM (SELECT last_at FROM passing_seen_devices LIMIT ${most}) AS looked `))!.devices;
    const snap = await db.get<{ number: number }>(sql`
      SELECT number FROM passing_seen_snaps WHERE package_id = ${packageId}`);
    if (snap === undefined) return { looked, holds: [] };
    const rows = await db.all<{ holds: string }>(sql`
      SELECT holds FROM (
        SELECT holds, last_at FROM passing_seen_devices WHERE last_at > '' ORDER BY last_at DESC LIMIT ${most}) AS looked
      WHERE ' ' || holds LIKE ${`% ${snap.number.toString(36)}:%`}`);
    const counts = new Map<number, number>();
    for (const { holds } of rows) {
      const revision = readHolds(holds).get(snap.number);
      if (revision !== undefined) counts.set(revision, (counts.get(revision) ?? 0) + 1);
    }
    return { looked, holds: [...counts].sort(([a], [b]) => b - a) };
  },

  /** How the offers of a snap went, in all channels and revisions: the newest revision first. */
  async offersOf(packageId: string): Promise<OfferCounts[]> {
    const rows = await db.all<{ kind: string; key: string; count: number }>(sql`
      SELECT kind, key, count FROM notes
      WHERE kind IN ('refresh-offered', 'refresh-took', 'refresh-held', 'refresh-failed')
        AND key >= ${`${packageId} `} AND key < ${`${packageId}!`}`);
    const found = new Map<string, OfferCounts>();
    for (const { kind, key, count } of rows) {
      const [, channel = '', revision = ''] = key.split(' ');
      const counts = found.get(key) ?? { channel, revision: Number(revision), offered: 0, took: 0, held: 0, failed: 0 };
      counts[kind.slice('refresh-'.length) as 'offered' | 'took' | 'held' | 'failed'] = count;
      found.set(key, counts);
    }
    return [...found.values()].sort((a, b) => b.revision - a.revision || (a.channel < b.channel ? -1 : 1));
  },
});

export const seenDevicePassing = (db: Queries) => ({
  /** Forgets devices that were silent since before a moment; how many rows. */
  sweep: (before: string) => db.run(sql`DELETE FROM passing_seen_devices WHERE last_at < ${before}`),
});

/** The revisions that a device says to hold, by the short numbers of their snaps. */
export const readHolds = (text: string): Map<number, number> =>
  new Map(
    text.split(' ').flatMap((one) => {
      const [number = '', revision = ''] = one.split(':');
      return number === '' ? [] : [[parseInt(number, 36), parseInt(revision, 36)] as const];
    }),
  );
