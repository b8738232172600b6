// Devices seen: when they called last, what they say to hold, and what became of what they were offered. It is gathered in
// memory and written at most once a second: a crash loses the last of it, and a device says it again.
import { after, days, hours, timestamp } from '#domain/clock.ts';
import { columns, list, sql, type Database, type Queries } from '#engine/database.ts';
import { addNote } from './notes.ts';

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

/** A revision that a device was given to refresh to, and from which channel. */
export interface Offer extends Held {
  channel: string;
}

/** A call of a device. */
export interface Contact {
  brand: string;
  model: string;
  serial: string;
  at: string;
  /** Nothing where the call does not say. */
  holds?: readonly Held[];
  offers?: readonly Offer[];
}

/** What became of the offers of a revision in a channel, in devices that were offered it. */
export interface OfferCounts {
  channel: string;
  revision: number;
  offered: number;
  took: number;
  failed: number;
}

/** By what devices can be sorted beside their brands; `-` turns it round. */
export type DeviceOrder = '-brand' | `${'' | '-'}${'serial' | 'model' | 'first' | 'last'}`;

const mostSorted = 100_000;

/** So many snaps of a device are remembered, and so many devices gathered between two writes. */
const mostSnaps = 500;
const mostDevices = 10_000;

/** So many are read at once, in some 5 ms. */
const atOnce = 500;

/** How long they are gathered, in milliseconds. */
const interval = 1000;

/** A device that is given the same again after this has not managed, or does not want, to refresh. */
const patience = hours(1);

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

  /**
   * Of so many devices that called last those that say to hold a snap, counted by its revision, the newest revision first;
   * and when each of them called last.
   */
  async holding(
    packageId: string,
    most: number,
  ): Promise<{ looked: number; holds: [revision: number, devices: number][]; calls: string[] }> {
    const looked = (await db.get<{ devices: number }>(sql`
      SELECT count(*) AS devices FROM (SELECT last_at FROM passing_seen_devices LIMIT ${most}) AS looked `))!.devices;
    const snap = await db.get<{ number: number }>(sql`
      SELECT number FROM passing_seen_snaps WHERE package_id = ${packageId}`);
    if (snap === undefined) return { looked, holds: [], calls: [] };
    const rows = await db.all<{ holds: string; lastAt: string }>(sql`
      SELECT holds, last_at AS "lastAt" FROM (
        SELECT holds, last_at FROM passing_seen_devices WHERE last_at > '' ORDER BY last_at DESC LIMIT ${most}) AS looked
      WHERE ' ' || holds LIKE ${`% ${snap.number.toString(36)}:%`}`);
    const counts = new Map<number, number>();
    for (const { holds } of rows) {
      const revision = readHolds(holds).get(snap.number);
      if (revision !== undefined) counts.set(revision, (counts.get(revision) ?? 0) + 1);
    }
    return { looked, holds: [...counts].sort(([a], [b]) => b - a), calls: rows.map(({ lastAt }) => lastAt) };
  },

  /** How the offers of a snap went, in all channels and revisions: the newest revision first. */
  async offersOf(packageId: string): Promise<OfferCounts[]> {
    const rows = await db.all<{ kind: string; key: string; count: number }>(sql`
      SELECT kind, key, count FROM notes
      WHERE kind IN ('refresh-offered', 'refresh-took', 'refresh-failed')
        AND key >= ${`${packageId} `} AND key < ${`${packageId}!`}`);
    const found = new Map<string, OfferCounts>();
    for (const { kind, key, count } of rows) {
      const [, channel = '', revision = ''] = key.split(' ');
      const counts = found.get(key) ?? { channel, revision: Number(revision), offered: 0, took: 0, failed: 0 };
      counts[kind.slice('refresh-'.length) as 'offered' | 'took' | 'failed'] = count;
      found.set(key, counts);
    }
    return [...found.values()].sort((a, b) => b.revision - a.revision || (a.channel < b.channel ? -1 : 1));
  },
});

export const seenDevicePassing = (db: Queries) => ({
  /** Forgets devices that were silent since before a moment; how many rows. */
  sweep: (before: string) => db.run(sql`DELETE FROM passing_seen_devices WHERE last_at < ${before}`),
});

/** Gathers what devices show of themselves. */
export function gatherContacts(db: Pick<Database, 'transaction'>) {
  let gathered = new Map<string, Contact>();
  let timer: NodeJS.Timeout | undefined;

  async function writeContacts(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const writing = gathered;
    gathered = new Map();
    await db.transaction((queries) => writeAll(queries, [...writing.values()]));
  }

  return {
    /** Notes that a device called; costs the caller nothing. Of two calls between two writes the later one counts. */
    noteContact(contact: Contact): void {
      const name = `${contact.brand}/${contact.model}/${contact.serial}`;
      const before = gathered.get(name);
      if (before === undefined && gathered.size >= mostDevices) return;
      gathered.set(name, { ...before, ...contact });
      timer ??= setTimeout(() => {
        // Lost, as in a crash: who writes next is told what is wrong with the disk.
        writeContacts().catch(() => undefined);
      }, interval).unref();
    },
    /** Writes what was gathered. */
    writeContacts,
  };
}

