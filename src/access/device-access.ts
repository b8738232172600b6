// Access for devices: admits every caller, and identifies the device if the request has a session of this store.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { keyState } from '#assertions/chain.ts';
import { isOfDevice } from '#assertions/devices/device-proof.ts';
import { Refusal } from '#domain/refusal.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { Device } from '#macaroons/device-sessions.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Package } from '#records/packages/packages.ts';
import type { Access, AccessRequest } from './access-rules.ts';

export type { Device } from '#macaroons/device-sessions.ts';

export interface DeviceEvidence {
  /** Undefined if the request has no session: a device without a serial has none, and gets public content. */
  device: Device | undefined;
  rights: DeviceRights;
}

/** The content that a device may fetch. Every device operation decides with this object alone. */
export interface DeviceRights {
  /**
   * A public package is for every device; a private package is for devices of the brand of its publisher, and for devices that were granted
   * it.
   */
  reaches(subject: Pick<Package, 'id' | 'private' | 'publisherId'>): boolean;
  /** Whether content for the devices of one brand, such as assertions that name their serials, is for this device. */
  coversBrand(brandId: string): boolean;
}

/** Admits every caller. A session identifies the device; an invalid session is refused so that the device gets a new one. */
export const device: Access<DeviceEvidence> = {
  about: 'public',
  permissions: [],
  who: 'anyone; a device is identified by its session',
  async admit(accessRequest) {
    const text = presented(accessRequest);
    const sessionDevice = text === undefined ? undefined : await deviceOf(text, accessRequest);
    const isOurs = sessionDevice !== undefined && (await belongsHere(accessRequest));
    return { device: sessionDevice, rights: await rightsOf(isOurs ? sessionDevice : undefined, accessRequest.records) };
  },
};

/** The rights of this device; the rights to public content if the device is unknown. */
export function rightsOf(
  sessionDevice: Device | undefined,
  { deviceGrants }: Pick<StoreRecords, 'deviceGrants'>,
): MaybePromise<DeviceRights> {
  if (sessionDevice === undefined) return publicAlone;
  const { brand, model, serial } = sessionDevice;
  return whenReady(deviceGrants.heldBy(serial, `${brand}/${model}`), (granted) => ({
    reaches: ({ id, private: isPrivate, publisherId }) => !isPrivate || publisherId === brand || granted.has(id),
    coversBrand: (brandId) => brandId === brand,
  }));
}

const publicAlone: DeviceRights = { reaches: (subject) => !subject.private, coversBrand: () => false };

/**
 * Whether the store that a device names (if it names one) is this one or a friendly one, as one of the two store assertions says. A
 * statement by the device itself only removes rights: a device of another store gets public content.
 */
async function belongsHere({
  request,
  config,
  records,
}: Pick<AccessRequest, 'request' | 'config' | 'records'>): Promise<boolean> {
  const { 'snap-device-store': newer, 'x-ubuntu-store': older } = request.headers;
  const [storeId = ''] = [newer ?? older].flat();
  const { id } = config.store;
  if (storeId === '' || storeId === id) return true;
  const storeAssertions = await records.assertions.listOf([`store/${id}`, `store/${storeId}`]);
  return storeAssertions.some(({ name, text }) => {
    const { 'friendly-stores': friends } = parseAssertion(text).headers;
    return Array.isArray(friends) && friends.includes(name === `store/${id}` ? storeId : id);
  });
}

/** The session of the request. The second version of the interface uses the newer header, the first version the older one. */
function presented({ request }: Pick<AccessRequest, 'request'>): string | undefined {
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
