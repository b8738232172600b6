import { areFollowUpsRecorded, pushRevision, wasPushed, type UploadFollowUp } from '#acts/uploads/uploads.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { snapsInBody } from '#access/snap-access.ts';
import type { DashboardSnapPushRequest } from '#contract/wire.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '../caller.ts';
import { refuseOutOfReach } from '../releases/channels.ts';
import { statusUrl } from './upload-status.ts';

export const dashboardSnapPush = operation({
  name: 'dashboard_snap_push',
  method: 'POST',
  path: '/dev/api/snap-push/',
  since: 0,
  summary:
    'Push an upload as a new revision of a snap, and release it after its approval; or only check the permission to push. For the older publishing tools.',
  access: snapsInBody('package-manage-revisions'),
  errors: 'dashboard',
  body: 'DashboardSnapPushRequest',
  response: 'DashboardSnapPushResponse',
  status: 202,
  also: { 200: 'The push is permitted; nothing was changed.' },
  refuses: ['resource-not-found', 'forbidden'],

  async handle(call) {
    const { principal, snapNamed, body, records, acts, reviewSoon, config } = call;
    const then = wantedThen(body);
    const releases = then.some(({ kind }) => kind === 'channel');
    const subject = await snapNamed(body.name, ...(releases ? (['package-manage-releases'] as const) : []));
    if (body.dry_run === true) return mayBePushed();
    const { updown_id: upload } = body;
    if (upload === undefined) throw new Refusal('api-error', "'updown_id' is a required property at /");
    for (const { kind, name } of then) {
      // An invalid channel is reported later, with the other follow-ups that fail, once the revision exists.
      const channel = kind === 'channel' ? parseChannel(name) : undefined;
      if (channel !== undefined) refuseOutOfReach(principal, channel);
    }
    const input = { package: subject, upload, then, defaultQuota: readDefaultQuota(config.quotas) };
    if (!(await wasPushed(records, input)) || !(await areFollowUpsRecorded(records, upload, then))) {
      await acts.do(pushRevision, caller(call), input);
    }
    reviewSoon();
    return { success: true, status_details_url: config.http.base_url + statusUrl(subject, upload) };
  },
});

const mayBePushed = (): OperationResponse =>
  new OperationResponse({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ success: true }),
  });

/** The follow-ups of an approved upload: its components, then the releases. */
function wantedThen(body: DashboardSnapPushRequest): UploadFollowUp[] {
  const { components, channels, only_if_newer: onlyIfNewer } = body;
  return [
    ...Object.entries(components ?? {}).map(([name, component]) => ({
      kind: 'component' as const,
      name,
      component,
      onlyIfNewer: false,
    })),
    ...[...new Set(channels ?? [])].map((name) => ({
      kind: 'channel' as const,
      name,
      component: null,
      onlyIfNewer: onlyIfNewer === true,
    })),
  ];
}
