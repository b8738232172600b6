// Every act may run again from its start. So every act runs twice here, the first time rolled back, and the results of
// other tests must stay the same.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import t from 'tap';

import { everyAct } from '#acts/index.ts';
import { selectFiles } from '#test/runner/lanes.ts';

t.setTimeout(1_200_000);

interface RehearsedAct {
  act: string;
  what: 'done' | 'refused' | 'different';
}

type Journey = readonly [file: string, ...parts: string[]];

/** How many of the tests that name an act are tried, until one does it. */
const maxTurns = 3;

/**
 * Tests that between them do the acts that no short test names; of the longer ones, the parts that this is about, by the
 * beginnings of their names.
 */
const journeys: readonly Journey[] = [
  ['acts/accounts/accounts.test.ts'],
  ['acts/store/appliance.test.ts'],
  ['acts/approvals/approvals.test.ts'],
  ['acts/approvals/signed-approvals.test.ts', 'a signed approval counts'],
  ['acts/brands/brands.test.ts'],
  ['backup/upgrade-copies.test.ts', 'only the release', 'an older release refuses newer data'],
  ['backup/complete.test.ts', 'a missing blob'],
  ['backup/move.servers.test.ts', 'the records move to a server'],
  ['console/login/logging-in.test.ts', 'a person logs in'],
  ['console/login/session-rules.test.ts', 'the audit log says'],
  ['console/accounts/myself.test.ts', 'one-time passwords are', 'a password is changed'],
  ['cli/accounts/accounts.test.ts', 'a role is given', 'every change is in the audit log'],
  ['cli/tokens/admin-macaroon.test.ts'],
  ['cli/approvals/approvals.test.ts', 'a push to channels'],
  ['cli/assertions/assertions.test.ts'],
  ['cli/audit/audit.test.ts', 'the log has actors'],
  ['cli/accounts/credentials.test.ts', 'one-time', 'an invitation', 'a new password', 'agents', 'keys are rotated'],
  ['cli/keys/key-import.tools.test.ts', 'a key that gpg'],
  ['cli/packages/package-import.test.ts', 'a snap is imported'],
  ['cli/packages/package-set-id.test.ts'],
  ['cli/vulnerabilities/feeds.test.ts'],
  ['transfers/accept/larder-releases.test.ts'],
  ['cli/uploads/reviews.test.ts', 'an upload waits', 'a person rejects', 'guardrails'],
  ['faults/serving.test.ts', "'backup-failed'"],
  ['faults/serving.test.ts', "'drill-failed'"],
  ['identity/login/login-page.test.ts', 'a person sets a password'],
  ['identity/login/logins.test.ts'],
  ['identity/certificates/login.test.ts'],
  ['identity/openid/login.test.ts'],
  ['identity/openid/logout.test.ts'],
  ['identity/openid/roles.test.ts'],
  ['integrity/passing-errors.test.ts', 'a quarantined blob'],
  ['integrity/verify-records.test.ts', 'soon after'],
  ['integrity/verify.test.ts', 'the serving store finds'],
  ['jobs/releases/expire-branches.test.ts'],
  ['jobs/images/forget-images.test.ts', 'an image that lost its tag', 'an index from before', 'a blob that joined'],
  ['jobs/releases/raise-rollouts.test.ts', 'a rollout rises', 'too many devices that come', 'another change'],
  ['jobs/packages/forget-invites.test.ts', 'ended invites', 'so do ended pull credentials'],
  ['jobs/tokens/forget-sessions.test.ts'],
  ['jobs/revisions/read-charms.test.ts'],
  ['jobs/vulnerabilities/read-bills.test.ts'],
  ['jobs/revisions/sign-revisions.test.ts', 'a revision that waits for', 'a revision without provenance'],
  ['macaroons/root-keys.test.ts', 'an old root key goes'],
  ['operations/vulnerabilities/findings.test.ts'],
  ['operations/accounts/account-details.test.ts', 'an operation', 'each account changes'],
  ['operations/accounts/token-ends.test.ts', 'a token that replaces'],
  ['operations/accounts/quota.test.ts'],
  ['operations/assertions/dashboard-account-key.test.ts'],
  ['operations/builds/builds.test.ts', 'a build is watched', 'commit workflows'],
  ['operations/packages/collaborators/invites.test.ts', 'an account that', 'an invite is worth'],
  ['operations/libraries/libraries.test.ts', 'a library is created'],
  ['operations/devices/grants/device-grants.test.ts', 'a grant is given', 'grants are for snaps'],
  ['operations/devices/sessions/device-session.test.ts', 'a device with a revoked serial'],
  ['operations/fleets/fleets.test.ts', 'the devices of a fleet', 'a hidden snap', 'input that contradicts'],
  ['operations/brands/models/models.test.ts', 'a model is'],
  ['operations/packages/unregister-package.test.ts', 'a publisher gives up'],
  ['operations/packages/update-package-metadata.test.ts', 'the metadata of a package'],
  ['operations/packages/ways-to-register.test.ts'],
  ['operations/dashboard/snap-push.test.ts', 'an unfinished push'],
  ['operations/dashboard/confdb-schemas.test.ts', 'the owner of a schema'],
  ['operations/dashboard/validation-sets.test.ts', 'the owner of a set', 'a build is signed'],
  ['operations/packages/ownership/ownership.test.ts', 'a collaborator', 'a package is', 'an offer', 'an administrator'],
  ['operations/registry/deletions.test.ts', 'a tag goes alone', 'an image of a resource'],
  ['operations/registry/events.test.ts', 'the registry reports a push'],
  ['operations/registry/pull-credentials.test.ts'],
  ['operations/releases/push-releases.test.ts', 'one request', 'a charm fills', 'a progressive'],
  ['operations/brands/remodel-allowlist/remodel-allowlist.test.ts', 'remodels are', 'a list with one refused'],
  ['operations/resources/resources.test.ts', 'bases can be changed'],
  ['operations/tokens/offline-exchange-macaroon.test.ts', "the administrator's credential"],
  ['operations/releases/tracks.test.ts'],
  ['operations/revisions/delete-revisions.test.ts'],
  ['operations/revisions/withdraw-revision.test.ts'],
  ['operations/brands/serial-policies/serial-policies.test.ts'],
  ['journeys/blobs-on-s3.servers.test.ts', 'a bucket that lost'],
  ['transfers/across.long.test.ts', 'the next transfer', 'a transfer in parts', 'a source without trust'],
  ['transfers/request/asked.test.ts', 'a site gets'],
  ['transfers/keys.test.ts', 'the keys of a source', 'after a restore'],
  ['transfers/request/request.test.ts', 'an empty store'],
  ['transfers/lost.test.ts'],
  ['transfers/source-acts.test.ts', 'a very high number', 'two different rotations'],
  ['tls/serving.test.ts', 'a certificate that is made or renewed'],
];

