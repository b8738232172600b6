// Permitted differences between a review and the snapd library of Debian (2.57.6), each with its reason and the place
// in snapd.
import type { GeneratedSnap } from './whole-snap-arbitrary.ts';

export interface SnapdException {
  why: string;
  /** The place in snapd, and its first release. */
  source: string;
  /** The sentence of the review, or the refusal of the library, that shows it. */
  shows: RegExp;
  /** The further condition on the snap. */
  applies?: (snap: GeneratedSnap) => boolean;
}

/** Rules that snapd has got since then. */
export const newerRules: readonly SnapdException[] = [
  {
    why: 'components are newer',
    source: 'snap/info_snap_yaml.go setComponentsFromSnapYaml (2.63)',
    shows: /^(?:Each of the 'components'|The component '.*') /,
  },
  {
    why: 'bases and snapd have no hook configure',
    source: 'snap/validate.go validateHooks (2.61)',
    shows: /^A snap of type \w+ cannot have a hook '(?:default-)?configure'/,
  },
  {
    why: 'default-configure needs configure',
    source: 'snap/validate.go validateHooks (2.61)',
    shows: /^A hook 'default-configure' needs/,
  },
  {
    why: 'success-exit-status is newer',
    source: 'snap/validate.go validateAppSuccessExitStatus (2.74)',
    shows: /success-exit-status/,
  },
  {
    why: 'more places have no layouts',
    source: 'snap/validate.go layoutRejectionList (2.60)',
    shows: /^The layout '\/(?:var\/run|usr\/lib).* where none is allowed/,
  },
  {
    why: 'classic snaps need no network-bind',
    source: 'snap/validate.go ValidateApp (2.72)',
    shows: /"network-bind" interface plug is required/,
  },
  {
    why: 'system usernames may be between underscores',
    source: 'osutil/user.go IsValidSnapSystemUsername (2.61)',
    shows: /invalid system username "_/,
  },
  { why: 'grades are read', source: 'snap/info_snap_yaml.go (2.72)', shows: /^The grade / },
];

/** The refusals of the review for a link or a special file in meta. */
const ofKind = (kinds: readonly string[], inMeta: boolean) => (snap: GeneratedSnap) =>
  Object.entries(snap.tree).some(
    ([path, entry]) =>
      typeof entry === 'object' &&
      'kind' in entry &&
      kinds.includes(entry.kind) &&
      (!inMeta || path.startsWith('meta/') || path === 'meta'),
  );

/** Rules for the files of a snap. */
export const fileRules: readonly SnapdException[] = [
  {
    why: 'links in meta are followed and checked',
    source: 'snap/container.go evalAndValidateSymlink (2.62)',
    shows: /is a link to|^'meta\/.* in the snap cannot be (?:read|run)/,
    applies: ofKind(['link'], true),
  },
  {
    why: 'no file in meta, nor a command, may be a special one',
    source: 'snap/container.go validateContainer (2.62)',
    shows: /must be a file, and is a device, pipe or socket/,
    applies: ofKind(['block device', 'pipe', 'socket'], false),
  },
  {
    why: 'snapd overlooks character devices, but mounts snaps so that no program can open one',
    source: 'snap/squashfs/stat.go parseMode has no ModeDevice for them, snap/container.go asks for it (all releases)',
    shows: /must be a file, and is a device, pipe or socket/,
    applies: ofKind(['character device'], false),
  },
  {
    why: 'the store keeps and shows snap.yaml, in UTF-8 alone',
    source: 'gopkg.in/yaml.v2 readerc.go yaml_parser_determine_encoding (all releases)',
    shows: /^meta\/snap.yaml is not text in UTF-8/,
    applies: ({ oddities }) => oddities.includes('meta/snap.yaml is in UTF-16'),
  },
];
