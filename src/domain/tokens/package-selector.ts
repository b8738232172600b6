// Package selectors: the packages that a token is valid for.
import type { PackageType } from '../packages/namespace.ts';

/** Names a package by type and id, name, or both. */
export interface PackageSelector {
  type: PackageType;
  id?: string;
  name?: string;
}

/** Whether a selector matches a package; all of its members must match. */
export const selects = (selector: PackageSelector, subject: { type: string; id?: string; name: string }): boolean =>
  selector.type === subject.type &&
  (selector.id !== undefined || selector.name !== undefined) &&
  (selector.id === undefined || selector.id === subject.id) &&
  (selector.name === undefined || selector.name === subject.name);
