// Releases a revision into channels, or closes channels. First a page previews the changes, the affected devices and the needed approvals;
// then the act runs under the same rules as for every tool.
import { gateErrorCodes, evaluateChange, type ApprovalStatus } from '#acts/gate.ts';
import { pushReleases, releaseLines, type ReleaseRequest } from '#acts/releases/releases.ts';
import { onPackage, type PackageEvidence } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import { changedLines, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { fallback } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ConsoleReleaseQuery, PushReleasesRequest } from '#contract/wire.ts';
import { performRequestedReleases, readRequestedReleases } from '#operations/releases/release-request.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { canSend, renderApprovals } from '../approvals/needed-approvals.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { withQuery } from '../parts/address.ts';
import { formOf } from '../parts/form.ts';
import { notice } from '../parts/notice.ts';
import { table } from '../parts/table.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOf } from '../packages/address.ts';
import { maxDevices } from '../packages/usage.ts';
import { renderAffected } from './affected.ts';
import { readUndo } from './last-change.ts';
import {
  parseReleaseForm,
  renderReleaseForm,
  hiddenReleaseFields,
  isComplete,
  previewAddress,
  toReleaseFields,
  type ReleaseFormFields,
} from './release-form.ts';
import { renderRevisionPicker } from './revision-picker.ts';

const withMessage = declareMessages({
  'release-waits': 'The release is proposed and waits for approvals. Nothing has changed yet.',
  'release-undone': 'The last change is undone. Devices get the earlier revisions at their next refresh.',
  'channels-closed': 'The channels are closed. Devices that follow them get the revision of the next safer channel.',
  released: 'The revision is released.',
});

const path = '/console/packages/:namespace/:name/release';
const access = onPackage('package-manage-releases');

/** The maximum number of changes to show. */
const maxLines = 100;

type ReleasePageCall = Services & PackageEvidence & BrowserEvidence;

export const consolePreviewRelease = screen({
  name: 'console_preview_release',
  path,
  summary: 'Preview a release: the changes in channels, the affected devices, and the approvals that it needs.',
  access,
  query: 'ConsoleReleaseQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject, query } = call;
    const filled = toReleaseFields(query);
    const previewed = isComplete(filled) ? await preview(call, filled) : undefined;
    return {
      title: titleOf(subject, filled),
      lead: previewed !== undefined ? 'This is a preview. Nothing has changed yet.' : 'Choose a revision and channels.',
      content: html`${previewed?.content}
        ${filled.close === 'yes' || filled.undo !== undefined ? nothing : foldedIf(previewed?.isPossible === true, await releaseForm(call, filled, query))}
        <p><a href="${addressOf(subject)}">Back to the package</a></p>`,
    };
  },
});

function titleOf({ namespace, name }: PublishedPackage, { close, undo }: ReleaseFormFields): string {
  if (undo !== undefined) return `Undo the last change of ${namespace}/${name}?`;
  return close === 'yes' ? `Close channels of ${namespace}/${name}?` : `Release a revision of ${namespace}/${name}`;
}

/** The form; folded below a release that is possible. */
const foldedIf = (isFolded: boolean, form: Html): Html =>
  isFolded
    ? html`<details class="more">
        <summary>Change the release</summary>
        ${form}
      </details>`
    : form;

/** The form, with the newest revisions to choose from. */
async function releaseForm(
  { package: subject, records, config }: ReleasePageCall,
  filled: ReleaseFormFields,
  { before = '', track }: ConsoleReleaseQuery,
): Promise<Html> {
  const tracks = (await records.tracks.list(subject.id)).map(({ name }) => name);
  const picker = await renderRevisionPicker(records, subject, {
    chosen: filled.revision,
    before: before === '' ? Number.MAX_SAFE_INTEGER : Number(before),
    olderAddress: (oldest) => withQuery(addressOf(subject, 'release'), { ...filled, before: String(oldest) }),
  });
  const isKnown = subject.namespace === 'snap' && config.devices.snap && config.devices.remember;
  const { holds } = isKnown ? await records.seenDevices.holding(subject.id, maxDevices) : { holds: [] };
  return renderReleaseForm(subject, filled, {
    tracks,
    track: tracks.find((name) => name === track) ?? subject.defaultTrack ?? 'latest',
    devices: holds.reduce((sum, [, number]) => sum + number, 0),
    picker,
  });
}

export const consoleRelease = formHandler({
  name: 'console_release',
  path,
  summary: 'Release a revision of a package into channels, or close channels.',
  access,
  body: 'ConsoleRelease',
  refuses: ['conflict', ...gateErrorCodes],

  async perform(call) {
    const { package: subject, body } = call;
    try {
      await performRequestedReleases(call, await readReleases(call, body));
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.code !== 'approval-required') throw refusal;
      return withMessage(previewAddress(subject, body), 'release-waits');
    }
    return withMessage(addressOf(subject), messageOf(body));
  },
});

