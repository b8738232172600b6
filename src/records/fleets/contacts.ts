// Contacts of devices: the state that devices report when they call. It is gathered in memory and written at most once per second: a crash
// loses the last second, and the device reports again. Writing also updates the daily counts of devices per snap.
import { refreshTimeoutMs } from '#domain/releases/rollout.ts';
import { list, sql, type Database, type Queries } from '#engine/database.ts';
import { addCounter } from '../store/counters.ts';
import { addUse, dayOf, wholeStore, type PackageUse } from '../packages/package-days.ts';
import { countingRollouts, writeRolloutResults } from '../releases/rollout-devices.ts';
import { readHolds, type ReportedRevision } from './seen-devices.ts';

/** A revision that was offered to a device as a refresh, and its channel. */
export interface Offer extends ReportedRevision {
  channel: string;
  /** Whether the device says that its administrator or another snap holds its refreshes. */
  isHeld: boolean;
}

/** A call of a device. */
export interface Contact {
  brand: string;
  model: string;
  serial: string;
  at: string;
  /** The revisions that are installed on the device; undefined if the call does not list them. */
  holds?: readonly ReportedRevision[];
  offers?: readonly Offer[];
}

/** The maximum number of snaps stored per device, and of devices gathered between two writes. */
const mostSnaps = 500;
const mostDevices = 10_000;

/** Milliseconds between two writes. */
const interval = 1000;

/** Gathers the contacts of devices. */
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
    /** Records a call of a device, without I/O. Of two calls between two writes, the later one counts. */
    noteContact(contact: Contact): void {
      // The name contains the day, because each contact counts for its day.
      const name = `${dayOf(contact.at)} ${contact.brand}/${contact.model}/${contact.serial}`;
      const before = gathered.get(name);
      if (before === undefined && gathered.size >= mostDevices) return;
      gathered.set(name, { ...before, ...contact });
      timer ??= setTimeout(() => {
        // If the write fails, these contacts are lost, as in a crash. A full disk is reported by the next request that writes.
        writeContacts().catch(() => undefined);
      }, interval).unref();
    },
    /** Writes the gathered contacts. */
    writeContacts,
  };
}

async function writeAll(db: Queries, contacts: readonly Contact[]): Promise<void> {
  const numbers = await numbersOf(db, contacts);
  const uses: SnapUses = new Map();
  const counting = await countingRollouts(db);
  for (const contact of contacts) {
    await write(db, contact, numbers, uses);
    await writeRolloutResults(db, contact, counting);
  }
  await writeUses(db, uses);
}

/** Counts of devices and refreshes by day and snap number. Added up in memory first, so that many devices with one snap cost one row. */
type SnapUses = Map<string, Map<number, Pick<PackageUse, 'devices' | 'refreshes'>>>;

/** The snap number for all snaps together. */
const anySnap = 0;

function countUse(uses: SnapUses, day: string, snapNumber: number, kind: 'devices' | 'refreshes'): void {
  const ofDay = uses.get(day) ?? new Map<number, Pick<PackageUse, 'devices' | 'refreshes'>>();
  const counts = ofDay.get(snapNumber) ?? { devices: 0, refreshes: 0 };
  counts[kind]++;
  uses.set(day, ofDay.set(snapNumber, counts));
}

async function writeUses(db: Queries, uses: SnapUses): Promise<void> {
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

/**
 * Returns the snap numbers by package id: integers that keep the rows of devices short. Leaves out snaps that have no package in this
 * store.
 */
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

async function write(
  db: Queries,
  contact: Contact,
  numbers: ReadonlyMap<string, number>,
  uses: SnapUses,
): Promise<void> {
  const { brand, model, serial, at } = contact;
  const before = await db.get<StoredContact>(sql`
    SELECT last_at AS "lastAt", holds, offers FROM passing_seen_devices
    WHERE brand_id = ${brand} AND model = ${model} AND serial = ${serial}`);
  const holds = contact.holds === undefined ? (before?.holds ?? '') : writeHolds(contact.holds, numbers);
  const taken: number[] = [];
  const take = (packageId: string): unknown => taken.push(numbers.get(packageId) ?? anySnap);
  const offers =
    contact.holds === undefined ? (before?.offers ?? '') : await updateOffers(db, contact, before?.offers ?? '', take);
  countContact(uses, dayOf(at), { before, holds, taken });
  await db.run(sql`
    INSERT INTO passing_seen_devices (brand_id, model, serial, first_at, last_at, holds, offers)
    VALUES (${brand}, ${model}, ${serial}, ${at}, ${at}, ${holds}, ${offers})
    ON CONFLICT (brand_id, model, serial) DO UPDATE
    SET last_at = excluded.last_at, holds = excluded.holds, offers = excluded.offers`);
}

interface StoredContact {
  lastAt: string;
  holds: string;
  offers: string;
}

interface ContactChange {
  before: StoredContact | undefined;
  holds: string;
  /** The numbers of the snaps that the device has refreshed to the offered revision. */
  taken: readonly number[];
}

/**
 * Counts a device once per day, and once per day for each snap on it: at its first call, and later for snaps that it added. A snap
 * that is removed and installed again on one day counts twice, because the store has no further history of a device.
 */
function countContact(uses: SnapUses, day: string, { before, holds, taken }: ContactChange): void {
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

/**
 * Adds to the counters: a result for each earlier offer that has one now, and one offer for each current offer that is new. Returns the
 * current offers with their states, as text for the row of the device.
 */
async function updateOffers(
  db: Queries,
  { at, holds = [], offers = [] }: Contact,
  before: string,
  take: (packageId: string) => unknown,
): Promise<string> {
  const has = new Map(holds.map(({ packageId, revision }) => [packageId, revision]));
  const open = new Map(before.split('\n').flatMap((line) => (line === '' ? [] : [parseOpenOffer(line)])));
  const count = (kind: 'refresh-offered' | 'refresh-took' | 'refresh-held' | 'refresh-failed', key: string) =>
    addCounter(db, kind, key, { count: 1, lastAt: at });
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
    const now = offerStateOf(before, offer, at);
    if (now !== before && (now === 'held' || now === 'failed')) await count(`refresh-${now}`, key);
    still.push(`${key}\t${now}`);
  }
  return still.join('\n');
}

/** Returns the state of a current offer: the time of the first offer, `held` or `failed`. When a hold ends, the time starts again. */
function offerStateOf(before: string | undefined, { isHeld }: Offer, at: string): string {
  if (before === undefined || (before === 'held' && !isHeld)) return at;
  const isLate = before !== 'held' && before !== 'failed' && Date.parse(at) - Date.parse(before) >= refreshTimeoutMs;
  if (!isLate) return before;
  return isHeld ? 'held' : 'failed';
}

/** Parses a line of the device's row: the key of an offer and its state, see `offerStateOf`. */
function parseOpenOffer(line: string): [key: string, since: string] {
  const [key = '', since = ''] = line.split('\t');
  return [key, since];
}

const writeHolds = (holds: readonly ReportedRevision[], numbers: ReadonlyMap<string, number>): string =>
  holds
    .slice(0, mostSnaps)
    .flatMap(({ packageId, revision }) => {
      const number = numbers.get(packageId);
      return number === undefined ? [] : [`${number.toString(36)}:${revision.toString(36)}`];
    })
    .join(' ');
