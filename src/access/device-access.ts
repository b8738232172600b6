// Access for devices: admits every caller. Identifies the device if the request has a session of this store, and the account if it has a token.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { keyState } from '#assertions/chain.ts';
import { isOfDevice } from '#assertions/devices/device-proof.ts';
import { kindOfSelector, selectorsOf } from '#domain/fleets/fleet.ts';
import type { FleetView } from '#domain/fleets/fleet-view.ts';
import { Refusal } from '#domain/refusal.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { Device } from '#macaroons/device-sessions.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Package } from '#records/packages/packages.ts';
import type { Access, AccessRequest } from './access-rules.ts';
import { accountOf, everyRelease, reachOfAccount, type SnapReach } from './account-snaps.ts';

export type { Device } from '#macaroons/device-sessions.ts';

export interface DeviceEvidence {
  /** Undefined if the request has no session: a device without a serial has none, and gets public content. */
  device: Device | undefined;
  /** The account of the token in the request; undefined if it has none. The response is then for this account alone. */
  principal: Principal | undefined;
  rights: DeviceRights;
  /** What the fleets of the device change; undefined if the store has no fleets. */
  fleets: FleetView | undefined;
}

type ReachableSubject = Pick<Package, 'id' | 'private' | 'publisherId'>;

/** The content that a caller may fetch. Every device operation decides with this object alone. */
export interface DeviceRights {
  /** Whether the device itself may have a package: it is public, its publisher is the brand of the device, or the device was granted it. */
  reaches(subject: ReachableSubject): boolean;
  /** How far the caller reaches a package, as the device or by the token; undefined if the package does not exist for the caller. */
  reachOf(subject: ReachableSubject): MaybePromise<SnapReach | undefined>;
  /** Whether content for the devices of one brand, such as assertions that name their serials, is for this device. */
  coversBrand(brandId: string): boolean;
}

/**
 * Admits every caller. A session identifies the device; an invalid session is refused so that the device gets a new one. A token identifies
 * an account; it adds to the rights of the device, and never takes from them.
 */
export const device: Access<DeviceEvidence> = {
  about: 'packages',
  permissions: [],
  who: 'anyone; a device is identified by its session, an account by its token',
  async admit(accessRequest) {
    const text = readSessionHeader(accessRequest);
    const sessionDevice = text === undefined ? undefined : await deviceOf(text, accessRequest);
    const principal = await accountOf(accessRequest);
    const isOurs = sessionDevice !== undefined && (await belongsToThisStore(accessRequest));
    const provenDevice = isOurs ? sessionDevice : undefined;
    const { records, config } = accessRequest;
    const rights = await rightsOf({ device: provenDevice, principal }, records);
    const fleetView = fleetViewOf(provenDevice, statedStore(accessRequest) || config.store.id, records);
    return { device: sessionDevice, principal, rights, fleets: await fleetView };
  },
};

/** The rights of this device and this account; the rights to public content if both are unknown. */
export function rightsOf(
  { device: sessionDevice, principal }: Pick<DeviceEvidence, 'device' | 'principal'>,
  records: Pick<StoreRecords, 'deviceGrants'> & { packages: Pick<StoreRecords['packages'], 'snapsFor'> },
): MaybePromise<DeviceRights> {
  return whenReady(deviceRights(sessionDevice, records), ({ reaches, coversBrand }) => ({
    reaches,
    coversBrand,
    reachOf(subject) {
      const released = reaches(subject) ? everyRelease : undefined;
      if (principal === undefined) return released;
      return whenReady(reachOfAccount(principal, subject.id, records), (reach) =>
        released === undefined || reach?.unreleased === true ? reach : released,
      );
    },
  }));
}

function deviceRights(
  sessionDevice: Device | undefined,
  { deviceGrants }: Pick<StoreRecords, 'deviceGrants'>,
): MaybePromise<Omit<DeviceRights, 'reachOf'>> {
  if (sessionDevice === undefined) return publicRights;
  const { brand, model, serial } = sessionDevice;
  return whenReady(deviceGrants.heldBy(serial, `${brand}/${model}`), (granted) => ({
    reaches: ({ id, private: isPrivate, publisherId }) => !isPrivate || publisherId === brand || granted.has(id),
    coversBrand: (brandId) => brandId === brand,
  }));
}

