// Approvals: the policy that says which accounts must approve a change, and the lines that they approve.
import { createDigest } from '../cryptography.ts';
import { coversChannel, parseChannel, readChannelPattern } from '../releases/channel.ts';
import { isAccountId } from '../ids.ts';
import { fitsGlob } from '../packages/package-glob.ts';
import { severities } from '../vulnerabilities/finding.ts';

/** The kinds of change that a policy can require approvals for, in the order of display. */
export const approvalKinds = [
  'transfers',
  'unsigned_folders',
  'requests',
  'releases',
  'delete_keys',
  'import_keys',
  'sources',
  'policy',
  'feeds',
  'vulnerabilities',
] as const;
export type ApprovalKind = (typeof approvalKinds)[number];

/**
 * The number of different people who must approve, out of the named accounts, or out of those with the role
 * `transfer-approver` if none are named.
 */
export interface ApprovalRule {
  people: number;
  /** Whether each of them must sign the approval with a key registered for their account. */
  signed?: true;
  /** Account ids. */
  of: readonly string[] | null;
}

/** A rule for releases to some channels of some packages. */
export interface ReleaseRule extends ApprovalRule {
  /** `namespace/name`; `*` matches any characters but a slash, in either part. */
  packages: string;
  /** A channel pattern, as in a token. */
  channels: string;
}

/** The findings that a rule can name: known to be exploited, or of a severity or a higher one. */
export const vulnerabilityConditions = ['known-exploited', ...severities] as const;
export type VulnerabilityCondition = (typeof vulnerabilityConditions)[number];

/** A rule for giving some channels a revision with such a finding. */
export interface VulnerabilityRule extends ReleaseRule {
  condition: VulnerabilityCondition;
}

type Single = Exclude<ApprovalKind, 'releases' | 'vulnerabilities'>;

/** The kinds that have one rule each. */
export const singleKinds = approvalKinds.filter((kind) => kind !== 'releases' && kind !== 'vulnerabilities');

/** An approval policy; without rules it requires no approvals. */
export interface ApprovalPolicy {
  rules: Readonly<Partial<Record<Single, ApprovalRule>>>;
  releases: readonly ReleaseRule[];
  vulnerabilities: readonly VulnerabilityRule[];
  /** The number of days that a proposal waits. */
  days: number;
}

export const noPolicy: ApprovalPolicy = { rules: {}, releases: [], vulnerabilities: [], days: 7 };

/** One change of an act, as approvers read it. */
export interface ApprovalLine {
  kind: ApprovalKind;
  /** The changed object: `snap/hello:latest/stable`. */
  on: string;
  /** The changed part of it, such as an architecture; null for the whole object. */
  part: string | null;
  /** The content before and after, in words; null for no content. */
  from: string | null;
  to: string | null;
}

/** A change in words: `snap/hello:latest/stable (amd64): 3 → 5`. */
export const lineText = ({ on, part, from, to }: Omit<ApprovalLine, 'kind'>): string =>
  `${on}${part === null ? '' : ` (${part})`}: ${from ?? 'nothing'} → ${to ?? 'nothing'}`;

/** The lines that change something. */
export const changedLines = (lines: readonly ApprovalLine[]): ApprovalLine[] =>
  lines.filter(({ from, to }) => from !== to);

/**
 * Parses `2`, `2 signed` or `2 signed of bob, carol`, with accounts named by id. Returns undefined for any other text.
 */
export function readRule(text: string): ApprovalRule | undefined {
  const [, people = '', signed, accountList] = /^([0-9])( signed)?(?: of (\S(?:.*\S)?))?$/.exec(text) ?? [];
  const of = accountList?.split(/ *, */) ?? null;
  const isWhole =
    of === null || (of.every(isAccountId) && new Set(of).size === of.length && of.length >= Number(people));
  if (people === '' || !isWhole) return undefined;
  return { people: Number(people), ...(signed !== undefined && { signed: true as const }), of };
}

/** Parses a rule for releases: `2 of bob, carol for snap/hello:latest/*`. Returns undefined for any other text. */
export function readReleaseRule(text: string): ReleaseRule | undefined {
  const [, rule = '', packages = '', channels = ''] = /^(.+) for ([a-z*]+\/[a-z0-9*-]+):(\S+)$/.exec(text) ?? [];
  const read = readRule(rule);
  if (read === undefined || readChannelPattern(channels) === undefined) return undefined;
  return { ...read, packages, channels };
}

/**
 * Parses a rule for vulnerabilities: `2 for known-exploited`, or `1 of bob for critical in snap/*:latest/stable`. Without
 * channels it covers all. Returns undefined for any other text.
 */
