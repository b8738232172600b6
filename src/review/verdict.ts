// What a review finds: the upload is approved, with what was read from it, or rejected, with sentences for its publisher.

/** What stands in a snap, as its meta/snap.yaml says or leaves to the defaults. */
export interface SnapFacts {
  name: string;
  /** Exactly as written: `1.10` stays `1.10`. */
  version: string;
  type: SnapType;
  /** The base as written, `none` included; null when the snap names none. */
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
  /** `0`, `3`, `3*`, or `{"read":[0,1],"write":[1]}`; null when the snap names none. */
  epoch: string | null;
  snapYaml: string;
  /** The snapcraft.yaml that snapcraft leaves in the snap when asked for build information. */
  craftYaml: string | null;
  /** The page of the build that it came from, as a build farm wrote it into the snap's manifest. */
  buildUrl: string | null;
  icon: SnapIcon | null;
  /** Which files of the snap the store does not use, and why. */
  notices: string[];
  /** What the snap's components are, by their names; left out when it has none. */
  components?: DeclaredResource[];
}

/** Something that comes to a package beside its revisions, which a revision asks for. */
export interface DeclaredResource {
  name: string;
  type: 'file' | 'oci-image' | 'component/test' | 'component/kernel-modules' | 'component/standard';
  optional: boolean;
}

export interface Base {
  architecture: string;
  channel: string;
  name: string;
}

/** The interfaces of a charm's relations, and by its name the file that a resource is kept in and what it is for. */
export interface CharmSayings {
  provides: string[];
  requires: string[];
  resources: Record<string, { filename: string; description: string }>;
  /** The names of the sorts of charms that it belongs to. */
  categories: string[];
  license: string | null;
}

/** What stands in a charm or a bundle. */
export interface CharmFacts {
  name: string;
  /** As its builder left it in the file `version`. */
  version: string | null;
  title: string | null;
  summary: string | null;
  description: string | null;
  bases: Base[];
  resources: DeclaredResource[];
  /** What it says of its relations and resources, for people who look for a charm. */
  said: CharmSayings;
  /** metadata.yaml, or what stands in its place. */
  packageYaml: string;
  configYaml: string | null;
  actionsYaml: string | null;
  craftYaml: string | null;
}

export interface RockFacts {
  version: string | null;
  architectures: string[];
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

export interface ReviewError {
  code: 'review-error';
  message: string;
}

/** Approved content says of which kind it is; `plain` content is kept as it came, so nothing was read from it. */
export type Approval =
  | { approved: true; kind: 'snap'; facts: SnapFacts }
  | { approved: true; kind: 'charm' | 'bundle'; facts: CharmFacts }
  | { approved: true; kind: 'rock'; facts: RockFacts }
  | { approved: true; kind: 'plain' };

export interface Rejection {
  approved: false;
  errors: ReviewError[];
}

export type Verdict = Approval | Rejection;

/** The package that a file says it belongs to; its name is as it stands there, and may be none that is possible. */
export interface OwnName {
  namespace: 'snap' | 'charm';
  name: string;
}

/** A component as its snap declares it. */
export interface DeclaredComponent {
  name: string;
  type: string;
}

/** An upload to be reviewed: where its bytes are and which package it was pushed to. */
export interface Upload {
  kind: Approval['kind'] | 'component';
  path: string;
  name: string;
  /** The component of the snap `name` that it was pushed as, if the kind is `component`. */
  component?: DeclaredComponent;
  /** Whether signatures vouch for its bytes, so that the rules of devices, which have been kept elsewhere, refuse nothing. */
  signed?: boolean;
}

/** The same for a file by its descriptor: whoever opened it may do so, and this process need not. */
export interface OpenUpload extends Omit<Upload, 'path'> {
  file: number;
}

/** The verdict that says no, with at least one sentence. */
export function rejection(...messages: [string, ...string[]]): Rejection {
  return { approved: false, errors: messages.map((message) => ({ code: 'review-error', message })) };
}
