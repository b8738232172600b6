// The result of a review: the upload is approved, with the facts read from it, or rejected, with sentences for its
// publisher.

import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';

/** The facts of a snap from its meta/snap.yaml, with the defaults. */
export interface SnapFacts {
  name: string;
  /** Exactly as written: `1.10` stays `1.10`. */
  version: string;
  type: SnapType;
  /** The base as written, including `none`; null if the snap names none. */
  base: string | null;
  grade: SnapGrade;
  confinement: SnapConfinement;
  architectures: string[];
  /** The names of the apps, in the order of the file. */
  apps: string[];
  title: string | null;
  summary: string | null;
  description: string | null;
  license: string | null;
  /** By the kinds that the store knows. */
  links: Partial<Record<'contact' | 'donations' | 'issues' | 'source' | 'website', string[]>>;
  /** `0`, `3`, `3*`, or `{"read":[0,1],"write":[1]}`; null if the snap names none. */
  epoch: string | null;
  snapYaml: string;
  /** The snapcraft.yaml that snapcraft leaves in the snap when asked for build information. */
  craftYaml: string | null;
  /** The page of its build, from the snap's manifest, where a build farm wrote it. */
  buildUrl: string | null;
  icon: SnapIcon | null;
  /** Which files of the snap the store does not use, and why. */
  notices: string[];
  /** The snap's components by name; absent if it has none. */
  components?: ReviewedResource[];
  bill: BillOfMaterials;
}

/** A resource or component that a revision declares and that is pushed separately. */
export interface ReviewedResource {
  name: string;
  type: 'file' | 'oci-image' | 'component/test' | 'component/kernel-modules' | 'component/standard';
  optional: boolean;
}

export interface Base {
  architecture: string;
  channel: string;
  name: string;
}

/** The interfaces of a charm's relations, and for each resource its file name and its description. */
export interface CharmCatalogFacts {
  provides: string[];
  requires: string[];
  resources: Record<string, { filename: string; description: string }>;
  /** The categories that it belongs to. */
  categories: string[];
  license: string | null;
}

/** The facts of a charm or a bundle. */
export interface CharmFacts {
  name: string;
  /** The content of the file `version`, which the tool that built the charm writes. */
  version: string | null;
  title: string | null;
  summary: string | null;
  description: string | null;
  bases: Base[];
  resources: ReviewedResource[];
  /** Its relations and resources, for people who search for a charm. */
  catalogFacts: CharmCatalogFacts;
  /** metadata.yaml, or the file that replaces it. */
  packageYaml: string;
  configYaml: string | null;
  actionsYaml: string | null;
  craftYaml: string | null;
  bill: BillOfMaterials;
}

export interface RockFacts {
  version: string | null;
  architectures: string[];
  /** Missing if its layers unpack to more than a review reads; a job reads them later. */
  bill?: BillOfMaterials;
}

export const snapTypes = ['app', 'gadget', 'kernel', 'base', 'os', 'snapd'] as const;
export type SnapType = (typeof snapTypes)[number];
export const snapGrades = ['stable', 'devel'] as const;
export type SnapGrade = (typeof snapGrades)[number];
export const snapConfinements = ['strict', 'classic', 'devmode'] as const;
export type SnapConfinement = (typeof snapConfinements)[number];

export interface SnapIcon {
  mediaType: 'image/png' | 'image/jpeg' | 'image/svg+xml';
  bytes: Uint8Array;
}

export interface ReviewProblem {
  code: 'review-error';
  message: string;
}

/** Approved content has a kind; `plain` content is stored as received, without reading any facts from it. */
export type ReviewApproval =
  | { approved: true; kind: 'snap'; facts: SnapFacts }
  | { approved: true; kind: 'charm' | 'bundle'; facts: CharmFacts }
  | { approved: true; kind: 'rock'; facts: RockFacts }
  | { approved: true; kind: 'plain' };

export interface Rejection {
  approved: false;
  errors: ReviewProblem[];
}

export type ReviewVerdict = ReviewApproval | Rejection;

/** The package that a file says it belongs to; the name is as written and may be invalid. */
export interface OwnName {
  namespace: 'snap' | 'charm';
  name: string;
}

/** A component as its snap declares it. */
export interface DeclaredComponent {
  name: string;
  type: string;
}

/** An upload to review: the path of its bytes and the package that it was pushed to. */
export interface ReviewUpload {
  kind: ReviewApproval['kind'] | 'component';
  path: string;
  name: string;
  /** The component of the snap `name` that it was pushed as, if the kind is `component`. */
  component?: DeclaredComponent;
  /** Whether its bytes have valid signatures. The rules of snapd are then not checked: the store that signed them has done so. */
  signed?: boolean;
  /** The maximum bytes that are unpacked to find the components of a rock. */
  billBytes?: number;
}

/** An upload given by its descriptor: the caller that opened the file has the permission, and this process need not have it. */
export interface OpenUpload extends Omit<ReviewUpload, 'path'> {
  file: number;
}

/** A rejection with at least one sentence. */
export function rejection(...messages: [string, ...string[]]): Rejection {
  return { approved: false, errors: messages.map((message) => ({ code: 'review-error', message })) };
}
