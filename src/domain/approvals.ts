// Approvals: whom the policy asks before something is done, and what exactly they approve of.
import { createHash } from 'node:crypto';

import { coversChannel, parseChannel, readChannelPattern } from './channel.ts';
import { isAccountId } from './ids.ts';
import { fitsGlob } from './package-glob.ts';

/** What a policy may ask approvals for, in the order in which it is told. */
export const approvalKinds = [
  'transfers',
  'unsigned_folders',
  'requests',
  'releases',
  'delete_keys',
  'import_keys',
  'sources',
  'policy',
] as const;
export type ApprovalKind = (typeof approvalKinds)[number];

/** So many different people, of those that are named; where nobody is, of those with the role `transfer-approver`. */
export interface ApprovalRule {
  people: number;
  /** Whether each of them signs what he approves of, with a key that is registered for him. */
  signed?: true;
  /** Account ids. */
  of: readonly string[] | null;
}

/** The same for what is released to some channels of some packages. */
export interface ReleaseRule extends ApprovalRule {
  /** `namespace/name`; `*` stands for anything but a slash in each of both. */
  packages: string;
  /** As a token names channels. */
  channels: string;
}

type Single = Exclude<ApprovalKind, 'releases'>;

/** The kinds for which there is one rule. */
export const singleKinds = approvalKinds.filter((kind) => kind !== 'releases');

/** Whom a store asks; nothing where nobody is. */
export interface ApprovalPolicy {
  rules: Readonly<Partial<Record<Single, ApprovalRule>>>;
  releases: readonly ReleaseRule[];
  /** How many days a proposal waits. */
  days: number;
}

export const noPolicy: ApprovalPolicy = { rules: {}, releases: [], days: 7 };

/** One thing that an act changes, as those who approve of it read it. */
export interface Line {
  kind: ApprovalKind;
  /** What is changed: `snap/hello:latest/stable`. */
  on: string;
  /** Which part of it, such as an architecture; nothing for all. */
  part: string | null;
  /** What it was and what it becomes, in words; nothing where there is nothing. */
  from: string | null;
  to: string | null;
}

/** A change as people read it: `snap/hello:latest/stable (amd64): 3 → 5`. */
export const lineText = ({ on, part, from, to }: Omit<Line, 'kind'>): string =>
  `${on}${part === null ? '' : ` (${part})`}: ${from ?? 'nothing'} → ${to ?? 'nothing'}`;

/** The lines that change anything. */
export const changedLines = (lines: readonly Line[]): Line[] => lines.filter(({ from, to }) => from !== to);

/** Reads `2`, `2 signed` or `2 signed of bob, carol`, where accounts are named by their ids; undefined when it is none. */
export function readRule(text: string): ApprovalRule | undefined {
  const [, people = '', signed, named] = /^([0-9])( signed)?(?: of (\S(?:.*\S)?))?$/.exec(text) ?? [];
  const of = named?.split(/ *, */) ?? null;
  const isWhole =
    of === null || (of.every(isAccountId) && new Set(of).size === of.length && of.length >= Number(people));
  if (people === '' || !isWhole) return undefined;
  return { people: Number(people), ...(signed !== undefined && { signed: true as const }), of };
}

/** Reads the same for releases, `2 of bob, carol for snap/hello:latest/*`; undefined when it is none. */
export function readReleaseRule(text: string): ReleaseRule | undefined {
  const [, rule = '', packages = '', channels = ''] = /^(.+) for ([a-z*]+\/[a-z0-9*-]+):(\S+)$/.exec(text) ?? [];
  const read = readRule(rule);
  if (read === undefined || readChannelPattern(channels) === undefined) return undefined;
  return { ...read, packages, channels };
}

/** What the configuration says, whose texts have been checked; what asks nobody is left out. */
export function readPolicy(
  said: Record<Single, string> & { releases: readonly string[]; days: number },
): ApprovalPolicy {
  const rules: Partial<Record<Single, ApprovalRule>> = {};
  for (const kind of singleKinds) {
    const rule = readRule(said[kind]);
    if (rule !== undefined && rule.people > 0) rules[kind] = rule;
  }
  const releases = said.releases.map(readReleaseRule).filter((rule) => rule !== undefined);
  return { rules, releases: releases.filter(({ people }) => people > 0), days: said.days };
}

/** Whether a policy asks anything at all of acts that touch one of these kinds. */
export const asks = ({ rules, releases }: ApprovalPolicy, kinds: readonly ApprovalKind[]): boolean =>
  kinds.some((kind) => {
    if (kind === 'releases') return releases.length > 0;
    return rules[kind] !== undefined || (isOfTrust(kind) && (releases.length > 0 || Object.keys(rules).length > 0));
  });

/** To change whom the store believes is not easier than anything that follows from it. */
const isOfTrust = (kind: ApprovalKind): boolean => kind === 'policy' || kind === 'sources';

/** The rules that what is changed must satisfy, each by itself; none where nobody is asked. */
export function rulesFor(policy: ApprovalPolicy, lines: readonly Line[]): ApprovalRule[] {
  const { rules, releases } = policy;
  const asked = new Set<ApprovalRule>();
  for (const { kind, on } of lines) {
    if (kind === 'releases') releases.filter((rule) => covers(rule, on)).forEach((rule) => asked.add(rule));
    else if (rules[kind] !== undefined) asked.add(rules[kind]);
  }
  if (lines.some(({ kind }) => isOfTrust(kind))) strictest(policy).forEach((rule) => asked.add(rule));
  return [...asked].filter(({ people }) => people > 0);
}

