// Macaroons of the bakery: third-party caveats encrypted to a discharger's key, their discharges, and the JSON form
// that has the payloads of caveats beside the macaroon.
import { randomBytes } from '#domain/cryptography.ts';
import { bytesFromBase64, isJsonObject, member, uvarint } from './encoding.ts';
import { toJson1, toJson2, versionedFromJson, type JsonMacaroon1, type JsonMacaroon2 } from './json.ts';
import type { KeyPair } from './keys.ts';
import { limits, mint, withThirdPartyCaveat, type Caveat, type DecodedMacaroon } from './macaroon.ts';
import { namespaceText, readNamespace, standardNamespace, type BakeryNamespace } from './namespace.ts';
import { decodePayload, encodePayload, type BakeryVersion, type CaveatPayload } from './payload.ts';

export interface BakeryMacaroon {
  macaroon: DecodedMacaroon;
  /** Selects the JSON form: 1 and 2 are the macaroon's own, 3 wraps it. */
  version: BakeryVersion;
  namespace: BakeryNamespace;
  /** Version 3 only: payloads by the base64url of the caveat's identifier. */
  caveatData: ReadonlyMap<string, Buffer>;
  /** The prefix of the identifiers of added caveats: in a discharge, the identifier of the caveat that it discharges. */
  identifierPrefix?: Buffer;
}

export function bakeryMacaroon(macaroon: DecodedMacaroon, version: BakeryVersion): BakeryMacaroon {
  return { macaroon, version, namespace: standardNamespace, caveatData: new Map() };
}

export interface BakeryCaveat {
  location: string;
  condition: string;
  /** The newest version that the third party knows; the lower of this and the macaroon's own version is used. */
  thirdParty: { publicKey: Buffer; version: BakeryVersion };
  firstParty: KeyPair;
}

/** Adds a caveat that only the third party at the location can discharge. */
export function withBakeryCaveat(target: BakeryMacaroon, caveat: BakeryCaveat): BakeryMacaroon {
  const { location, condition, thirdParty, firstParty } = caveat;
  const version = target.version < thirdParty.version ? target.version : thirdParty.version;
  const caveatRootKey = randomBytes(rootKeyLength);
  const { namespace } = target;
  const thirdPartyKey = thirdParty.publicKey;
  const payload = encodePayload({ version, condition, rootKey: caveatRootKey, thirdPartyKey, firstParty, namespace });
  const identifier = version === 3 ? unusedIdentifier(target) : payload;
  return {
    ...target,
    macaroon: withThirdPartyCaveat(target.macaroon, { caveatRootKey, identifier, location }),
    ...(version === 3 && {
      caveatData: new Map([...target.caveatData, [identifier.toString('base64url'), payload]]),
    }),
  };
}

/** Adds a caveat that only an agent with the private half of the `bearer` key can discharge. It proves that the agent has the key. */
export function withLocalCaveat(
  target: BakeryMacaroon,
  bearer: BakeryCaveat['thirdParty'],
  firstParty: KeyPair,
): BakeryMacaroon {
  return withBakeryCaveat(target, { ...localCaveat, thirdParty: bearer, firstParty });
}

export const localCaveat = { location: 'local', condition: 'true' } as const;

/** The payload of a third-party caveat: stored beside the macaroon, or the identifier itself. */
export function payloadOf(holder: BakeryMacaroon, caveat: Caveat): Buffer {
  return holder.caveatData.get(caveat.identifier.toString('base64url')) ?? caveat.identifier;
}

/** A new discharge for a caveat with a decoded payload and a condition that is met. Unbound. */
export function dischargeFor(payload: CaveatPayload, identifier: Buffer): BakeryMacaroon {
  const { version, rootKey, namespace } = payload;
  return {
    macaroon: mint(rootKey, identifier, ''),
    version,
    namespace,
    caveatData: new Map(),
    ...(version === 3 && { identifierPrefix: identifier }),
  };
}

/** The unbound discharge that the bearer makes for a local caveat; undefined if the caveat is not for this key. */
export function localDischarge(holder: BakeryMacaroon, caveat: Caveat, bearer: KeyPair): BakeryMacaroon | undefined {
  if (caveat.location !== localCaveat.location) return undefined;
  const read = decodePayload(payloadOf(holder, caveat), bearer);
  if (!read.decoded || read.payload.condition !== localCaveat.condition) return undefined;
  return dischargeFor(read.payload, caveat.identifier);
}

export interface WrappedJsonMacaroon {
  m: JsonMacaroon2;
  v: 3;
  ns: string;
  cdata: Record<string, string>;
}

export type BakeryJsonMacaroon = JsonMacaroon1 | JsonMacaroon2 | WrappedJsonMacaroon;

/** The JSON form that readers of this version expect. `ns` is always present: the Python client fails without it. */
export function bakeryToJson({ macaroon, version, namespace, caveatData }: BakeryMacaroon): BakeryJsonMacaroon {
  if (version === 1) return toJson1(macaroon);
  if (version === 2) return toJson2(macaroon);
  const cdata = Object.fromEntries([...caveatData].map(([id, payload]) => [id, payload.toString('base64url')]));
  return { m: toJson2(macaroon), v: 3, ns: namespaceText(namespace), cdata };
}

/** Reads a macaroon from a parsed JSON value, wrapped or not; undefined if it is not one. */
export function bakeryFromJson(value: unknown): BakeryMacaroon | undefined {
  if (!isJsonObject(value)) return undefined;
  const inner = member(value, 'm');
  const read = versionedFromJson(inner ?? value);
  if (!read) return undefined;
  if (inner === undefined) return bakeryMacaroon(read.macaroon, read.version);
  const ns = member(value, 'ns') ?? '';
  const namespace = typeof ns === 'string' && ns.isWellFormed() ? readNamespace(ns) : undefined;
  const caveatData = readCaveatData(member(value, 'cdata') ?? {});
  if (read.version !== 2 || member(value, 'v') !== 3 || !namespace || !caveatData) return undefined;
  return { macaroon: read.macaroon, version: 3, namespace, caveatData };
}

const rootKeyLength = 24;

/** A short identifier that is unique in the macaroon: the prefix, then the first number that no other caveat has. */
function unusedIdentifier({ macaroon, caveatData, identifierPrefix }: BakeryMacaroon): Buffer {
  const prefix = identifierPrefix ?? Buffer.from([3]);
  for (let number = caveatData.size; ; number += 1) {
    const identifier = Buffer.concat([prefix, uvarint(number)]);
    if (!macaroon.caveats.some((caveat) => caveat.identifier.equals(identifier))) return identifier;
  }
}

function readCaveatData(value: unknown): ReadonlyMap<string, Buffer> | undefined {
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length > limits.caveats) return undefined;
  const caveatData = new Map<string, Buffer>();
  for (const [id64, payload64] of entries) {
    const id = bytesFromBase64(id64);
    const payload = typeof payload64 === 'string' ? bytesFromBase64(payload64) : undefined;
    if (!id || !payload || payload.length > limits.field) return undefined;
    caveatData.set(id.toString('base64url'), payload);
  }
  return caveatData;
}
