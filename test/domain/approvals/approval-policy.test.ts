// The rules of an approval policy: the rules that another policy removes or adds.
import fc from 'fast-check';
import t from 'tap';

import {
  weakenedLines,
  noPolicy,
  policyTexts,
  stricterPolicy,
  readReleaseRule,
  readRule,
  readVulnerabilityRule,
  rulesFor,
  type ApprovalPolicy,
  type ApprovalRule,
} from '#domain/approvals/approval-policy.ts';

const transfers = (text: string): ApprovalPolicy => ({ ...noPolicy, rules: { transfers: readRule(text)! } });
const releases = (...texts: string[]): ApprovalPolicy => ({
  ...noPolicy,
  releases: texts.map((text) => readReleaseRule(text)!),
});
const keysOf = (lines: readonly { on: string }[]): string[] => lines.map(({ on }) => on);

t.test('a policy that asks other people is lowered, unless it asks fewer of the same ones', (t) => {
  const before = transfers('2 of bob, carol, dave');
  t.strictSame(weakenedLines(before, transfers('2 of bob, carol')), [], 'taking a name away only makes it stricter');
  t.strictSame(weakenedLines(before, transfers('2 of dave, carol, bob')), [], 'the order means nothing');
  for (const other of ['2 of bob, carol, dave, erin', '2 of bob, erin', '2', '1 of bob, carol, dave']) {
    t.strictSame(keysOf(weakenedLines(before, transfers(other))), ['transfers'], other);
  }
  t.strictSame(keysOf(weakenedLines(before, noPolicy)), ['transfers']);
  t.strictSame(
    keysOf(weakenedLines(transfers('2'), transfers('2 of bob, carol'))),
    ['transfers'],
    'a list for the role',
  );
  t.end();
});

t.test('a policy that asks for as many people, or for as many signatures, is not lowered', (t) => {
  for (const [before, after, isLowered] of [
    ['2', '2', false],
    ['2', '3', false],
    ['3', '2', true],
    ['2', '2 signed', false],
    ['2 signed', '2 signed', false],
    ['2 signed', '3', true],
  ] as const) {
    t.equal(weakenedLines(transfers(before), transfers(after)).length > 0, isLowered, `${before}, then ${after}`);
  }
  t.end();
});

t.test('of two rules about the same channels neither hides the other', (t) => {
  const [strict, loose] = ['2 for snap/*:*/stable', '1 of bob for snap/*:*/stable'];
  const both = releases(strict, loose);
  t.strictSame(
    [...policyTexts(both)],
    [
      ['releases snap/*:*/stable', '2'],
      ['releases snap/*:*/stable (2)', '1 of bob'],
    ],
  );
  t.strictSame(keysOf(weakenedLines(both, releases(loose))), [
    'releases snap/*:*/stable',
    'releases snap/*:*/stable (2)',
  ]);
  t.strictSame(keysOf(weakenedLines(both, releases(strict))), ['releases snap/*:*/stable (2)']);
  t.strictSame(weakenedLines(both, both), []);
  t.end();
});

t.test('a rule for vulnerabilities covers its kind of finding in its channels', (t) => {
  const texts = ['2 for known-exploited', '1 signed of bob for critical in snap/*:*/stable'];
  const policy = { ...noPolicy, vulnerabilities: texts.map((text) => readVulnerabilityRule(text)!) };
  t.strictSame(
    [...policyTexts(policy)],
    [
      ['vulnerabilities known-exploited in */*:*', '2'],
      ['vulnerabilities critical in snap/*:*/stable', '1 signed of bob'],
    ],
  );
  const peopleFor = (on: string, part: string): number[] =>
    rulesFor(policy, [{ kind: 'vulnerabilities', on, part, from: null, to: 'x' }]).map(({ people }) => people);
  t.strictSame(peopleFor('snap/hello:latest/stable', 'critical'), [1]);
  t.strictSame(peopleFor('snap/hello', 'critical'), [1], 'a package stands for all of its channels');
  t.strictSame(peopleFor('snap/hello:latest/edge', 'critical'), []);
  t.strictSame(peopleFor('charm/hello:latest/stable', 'critical'), []);
  t.strictSame(peopleFor('charm/hello:latest/edge/fix', 'known-exploited'), [2], 'without channels all are covered');
  t.strictSame(peopleFor('snap/hello:latest/stable', 'high'), []);
  const weaker = { ...policy, vulnerabilities: policy.vulnerabilities.slice(1) };
  t.strictSame(keysOf(weakenedLines(policy, weaker)), ['vulnerabilities known-exploited in */*:*']);
  t.strictSame(weakenedLines(weaker, policy), []);
  t.strictSame([...policyTexts(stricterPolicy(weaker, policy)).keys()], ['vulnerabilities known-exploited in */*:*']);
  const trust = { kind: 'sources' as const, on: 'source/depot', part: null, from: null, to: 'x' };
  t.strictSame(
    rulesFor(policy, [trust]).map(({ people }) => people),
    [2, 1],
    'trust needs the strictest of them',
  );
  t.end();
});