export function readVulnerabilityRule(text: string): VulnerabilityRule | undefined {
  const [, rule = '', word, scope = '*/*:*'] = /^(.+) for ([a-z-]+)(?: in (\S+))?$/.exec(text) ?? [];
  const condition = vulnerabilityConditions.find((candidate) => candidate === word);
  const read = readReleaseRule(`${rule} for ${scope}`);
  return read === undefined || condition === undefined ? undefined : { ...read, condition };
}

/** Parses the approval policy of a configuration that was checked before. Omits rules that need zero people. */
export function readPolicy(
  settings: Record<Single, string> & { releases: readonly string[]; vulnerabilities: readonly string[]; days: number },
): ApprovalPolicy {
  const rules: Partial<Record<Single, ApprovalRule>> = {};
  for (const kind of singleKinds) {
    const rule = readRule(settings[kind]);
    if (rule !== undefined && rule.people > 0) rules[kind] = rule;
  }
  const needed = <Rule extends ApprovalRule>(read: readonly (Rule | undefined)[]): Rule[] =>
    read.flatMap((rule) => (rule !== undefined && rule.people > 0 ? [rule] : []));
  return {
    rules,
    releases: needed(settings.releases.map(readReleaseRule)),
    vulnerabilities: needed(settings.vulnerabilities.map(readVulnerabilityRule)),
    days: settings.days,
  };
}

/** Whether a policy can require approvals for an act with lines of these kinds. */
export const canRequireApproval = (policy: ApprovalPolicy, kinds: readonly ApprovalKind[]): boolean =>
  kinds.some((kind) => {
    if (kind === 'releases' || kind === 'vulnerabilities') return policy[kind].length > 0;
    return policy.rules[kind] !== undefined || (isOfTrust(kind) && rulesOf(policy).length > 0);
  });

/**
 * Changes of the policy and of trusted sources. They must satisfy the strictest rules: else an account could first weaken the policy or trust
 * its own source, and then make any change.
 */
const isOfTrust = (kind: ApprovalKind): boolean => kind === 'policy' || kind === 'sources';

/** The rules that a change must satisfy, each on its own; empty if it needs no approvals. */
export function rulesFor(policy: ApprovalPolicy, lines: readonly ApprovalLine[]): ApprovalRule[] {
  const { rules, releases, vulnerabilities } = policy;
  const required = new Set<ApprovalRule>();
  for (const { kind, on, part } of lines) {
    if (kind === 'releases') releases.filter((rule) => covers(rule, on)).forEach((rule) => required.add(rule));
    else if (kind === 'vulnerabilities')
      vulnerabilities
        .filter((rule) => rule.condition === part && covers(rule, on))
        .forEach((rule) => required.add(rule));
    else if (rules[kind] !== undefined) required.add(rules[kind]);
  }
  if (lines.some(({ kind }) => isOfTrust(kind))) strictest(policy).forEach((rule) => required.add(rule));
  return [...required].filter(({ people }) => people > 0);
}

/** The rules that need the most people, and the signed rules that need the most people. */
function strictest(policy: ApprovalPolicy): ApprovalRule[] {
  const all = rulesOf(policy);
  const selectMostPeople = (some: readonly ApprovalRule[]): ApprovalRule[] => {
    const people = Math.max(0, ...some.map((rule) => rule.people));
    return some.filter((rule) => rule.people === people);
  };
  return [...selectMostPeople(all), ...selectMostPeople(all.filter(({ signed }) => signed))];
}

/** Whether a rule covers a channel, `snap/hello:latest/stable`, or any channel of a package, `snap/hello`. */
export function covers({ packages, channels }: ReleaseRule, on: string): boolean {
  // The devices and the refresh window of a fleet concern any channel of any package.
  if (on.startsWith('fleet/')) return true;
  const [subject = '', name = ''] = on.split(':');
  const [namespace = '', called = ''] = subject.split('/');
  const [pattern, channel] = [readChannelPattern(channels), parseChannel(name)];
  if (!fitsGlob([packages], { namespace, name: called })) return false;
  // A pattern or channel that cannot be parsed counts as covered.
  return pattern === undefined || channel === undefined || coversChannel(pattern, channel);
}

/** The line for a release to a channel of a package. */
export const channelLine = (
  { namespace, name }: { namespace: string; name: string },
  { channel, ...line }: { channel: string } & Pick<ApprovalLine, 'part' | 'from' | 'to'>,
): ApprovalLine => ({ kind: 'releases', on: `${namespace}/${name}:${channel}`, ...line });

