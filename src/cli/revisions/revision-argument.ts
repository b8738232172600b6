// Parses revision numbers on command lines.
import { UsageError } from '../frame/command.ts';

/** The argument that names a revision. */
export const revisionArgument = { name: 'revision', summary: 'The number of the revision.' } as const;

/** Parses the number of a revision. */
export function revisionNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`'${text}' is not the number of a revision`);
}