t.test('the rules that another policy adds are not among the removed ones', (t) => {
  const after = { ...transfers('3'), releases: releases('1 for snap/*:*/stable').releases };
  t.strictSame([...policyTexts(stricterPolicy(transfers('2'), after))], [...policyTexts(after)]);
  t.strictSame([...policyTexts(stricterPolicy(transfers('2'), transfers('2')))], [], 'the same is not raised');
  t.strictSame([...policyTexts(stricterPolicy(transfers('2'), transfers('1')))], []);
  t.strictSame(
    [...policyTexts(stricterPolicy(transfers('2'), transfers('2 of bob, carol')))],
    [],
    'other people wait for approvals',
  );
  t.end();
});

const names = ['bob', 'carol', 'dave'];
const rule: fc.Arbitrary<ApprovalRule> = fc
  .record({
    people: fc.integer({ min: 1, max: 3 }),
    signed: fc.boolean(),
    of: fc.option(fc.subarray(names, { minLength: 1 }), { nil: null }),
  })
  .map(({ people, signed, of }) => ({
    people: of === null ? people : Math.min(people, of.length),
    ...(signed && { signed: true as const }),
    of,
  }));
const policy: fc.Arbitrary<ApprovalPolicy> = fc
  .record({
    transfers: fc.option(rule, { nil: undefined }),
    releases: fc.array(rule, { maxLength: 2 }),
  })
  .map(({ transfers, releases }) => ({
    ...noPolicy,
    rules: transfers === undefined ? {} : { transfers },
    releases: releases.map((drawnRule) => ({ ...drawnRule, packages: 'snap/*', channels: '*/stable' })),
  }));
const approvals = fc.array(fc.record({ who: fc.constantFrom(...names), signed: fc.boolean() }), { maxLength: 4 });
const holders = fc.subarray(names);
const lines = [
  { kind: 'transfers' as const, on: 'transfer/1', part: null, from: null, to: '1' },
  { kind: 'releases' as const, on: 'snap/hello:latest/stable', part: null, from: null, to: '1' },
];

/** Whether approvals meet each rule of a policy, written without looking at how the store compares policies. */
const meets = (
  rules: readonly ApprovalRule[],
  collected: readonly { who: string; signed: boolean }[],
  role: readonly string[],
): boolean =>
  rules.every(({ people, signed, of }) => {
    const counting = collected.filter(
      (approval) => (of ?? role).includes(approval.who) && (signed !== true || approval.signed),
    );
    return new Set(counting.map(({ who }) => who)).size >= people;
  });

t.test('approvals that meet a policy which is not lowered also meet the one before it', (t) => {
  fc.assert(
    fc.property(policy, policy, approvals, holders, (before, after, collected, role) => {
      fc.pre(weakenedLines(before, after).length === 0);
      return !meets(rulesFor(after, lines), collected, role) || meets(rulesFor(before, lines), collected, role);
    }),
    { numRuns: 2000 },
  );
  t.pass();
  t.end();
});

t.test('a policy is neither weaker nor stricter than itself', (t) => {
  fc.assert(
    fc.property(policy, (anyPolicy) => {
      t.strictSame(weakenedLines(anyPolicy, anyPolicy), []);
      t.strictSame(rulesFor(stricterPolicy(anyPolicy, anyPolicy), lines), []);
    }),
  );
  t.end();
});

t.test(
  'every rule for releases covers the devices and the window of a fleet, and all channels of a hidden snap',
  (t) => {
    const policy = releases('1 for snap/hello:latest/stable', '2 for snap/other:*');
    const people = (on: string): number[] =>
      rulesFor(policy, [{ kind: 'releases', on, part: 'x', from: null, to: 'y' }]).map((rule) => rule.people);
    t.same(people('fleet/pumps'), [1, 2]);
    t.same(people('snap/hello:*'), [1]);
    t.same(people('snap/hello:latest/edge'), []);
    t.end();
  },
);