/** The rules that ask for most people, and for most signatures. */
function strictest({ rules, releases }: ApprovalPolicy): ApprovalRule[] {
  const all = [...Object.values(rules), ...releases];
  const most = (some: readonly ApprovalRule[]): ApprovalRule[] => {
    const people = Math.max(0, ...some.map((rule) => rule.people));
    return some.filter((rule) => rule.people === people);
  };
  return [...most(all), ...most(all.filter(({ signed }) => signed))];
}

/** Whether a rule is about a channel, `snap/hello:latest/stable`. */
function covers({ packages, channels }: ReleaseRule, on: string): boolean {
  const [subject = '', name = ''] = on.split(':');
  const [namespace = '', called = ''] = subject.split('/');
  const [pattern, channel] = [readChannelPattern(channels), parseChannel(name)];
  if (!fitsGlob([packages], { namespace, name: called })) return false;
  // What cannot be read is held, never let through.
  return pattern === undefined || channel === undefined || coversChannel(pattern, channel);
}

/** The rule that a channel of a package is released by. */
export const channelLine = (
  { namespace, name }: { namespace: string; name: string },
  { channel, ...line }: { channel: string } & Pick<Line, 'part' | 'from' | 'to'>,
): Line => ({ kind: 'releases', on: `${namespace}/${name}:${channel}`, ...line });

interface PolicyEntry {
  /** As the configuration names it, with a number for a second rule about the same channels. */
  key: string;
  rule: ApprovalRule;
  /** The kind that the rule is about; nothing for a rule about releases. */
  kind?: Single;
  release?: ReleaseRule;
}

/** Every rule of a policy that asks for anybody. */
function policyEntries({ rules, releases }: ApprovalPolicy): PolicyEntry[] {
  const entries: PolicyEntry[] = [];
  for (const kind of singleKinds) {
    const rule = rules[kind];
    if (rule !== undefined && rule.people > 0) entries.push({ key: kind, rule, kind });
  }
  const times = new Map<string, number>();
  for (const release of releases) {
    if (release.people === 0) continue;
    const name = `releases ${release.packages}:${release.channels}`;
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    entries.push({ key: time === 1 ? name : `${name} (${String(time)})`, rule: release, release });
  }
  return entries;
}

/** The rules of a policy that ask for anybody. */
export const rulesOf = (policy: ApprovalPolicy): ApprovalRule[] => policyEntries(policy).map(({ rule }) => rule);

/** What a policy says, by keys as the configuration names them. Two policies with the same texts say the same. */
export const policyTexts = (policy: ApprovalPolicy): Map<string, string> =>
  new Map(policyEntries(policy).map(({ key, rule }) => [key, ruleText(rule)]));

const ruleText = ({ people, signed, of }: ApprovalRule): string =>
  `${String(people)}${signed === true ? ' signed' : ''}${of === null ? '' : ` of ${[...of].sort().join(', ')}`}`;

/**
 * What another policy takes away from the one in force: a rule that is gone, asks for fewer people, for no signatures any
 * more, or asks other people. A change that only asks for more is not part of it.
 */
export function lowered(before: ApprovalPolicy, after: ApprovalPolicy): Line[] {
  const fresh = entriesByKey(after);
  const lines: Line[] = [];
  for (const { key, rule } of policyEntries(before)) {
    const next = fresh.get(key)?.rule;
    if (next !== undefined && isAsStrict(rule, next)) continue;
    lines.push({
      kind: 'policy',
      on: key,
      part: null,
      from: ruleText(rule),
      to: next === undefined ? null : ruleText(next),
    });
  }
  return lines;
}

/**
 * The part of another policy that asks for more than the one in force. A rule that asks for less, or asks other people, is no
 * part of it: that waits for approvals, and until then the rule in force holds.
 */
export function raised(inForce: ApprovalPolicy, other: ApprovalPolicy): ApprovalPolicy {
  const now = entriesByKey(inForce);
  const isRaised = ({ key, rule }: PolicyEntry): boolean => {
    const before = now.get(key)?.rule;
    return before === undefined || (isAsStrict(before, rule) && !isAsStrict(rule, before));
  };
  const entries = policyEntries(other).filter(isRaised);
  return {
    rules: Object.fromEntries(entries.flatMap(({ kind, rule }) => (kind === undefined ? [] : [[kind, rule]]))),
    releases: entries.flatMap(({ release }) => (release === undefined ? [] : [release])),
    days: other.days,
  };
}

const entriesByKey = (policy: ApprovalPolicy): Map<string, PolicyEntry> =>
  new Map(policyEntries(policy).map((entry) => [entry.key, entry]));

const isAsStrict = (before: ApprovalRule, after: ApprovalRule): boolean => {
  if (after.people < before.people) return false;
  if (before.signed === true && after.signed !== true) return false;
  if (before.of === null) return after.of === null;
  return after.of !== null && after.of.every((one) => before.of?.includes(one));
};

/** What is proposed: the same for the same request, whatever stands where it would change something. */
export const digestOfAsked = (act: string, object: string, actor: string, lines: readonly Line[]): string =>
  digestOf([act, object, actor, ...lines.map(({ kind, on, part, to }) => [kind, on, part, to])]);

/** The same with what it would change. */
export const digestOfChange = (act: string, object: string, actor: string, lines: readonly Line[]): string =>
  digestOf([act, object, actor, ...lines.map(({ kind, on, part, from, to }) => [kind, on, part, from, to])]);

const digestOf = (told: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(told)).digest('hex');