const publicRights = { reaches: (subject: ReachableSubject) => !subject.private, coversBrand: () => false };

/**
 * Whether the store that a device names (if it names one) is this one or a friendly one, as one of the two store assertions says. A
 * statement by the device itself only removes rights: a device of another store gets public content.
 */
async function belongsToThisStore({
  request,
  config,
  records,
}: Pick<AccessRequest, 'request' | 'config' | 'records'>): Promise<boolean> {
  const storeId = statedStore({ request });
  const { id } = config.store;
  if (storeId === '' || storeId === id) return true;
  const storeAssertions = await records.assertions.listOf([`store/${id}`, `store/${storeId}`]);
  return storeAssertions.some(({ name, text }) => {
    const { 'friendly-stores': friends } = parseAssertion(text).headers;
    return Array.isArray(friends) && friends.includes(name === `store/${id}` ? storeId : id);
  });
}

/** The id of the store that the device names; empty if it names none. */
function statedStore({ request }: Pick<AccessRequest, 'request'>): string {
  const { 'snap-device-store': newer, 'x-ubuntu-store': older } = request.headers;
  return [newer ?? older].flat()[0] ?? '';
}

/**
 * What the fleets of a device change. Serial, model and brand count only if a session proves them. The id of a store is a claim: it selects
 * among released revisions, and rights to private snaps never follow from it.
 */
export const fleetViewOf = (
  provenDevice: Device | undefined,
  storeId: string,
  { fleets }: Pick<StoreRecords, 'fleets'>,
): MaybePromise<FleetView | undefined> =>
  whenReady(fleets.rules(), ({ kinds, stores }): MaybePromise<FleetView | undefined> => {
    if (kinds.size === 0) return undefined;
    const selectors = selectorsOf(provenDevice, stores.has(storeId) ? storeId : '');
    return fleets.viewFor(selectors.filter((selector) => kinds.has(kindOfSelector(selector))));
  });

/** The session of the request. The second version of the interface uses the newer header, the first version the older one. */
function readSessionHeader({ request }: Pick<AccessRequest, 'request'>): string | undefined {
  const { 'snap-device-authorization': newer, 'x-device-authorization': older } = request.headers;
  return [newer ?? older].flat().at(0);
}

/** Returns the device behind the session in `Macaroon root="…"`. The refusal makes snapd prove its serial again. */
async function deviceOf(
  header: string,
  { deviceSessions, config, records, now }: Pick<AccessRequest, 'deviceSessions' | 'config' | 'records' | 'now'>,
): Promise<Device> {
  const [, text = ''] = /^macaroon root="?([\w=-]+)"?$/i.exec(header.trim()) ?? [];
  const session = deviceSessions.read(text);
  if (session === undefined) throw needsRefresh('The session of the device is not from this store, or it has ended.');
  if (session.store !== config.store.id) throw needsRefresh('The session of the device belongs to another store.');
  const { brand, model, serial } = session.device;
  if ((await records.revokedSerials.find(serial, `${brand}/${model}`)) !== null) {
    throw needsRefresh('The serial of the device is revoked here.');
  }
  const names = [`account-key/${session.signedWith}`, `serial/${brand}/${model}/${serial}`];
  for (const { name, text } of await records.assertions.listOf(names)) {
    const assertion = parseAssertion(text);
    if (name === names[0]) {
      // A key that its owner revoked no longer proves a device, even if the session would last longer.
      const state = keyState(assertion, now());
      if (state !== 'valid') throw needsRefresh(`The key that signed the serial of the device is ${state}.`);
    } else if (!isOfDevice(assertion, session.deviceKeyId)) {
      throw needsRefresh('The serial now belongs to another device.');
    }
  }
  return session.device;
}

const needsRefresh = (message: string): Refusal =>
  new Refusal('device-authorization-needs-refresh', message, undefined, {
    'www-authenticate': 'Macaroon refresh_device_session=1',
  });
