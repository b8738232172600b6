// Contacts of devices: what they show of themselves when they call. It is gathered in memory and written at most once a second:
// a crash loses the last of it, and a device says it again. With it is counted, by day, how many hold what.
import { hours } from '#domain/clock.ts';
import { list, sql, type Database, type Queries } from '#engine/database.ts';
import { addNote } from './notes.ts';
import { addUse, dayOf, wholeStore, type Use } from './package-days.ts';
import { readHolds, type Held } from './seen-devices.ts';

/** A revision that a device was given to refresh to, and from which channel. */
export interface Offer extends Held {
  channel: string;
  /** Whether the device says that somebody holds its refreshes: its administrator, or another snap. */
  isHeld: boolean;
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

/** So many snaps of a device are remembered, and so many devices gathered between two writes. */
const mostSnaps = 500;
const mostDevices = 10_000;

/** How long they are gathered, in milliseconds. */
const interval = 1000;

/** A device that is given the same again after this has not managed to refresh, unless it says that it is held. */
const patience = hours(1);

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
      // By the day, which each contact counts for.
      const name = `${dayOf(contact.at)} ${contact.brand}/${contact.model}/${contact.serial}`;
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
  const uses: Uses = new Map();
  for (const contact of contacts) await write(db, contact, numbers, uses);
  await writeUses(db, uses);
}

/** What is to be counted, by day and by the short number of a snap; gathered, so that many devices with one snap cost one row. */
type Uses = Map<string, Map<number, Pick<Use, 'devices' | 'refreshes'>>>;

/** The number of no snap. */
const anySnap = 0;

function countUse(uses: Uses, day: string, number: number, what: 'devices' | 'refreshes'): void {
  const ofDay = uses.get(day) ?? new Map<number, Pick<Use, 'devices' | 'refreshes'>>();
  const counts = ofDay.get(number) ?? { devices: 0, refreshes: 0 };
  counts[what]++;
  uses.set(day, ofDay.set(number, counts));
}

async function writeUses(db: Queries, uses: Uses): Promise<void> {
  const numbers = new Set([...uses.values()].flatMap((ofDay) => [...ofDay.keys()]));
  const rows = await db.all<{ number: number; packageId: string }>(sql`
    SELECT number, package_id AS "packageId" FROM passing_seen_snaps WHERE number IN ${list([...numbers])}`);
  const ids = new Map([[anySnap, wholeStore], ...rows.map(({ number, packageId }) => [number, packageId] as const)]);
  for (const [day, ofDay] of uses) {
    for (const [number, use] of ofDay) {
      const packageId = ids.get(number);
      if (packageId !== undefined) await addUse(db, day, packageId, use);
    }
  }
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

async function write(db: Queries, contact: Contact, numbers: ReadonlyMap<string, number>, uses: Uses): Promise<void> {
  const { brand, model, serial, at } = contact;
  const before = await db.get<Before>(sql`
    SELECT last_at AS "lastAt", holds, offers FROM passing_seen_devices
    WHERE brand_id = ${brand} AND model = ${model} AND serial = ${serial}`);
  const holds = contact.holds === undefined ? (before?.holds ?? '') : writeHolds(contact.holds, numbers);
  const taken: number[] = [];
  const take = (packageId: string): unknown => taken.push(numbers.get(packageId) ?? anySnap);
  const offers =
    contact.holds === undefined ? (before?.offers ?? '') : await judge(db, contact, before?.offers ?? '', take);
  countContact(uses, dayOf(at), { before, holds, taken });
  await db.run(sql`
    INSERT INTO passing_seen_devices (brand_id, model, serial, first_at, last_at, holds, offers)
    VALUES (${brand}, ${model}, ${serial}, ${at}, ${at}, ${holds}, ${offers})
    ON CONFLICT (brand_id, model, serial) DO UPDATE
    SET last_at = excluded.last_at, holds = excluded.holds, offers = excluded.offers`);
}

interface Before {
  lastAt: string;
  holds: string;
  offers: string;
}

interface Said {
  before: Before | undefined;
  holds: string;
  /** The short numbers of the snaps of which it has what it was offered. */
  taken: readonly number[];
}

/**
 * Counts a device once a day, and once a day for each snap that it holds: for what it said to hold when it called first, and for
 * what came to that later. A snap that is removed and installed again on one day counts twice, as nothing more is kept of a device.
 */
function countContact(uses: Uses, day: string, { before, holds, taken }: Said): void {
  const isCounted = before !== undefined && dayOf(before.lastAt) >= day;
  if (!isCounted) countUse(uses, day, anySnap, 'devices');
  if (!isCounted || holds !== before.holds) {
    const counted = isCounted ? readHolds(before.holds) : undefined;
    for (const number of readHolds(holds).keys()) {
      if (counted?.has(number) !== true) countUse(uses, day, number, 'devices');
    }
  }
  for (const number of taken) {
    countUse(uses, day, anySnap, 'refreshes');
    if (number !== anySnap) countUse(uses, day, number, 'refreshes');
  }
}

/** Counts what became of what a device was offered before, and of what it is offered now what is new to it; what is open. */
async function judge(
  db: Queries,
  { at, holds = [], offers = [] }: Contact,
  before: string,
  take: (packageId: string) => unknown,
): Promise<string> {
  const has = new Map(holds.map(({ packageId, revision }) => [packageId, revision]));
  const open = new Map(before.split('\n').flatMap((line) => (line === '' ? [] : [asOpen(line)])));
  const count = (kind: 'refresh-offered' | 'refresh-took' | 'refresh-held' | 'refresh-failed', key: string) =>
    addNote(db, kind, key, { count: 1, lastAt: at });
  for (const key of open.keys()) {
    const [packageId = '', , revision] = key.split(' ');
    if (has.get(packageId) !== Number(revision)) continue;
    await count('refresh-took', key);
    take(packageId);
  }
  const still: string[] = [];
  for (const offer of offers.slice(0, mostSnaps)) {
    const key = `${offer.packageId} ${offer.channel} ${String(offer.revision)}`;
    const before = open.get(key);
    if (before === undefined) await count('refresh-offered', key);
    const now = standing(before, offer, at);
    if (now !== before && (now === 'held' || now === 'failed')) await count(`refresh-${now}`, key);
    still.push(`${key}\t${now}`);
  }
  return still.join('\n');
}

/** How an offer stands that was made again: since when it is open, or why not. Once nobody holds it, its time begins anew. */
function standing(before: string | undefined, { isHeld }: Offer, at: string): string {
  if (before === undefined || (before === 'held' && !isHeld)) return at;
  const isLate = before !== 'held' && before !== 'failed' && Date.parse(at) - Date.parse(before) >= patience;
  if (!isLate) return before;
  return isHeld ? 'held' : 'failed';
}

/** An offer by its key, and since when it is open; `held` or `failed` once it was counted so. */
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
