// Reads members of the entries of feeds, which are untrusted JSON.
import { timestamp } from '../clock.ts';
import { readDateTime } from '../date-time.ts';

/** An entry of a feed is invalid; the message is a clause without a full stop that names the entry. */
export class InvalidEntry extends Error {}

/** Whether a text can be the name of a feed. It is also the name in globs such as `feed/ubuntu`. */
export const isFeedName = (text: string): boolean => /^[a-z0-9][a-z0-9+.-]{0,62}$/.test(text);

export type InvalidEntryReport = (problem: string) => never;

export type JsonMembers = Record<string, unknown>;

/** The members of an object; none if the value is no object. */
export const membersOf = (value: unknown): JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMembers) : {};

/** The items of a list; none if the value is missing. */
export function listOf(value: unknown, maxLength: number, invalid: InvalidEntryReport): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return invalid('has a member that is no list');
  if (value.length > maxLength) return invalid(`has a list of more than ${String(maxLength)} entries`);
  return value;
}

/** An RFC 3339 date-time in the form of the records; undefined if there is none. */
export function dateOf(value: unknown): string | undefined {
  const date = typeof value === 'string' ? readDateTime(value, 32) : undefined;
  return date && timestamp(date);
}