async function writeAll(db: Queries, contacts: readonly Contact[]): Promise<void> {
  const numbers = await numbersOf(db, contacts);
  for (const contact of contacts) await write(db, contact, numbers);
}

/** The short numbers of the snaps that they speak of; of what is no package here nothing is kept. */
async function numbersOf(db: Queries, contacts: readonly Contact[]): Promise<ReadonlyMap<string, number>> {
  const ids = [
    ...new Set(contacts.flatMap(({ holds = [] }) => holds.slice(0, mostSnaps).map(({ packageId }) => packageId))),
  ];
  await db.run(sql`
    INSERT INTO passing_seen_snaps (package_id)
    SELECT id FROM packages WHERE id IN ${list(ids)} AND id NOT IN (SELECT package_id FROM passing_seen_snaps)`);
  const rows = await db.all<{ number: number; packageId: string }>(sql`
    SELECT number, package_id AS "packageId" FROM passing_seen_snaps WHERE package_id IN ${list(ids)}`);
  return new Map(rows.map(({ number, packageId }) => [packageId, number]));
}

async function write(db: Queries, contact: Contact, numbers: ReadonlyMap<string, number>): Promise<void> {
  const { brand, model, serial, at } = contact;
  const before = await db.get<{ holds: string; offers: string }>(sql`
    SELECT holds, offers FROM passing_seen_devices
    WHERE brand_id = ${brand} AND model = ${model} AND serial = ${serial}`);
  const holds = contact.holds === undefined ? (before?.holds ?? '') : writeHolds(contact.holds, numbers);
  const offers = contact.holds === undefined ? (before?.offers ?? '') : await judge(db, contact, before?.offers ?? '');
  await db.run(sql`
    INSERT INTO passing_seen_devices (brand_id, model, serial, first_at, last_at, holds, offers)
    VALUES (${brand}, ${model}, ${serial}, ${at}, ${at}, ${holds}, ${offers})
    ON CONFLICT (brand_id, model, serial) DO UPDATE
    SET last_at = excluded.last_at, holds = excluded.holds, offers = excluded.offers`);
}

/** Counts what became of what a device was offered before, and of what it is offered now what is new to it; what is open. */
async function judge(db: Queries, { at, holds = [], offers = [] }: Contact, before: string): Promise<string> {
  const has = new Map(holds.map(({ packageId, revision }) => [packageId, revision]));
  const open = new Map(before.split('\n').flatMap((line) => (line === '' ? [] : [asOpen(line)])));
  const count = (kind: 'refresh-offered' | 'refresh-took' | 'refresh-failed', key: string) =>
    addNote(db, kind, key, { count: 1, lastAt: at });
  for (const key of open.keys()) {
    const [packageId = '', , revision] = key.split(' ');
    if (has.get(packageId) === Number(revision)) await count('refresh-took', key);
  }
  const still: string[] = [];
  for (const { packageId, channel, revision } of offers.slice(0, mostSnaps)) {
    const key = `${packageId} ${channel} ${String(revision)}`;
    const since = open.get(key);
    if (since === undefined) await count('refresh-offered', key);
    const isLate = since !== undefined && since !== 'failed' && Date.parse(at) - Date.parse(since) >= patience;
    if (isLate) await count('refresh-failed', key);
    still.push(`${key}\t${isLate ? 'failed' : (since ?? at)}`);
  }
  return still.join('\n');
}

/** An offer by its key, and since when it is open; `failed` once it was counted so. */
function asOpen(line: string): [key: string, since: string] {
  const [key = '', since = ''] = line.split('\t');
  return [key, since];
}

const writeHolds = (holds: readonly Held[], numbers: ReadonlyMap<string, number>): string =>
  holds
    .slice(0, mostSnaps)
    .flatMap(({ packageId, revision }) => {
      const number = numbers.get(packageId);
      return number === undefined ? [] : [`${number.toString(36)}:${revision.toString(36)}`];
    })
    .join(' ');

const readHolds = (text: string): Map<number, number> =>
  new Map(
    text.split(' ').flatMap((one) => {
      const [number = '', revision = ''] = one.split(':');
      return number === '' ? [] : [[parseInt(number, 36), parseInt(revision, 36)] as const];
    }),
  );
