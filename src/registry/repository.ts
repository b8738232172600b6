// What repositories, digests and tags are called.
import type { Repository } from '#records/images.ts';

export type { Repository };

/**
 * The repository's name. Those of the field are in lower case; package ids are not. So that two ids could never be
 * taken for one another, a name is never looked up: credentials know their repository, and its name is compared.
 */
export const repositoryName = ({ packageId, resource }: Repository): string =>
  `images/${packageId.toLowerCase()}/${resource}`;

/** Whether a resource of this name can be a part of a repository's name. */
export const canBeRepository = (resource: string): boolean =>
  resource.length <= 128 && /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/.test(resource);

/** By what clients name content: an algorithm, and its 64 or 128 hexadecimal digits. */
export interface Digest {
  algorithm: 'sha256' | 'sha512';
  digits: string;
}

/** Reads `sha256:…` or `sha512:…`; nothing for what is no such digest. */
export function readDigest(text: string): Digest | undefined {
  const [, short, long] = /^(?:sha256:([0-9a-f]{64})|sha512:([0-9a-f]{128}))$/.exec(text) ?? [];
  if (short !== undefined) return { algorithm: 'sha256', digits: short };
  return long === undefined ? undefined : { algorithm: 'sha512', digits: long };
}

export const digestText = ({ algorithm, digits }: Digest): string => `${algorithm}:${digits}`;

/** The hexadecimal digits of `sha256:…`; nothing for what is no such digest. */
export const sha256Of = (digest: string): string | undefined => /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1];

export const isTag = (text: string): boolean => /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/.test(text);

/** One text for one image of one repository. */
export const imageKey = (repository: Repository, sha256: string): string => `${repositoryName(repository)}@${sha256}`;
