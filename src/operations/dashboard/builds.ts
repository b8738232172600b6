import { parseSignedAssertion, signBuild } from '#acts/assertions/publisher-assertions.ts';
import { operation } from '#http/operation.ts';
import { onSnapOfId } from '#access/snap-access.ts';
import { caller } from '../caller.ts';

export const dashboardBuilds = operation({
  name: 'dashboard_builds',
  method: 'POST',
  path: '/dev/api/snaps/:snap_id/builds',
  since: 0,
  summary: 'Store a signed snap-build assertion for a revision of a snap, for the older publishing tools.',
  access: onSnapOfId(['package-manage-revisions']),
  errors: 'dashboard',
  body: 'DashboardBuildRequest',
  response: 'DashboardBuildResponse',
  refuses: ['conflict'],

  async handle(call) {
    const { principal, package: subject, body, acts } = call;
    const { accountId } = principal;
    const signed = parseSignedAssertion(body.assertion, 'snap-build');
    await acts.do(signBuild, caller(call), { package: subject, accountId, signed });
    const text = (name: string): string => signed.headers[name] as string;
    return {
      type: 'snap-build' as const,
      'authority-id': text('authority-id'),
      'snap-id': text('snap-id'),
      'snap-sha3-384': text('snap-sha3-384'),
      'snap-size': text('snap-size'),
      grade: text('grade') as 'stable',
      timestamp: text('timestamp'),
    };
  },
});