const root = join(import.meta.dirname, '../..');

/** Runs a test with every act done twice; returns its problems. */
async function rehearse(reportFile: string, file: string, parts: readonly string[]): Promise<string[]> {
  const grep = parts.length === 0 ? {} : { TAP_GREP: `/^(?:${parts.join('|')})/` };
  // They are done twice, which is enough.
  const env = { ...process.env, ...grep, LARDER_REHEARSED: reportFile, LARDER_LONG: '' };
  const fixture = join(root, 'test/fixtures/processes/rehearse.ts');
  const child = spawn(process.execPath, ['--import', fixture, join(root, 'test', file)], { cwd: root, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) {
    // A beginning of no name would pass without any test.
    const idle = parts.filter((part) => !new RegExp(`^ok \\d+ - ${part}(?!.*# SKIP filter)`, 'm').test(output));
    return idle.map((part) => `${file} has no test that begins with "${part}"`);
  }
  const wrong = [...output.matchAll(/^ *(?:not ok .*|.*did not do the same twice.*)$/gm)].map(([line]) => line.trim());
  return [`${file} ended with ${String(code)}`, ...wrong];
}

/** Tests of `npm test` with the name of each act in quotes, as in an entry of the audit log; the shortest first. */
function findJourneys(): ReadonlyMap<string, readonly Journey[]> {
  const tests = selectFiles('tests', [])
    // They name acts without doing each.
    .filter((file) => !/^test\/acts\/[^/]+$/.test(file))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split(/^(?=t\.test\()/m)
        .map((text) => ({ text, file: relative('test', file), name: /^t\.test\(\s*(['"])(.+?)\1,/.exec(text)?.[2] })),
    )
    .sort((test, other) => test.text.length - other.text.length);
  return new Map(
    everyAct.map(({ name: act }) => [
      act,
      tests.flatMap(({ text, file, name }): Journey[] =>
        name !== undefined && text.includes(`'${act}'`) ? [[file, RegExp.escape(name)]] : [],
      ),
    ]),
  );
}

t.test('every act may be run again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-rehearsal-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  const reportFile = join(folder, 'told');
  const readRuns = (): RehearsedAct[] => {
    const lines = existsSync(reportFile) ? readFileSync(reportFile, 'utf8').trim().split('\n') : [];
    return lines.map((line) => JSON.parse(line) as RehearsedAct);
  };
  const findUndone = (): string[] => {
    const done = new Set(readRuns().map(({ act, what: outcome }) => outcome === 'done' && act));
    return everyAct.filter(({ name, outcome = 'done' }) => !done.has(`${name} ${outcome}`)).map(({ name }) => name);
  };
  const rehearseAll = async (chosen: readonly Journey[]): Promise<void> => {
    const left = chosen.toReversed();
    const next = async (): Promise<void> => {
      for (let journey = left.pop(); journey !== undefined; journey = left.pop()) {
        const [file, ...parts] = journey;
        t.strictSame(await rehearse(reportFile, file, parts), [], file);
      }
    };
    await Promise.all([next(), next()]);
  };

  await rehearseAll(journeys);
  const byAct = findJourneys();
  for (let turn = 0; turn < maxTurns; turn++) {
    const next = findUndone().flatMap((act) => byAct.get(act)?.slice(turn, turn + 1) ?? []);
    // Acts may share a test.
    await rehearseAll([...new Map(next.map((journey) => [journey.join(), journey])).values()]);
  }
  const different = readRuns().filter(({ what: outcome }) => outcome === 'different');
  t.strictSame([...new Set(different.map(({ act }) => act))], []);
  t.strictSame(findUndone(), [], "name the act in a test of npm test that does it: action: 'NAME'");
});