interface PolicyEntry {
  /** The key in the configuration, with a number if an earlier rule covers the same channels. */
  key: string;
  rule: ApprovalRule;
  /** The kind of change that the rule covers; undefined for a rule about releases or vulnerabilities. */
  kind?: Single;
  release?: ReleaseRule;
  vulnerability?: VulnerabilityRule;
}

/** Every rule of a policy that requires approvals. */
function policyEntries({ rules, releases, vulnerabilities }: ApprovalPolicy): PolicyEntry[] {
  const entries: PolicyEntry[] = [];
  for (const kind of singleKinds) {
    const rule = rules[kind];
    if (rule !== undefined && rule.people > 0) entries.push({ key: kind, rule, kind });
  }
  const times = new Map<string, number>();
  const numbered = (name: string): string => {
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    return time === 1 ? name : `${name} (${String(time)})`;
  };
  for (const release of releases.filter(({ people }) => people > 0))
    entries.push({ key: numbered(`releases ${scopeOf(release)}`), rule: release, release });
  for (const rule of vulnerabilities.filter(({ people }) => people > 0))
    entries.push({ key: numbered(`vulnerabilities ${scopeOf(rule)}`), rule, vulnerability: rule });
  return entries;
}

/** The changes that a rule covers. Two rules with the same scope would contradict each other. */
export const scopeOf = ({ packages, channels, ...rule }: ReleaseRule | VulnerabilityRule): string =>
  `${'condition' in rule ? `${rule.condition} in ` : ''}${packages}:${channels}`;

/** The rules of a policy that require approvals. */
export const rulesOf = (policy: ApprovalPolicy): ApprovalRule[] => policyEntries(policy).map(({ rule }) => rule);

/** The rules of a policy as texts, by their keys in the configuration. Policies with equal texts are equal. */
export const policyTexts = (policy: ApprovalPolicy): Map<string, string> =>
  new Map(policyEntries(policy).map(({ key, rule }) => [key, ruleText(rule)]));

const ruleText = ({ people, signed, of }: ApprovalRule): string =>
  `${String(people)}${signed === true ? ' signed' : ''}${of === null ? '' : ` of ${[...of].sort().join(', ')}`}`;

/**
 * The part of a new policy that weakens the one in force: a rule that is removed, needs fewer people, no longer needs
 * signatures, or names other people. Changes that only require more are not part of it.
 */
export function weakenedLines(before: ApprovalPolicy, after: ApprovalPolicy): ApprovalLine[] {
  const fresh = entriesByKey(after);
  const lines: ApprovalLine[] = [];
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
 * The rules of a new policy that are stricter than the ones in force. Leaves out rules that need fewer people or name
 * other people: these need approvals, and until then the rules in force apply.
 */
export function stricterPolicy(inForce: ApprovalPolicy, other: ApprovalPolicy): ApprovalPolicy {
  const now = entriesByKey(inForce);
  const isRaised = ({ key, rule }: PolicyEntry): boolean => {
    const before = now.get(key)?.rule;
    return before === undefined || (isAsStrict(before, rule) && !isAsStrict(rule, before));
  };
  const entries = policyEntries(other).filter(isRaised);
  return {
    rules: Object.fromEntries(entries.flatMap(({ kind, rule }) => (kind === undefined ? [] : [[kind, rule]]))),
    releases: entries.flatMap(({ release }) => release ?? []),
    vulnerabilities: entries.flatMap(({ vulnerability }) => vulnerability ?? []),
    days: other.days,
  };
}

const entriesByKey = (policy: ApprovalPolicy): Map<string, PolicyEntry> =>
  new Map(policyEntries(policy).map((entry) => [entry.key, entry]));

const isAsStrict = (before: ApprovalRule, after: ApprovalRule): boolean => {
  if (after.people < before.people) return false;
  if (before.signed === true && after.signed !== true) return false;
  if (before.of === null) return after.of === null;
  return after.of !== null && after.of.every((accountId) => before.of?.includes(accountId));
};

/** A digest of a requested change: act, object, actor and new values. It stays equal if the current values change. */
export const digestOfRequest = (act: string, object: string, actor: string, lines: readonly ApprovalLine[]): string =>
  digestOf([act, object, actor, ...lines.map(({ kind, on, part, to }) => [kind, on, part, to])]);

/** A digest of a requested change and of the current values that it replaces. */
export const digestOfChange = (act: string, object: string, actor: string, lines: readonly ApprovalLine[]): string =>
  digestOf([act, object, actor, ...lines.map(({ kind, on, part, from, to }) => [kind, on, part, from, to])]);

const digestOf = (values: readonly unknown[]): string =>
  createDigest('change').update(JSON.stringify(values)).digest('hex');
