// The syntax of repository names, digests and tags.
import type { Repository } from '#records/images/images.ts';

export type { Repository };

/**
 * The name of a repository. Names in registries are in lower case; package ids are not. Two ids could give the same
 * name, so a name is never looked up: credentials refer to their repository, and its name is compared.
 */
export const repositoryName = ({ packageId, resource }: Repository): string =>
  `images/${packageId.toLowerCase()}/${resource}`;

/** Whether the name of a resource can be part of the name of a repository. */
export const canBeRepository = (resource: string): boolean =>
  resource.length <= 128 && /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/.test(resource);

/** The digest that clients name content by: an algorithm, and its 64 or 128 hexadecimal digits. */
export interface Digest {
  algorithm: 'sha256' | 'sha512';
  digits: string;
}

/** Reads `sha256:…` or `sha512:…`; undefined for any other text. */
export function readDigest(text: string): Digest | undefined {
  const [, short, long] = /^(?:sha256:([0-9a-f]{64})|sha512:([0-9a-f]{128}))$/.exec(text) ?? [];
  if (short !== undefined) return { algorithm: 'sha256', digits: short };
  return long === undefined ? undefined : { algorithm: 'sha512', digits: long };
}

export const digestText = ({ algorithm, digits }: Digest): string => `${algorithm}:${digits}`;

/** The hexadecimal digits of `sha256:…`; undefined for any other text. */
export const sha256Of = (digest: string): string | undefined => /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1];

export const isTag = (text: string): boolean => /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/.test(text);

/** A text that identifies one image of one repository. */
export const imageKey = (repository: Repository, sha256: string): string => `${repositoryName(repository)}@${sha256}`;
