// The first-party caveats of the store's own tokens: writes them, and computes the restrictions that they impose
// together.
import { readDateTime } from '#domain/date-time.ts';
import { readChannelGlob, readChannelPattern } from '#domain/releases/channel.ts';
import { isUuid } from '#domain/ids.ts';
import { grants, isPermission, type Permission } from '#domain/tokens/permission.ts';
import type { Restrictions } from '#domain/tokens/principal.ts';
import type { PackageSelector } from '#domain/tokens/package-selector.ts';
import type { TokenIdentifier } from './identifier.ts';

/** The requested restrictions of a token; null leaves a dimension unrestricted, an empty list allows nothing. */
export interface Attenuation {
  permissions?: Permission[] | null | undefined;
  channels?: string[] | null | undefined;
  packages?: PackageSelector[] | null | undefined;
}

/** The result of all caveats of a token. */
export interface TokenTerms extends Restrictions {
  sessionId: string;
  /** Milliseconds since the epoch: the time of issue (the first `time-since`), and the period of validity. */
  issued: number;
  since: number;
  until: number;
}

/** The caveats of a new token, in the order that clients of the interface know. */
export const caveatsFor = (session: SessionTerms, attenuation: Attenuation): string[] => [
  ...sessionCaveats(session),
  ...(['permissions', 'channels', 'packages'] as const).flatMap((kind) => {
    const list = attenuation[kind];
    return list === null || list === undefined ? [] : [`${kind} ${JSON.stringify(list)}`];
  }),
];

/** The session of a new token, and its period of validity. */
export interface SessionTerms {
  id: string;
  since: string;
  until: string;
}

/** The caveats for a session. */
export const sessionCaveats = ({ id, since, until }: SessionTerms): string[] => [
  `time-before ${until}`,
  `time-since ${since}`,
  `session-id ${id}`,
];

/** The caveats that restrict a token's rights; a token that replaces it has them, too. */
export const restrictingCaveats = (caveats: string[]): string[] =>
  caveats.filter((caveat) => /^(?:permissions|channels|packages) /.test(caveat));

/** The restrictions from the stored conditions of a session; undefined if they are unknown. */
export function storedRestrictions(session: {
  sessionId: string;
  validSince: string;
  validUntil: string;
  conditions: string | null;
}): Restrictions | undefined {
  if (session.conditions === null) return undefined;
  const terms = { id: session.sessionId, since: session.validSince, until: session.validUntil };
  return readTerms([...sessionCaveats(terms), ...(JSON.parse(session.conditions) as string[])], '2');
}

/** The syntax of channels in a macaroon: names and patterns, or the globs of the first release. */
export type Version = TokenIdentifier['version'];

/**
 * Combines caveats; undefined if one of them is unknown, so that everything unknown fails closed. A caveat added by a
 * client restricts like one of the store.
 */
export function readTerms(caveats: string[], version: Version): TokenTerms | undefined {
  const terms: TokenTerms = {
    sessionId: '',
    issued: -Infinity,
    since: -Infinity,
    until: Infinity,
    permissions: null,
    channels: null,
    packages: null,
  };
  for (const caveat of caveats) {
    const space = caveat.indexOf(' ');
    if (space < 0 || !narrow(terms, caveat.slice(0, space), caveat.slice(space + 1), version)) return undefined;
  }
  return terms.sessionId === '' || terms.until === Infinity ? undefined : terms;
}

function narrow(terms: TokenTerms, name: string, value: string, version: Version): boolean {
  switch (name) {
    case 'time-before': {
      const time = moment(value);
      terms.until = Math.min(terms.until, time);
      return !Number.isNaN(time);
    }
    case 'time-since': {
      const time = moment(value);
      if (terms.since === -Infinity) terms.issued = time;
      terms.since = Math.max(terms.since, time);
      return !Number.isNaN(time);
    }
    case 'session-id': {
      if (!isUuid(value) || (terms.sessionId !== '' && terms.sessionId !== value)) return false;
      terms.sessionId = value;
      return true;
    }
    case 'permissions': {
      const list = listOf(value, isPermission);
      if (list === undefined) return false;
      terms.permissions = terms.permissions === null ? list : both(terms.permissions, list);
      return true;
    }
    case 'channels': {
      const read = version === '1' ? readChannelGlob : readChannelPattern;
      const list = listOf(value, (item): item is string => typeof item === 'string')?.map(read);
      if (list?.every((pattern) => pattern !== undefined) !== true) return false;
      terms.channels = [...(terms.channels ?? []), list];
      return true;
    }
    case 'packages': {
      const list = listOf(value, isSelector);
      if (list === undefined) return false;
      terms.packages = [...(terms.packages ?? []), list];
      return true;
    }
    default:
      return false;
  }
}

/** Permissions that both lists grant; a general permission includes the specific ones. */
const both = (left: Permission[], right: Permission[]): Permission[] => [
  ...left.filter((permission) => grants(right, permission)),
  ...right.filter((permission) => !left.includes(permission) && grants(left, permission)),
];

/** Milliseconds of an RFC 3339 date-time with a zone; NaN if it is not one. */
export const moment = (text: string): number => readDateTime(text)?.getTime() ?? NaN;

function listOf<Item>(text: string, isItem: (item: unknown) => item is Item): Item[] | undefined {
  if (!text.startsWith('[')) return undefined; // the parser would skip space before it
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(value) && value.every(isItem) ? value : undefined;
}

function isSelector(item: unknown): item is PackageSelector {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return false;
  const { type, id, name, ...others } = item as Record<string, unknown>;
  return (
    typeof type === 'string' &&
    (id === undefined || typeof id === 'string') &&
    (name === undefined || typeof name === 'string') &&
    Object.keys(others).length === 0
  );
}