const messageOf = ({ close, undo }: ReleaseFormFields) => {
  if (undo !== undefined) return 'release-undone';
  return close === 'yes' ? 'channels-closed' : 'released';
};

const readReleases = (
  { records, package: subject }: Pick<ReleasePageCall, 'records' | 'package'>,
  filled: ReleaseFormFields,
): Promise<PushReleasesRequest> | PushReleasesRequest =>
  filled.undo === undefined ? parseReleaseForm(filled) : readUndo(records, subject, filled.undo);

/** The changes as of now, or the reason why they cannot be made. */
async function preview(
  call: ReleasePageCall,
  filled: ReleaseFormFields,
): Promise<{ content: Html; isPossible: boolean }> {
  const { package: subject, records, now, principal } = call;
  try {
    const releases = readRequestedReleases(principal, await readReleases(call, filled));
    const policies = [await records.approvalPolicy.inForce()];
    const lines = await releaseLines(records, { package: subject, releases }, { at: timestamp(now()), policies });
    const judged = await evaluateRelease(call, changedLines(lines));
    const content = html`${changesTable(lines.filter(({ kind }) => kind === 'releases'))} ${vulnerabilitiesOf(lines)}
    ${releases.filter(isLastOfChannel).map(renderSideEffects)} ${await renderAffected(call, subject)}
    ${renderApprovals(judged, 'release')} ${confirm(call, filled, judged)}`;
    return { content, isPossible: true };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return { content: notice('warn', refusal.message), isPossible: false };
  }
}

const changesTable = (lines: readonly ApprovalLine[]): Html =>
  table({
    caption: 'What changes',
    shown: true,
    columns: [
      { heading: 'Channel', cell: ({ on }) => on.slice(on.indexOf(':') + 1) },
      { heading: 'For', cell: ({ part }) => part ?? 'All' },
      { heading: 'Holds now', cell: ({ from }) => from ?? 'Nothing' },
      { heading: 'Holds then', cell: ({ from, to }) => (from === to ? 'The same' : (to ?? 'Nothing')) },
    ],
    rows: lines.slice(0, maxLines),
    empty: 'These channels are empty, so nothing changes.',
  });

/** The vulnerabilities that the approval policy asks about. */
const vulnerabilitiesOf = (lines: readonly ApprovalLine[]): Html[] =>
  lines
    .filter(({ kind }) => kind === 'vulnerabilities')
    .map(({ on, part, to }) =>
      notice('warn', `The approval policy asks about ${part ?? ''} vulnerabilities: ${on}, ${to ?? ''}.`),
    );

const isLastOfChannel = ({ channel }: ReleaseRequest, at: number, all: readonly ReleaseRequest[]): boolean =>
  !all.slice(at + 1).some((later) => later.channel.name === channel.name);

/** Consequences that the table does not show. */
function renderSideEffects({ channel, revision }: ReleaseRequest): Html {
  const safer = fallback(channel);
  if (revision === null) {
    return html`<p>
      Devices that follow ${channel.name} then
      ${safer === null ? 'keep their revision and get no further ones' : html`get the revision of ${safer}`}.
    </p>`;
  }
  return channel.branch === null
    ? nothing
    : html`<p>The branch ${channel.name} ends 30 days after its last release.</p>`;
}

/** The needed approvals and their progress; empty if none are needed. */
async function evaluateRelease(
  { package: { namespace, name }, principal, records, now }: ReleasePageCall,
  lines: readonly ApprovalLine[],
): Promise<ApprovalStatus | undefined> {
  const policy = await records.approvalPolicy.inForce();
  const change = { name: pushReleases.name, actor: principal.accountId, object: `${namespace}/${name}`, policy };
  return evaluateChange(records, { ...change, at: timestamp(now()) }, lines);
}

/** The button that releases; absent if a proposal waits for other approvals or was rejected. */
function confirm(
  { package: subject, browsing }: ReleasePageCall,
  filled: ReleaseFormFields,
  judged: ApprovalStatus | undefined,
): Html {
  if (!canSend(judged)) return nothing;
  const isClosing = filled.close === 'yes';
  const action = actionOf(filled);
  const words = judged !== undefined && judged.proposal === undefined ? `Propose: ${action}` : action;
  const button = isClosing ? html`<button class="grave">${words}</button>` : html`<button>${words}</button>`;
  return formOf(browsing, addressOf(subject, 'release'), html`${hiddenReleaseFields(filled)} ${button}`);
}

function actionOf({ revision = '', channels = '', close, undo }: ReleaseFormFields): string {
  if (undo !== undefined) return 'Undo the last change';
  return close === 'yes' ? `Close ${channels}` : `Release revision ${revision} to ${channels}`;
}
