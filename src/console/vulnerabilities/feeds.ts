// The pages that import an uploaded feed of advisories, and remove a feed. First a page shows the feed beside the present one; then the same
// acts as on the host run.
import { storeAdministrator } from '#access/access-rules.ts';
import { evaluateChange, gateErrorCodes, type ApprovalStatus } from '#acts/gate.ts';
import { feedLine, importFeed, isSameFeed, refuseUnfit, removeFeed } from '#acts/vulnerabilities/feeds.ts';
import type { ConsoleFeedQuery } from '#contract/wire.ts';
import { changedLines } from '#domain/approvals/approval-policy.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal, refusalReason } from '#domain/refusal.ts';
import { shellWord } from '#domain/shell-word.ts';
import { isFeedName } from '#domain/vulnerabilities/feed-entry.ts';
import type { UploadedFeed } from '#http/feed-desk.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { caller } from '#operations/caller.ts';
import { forgetUnclaimed } from '#operations/uploads/receive-unclaimed.ts';
import type { UnclaimedUpload } from '#records/uploads/unclaimed-uploads.ts';
import type { FeedFormat, VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';
import { canSend, renderApprovals } from '../approvals/needed-approvals.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { declareMessages } from '../messages.ts';
import { withQuery } from '../parts/address.ts';
import { field, formOf, tick } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { notice } from '../parts/notice.ts';
import { facts, table } from '../parts/table.ts';
import { count, exactTime, formatCount, identifier, size } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { senderOf, type UploadCall } from '../uploads/file-upload.ts';
import { addressOfUploadedFeed } from './feed-upload.ts';

const withMessage = declareMessages({
  'feed-waits': 'The change of the feed is proposed and waits for approvals. When it has them, send this page again.',
  'feed-imported': 'The feed is imported. The store compares all revisions with it within half a minute.',
  'feed-removed': 'The feed is removed. Its findings end within half a minute.',
});

const path = '/console/vulnerabilities/feeds/:upload';
const removePath = '/console/vulnerabilities/remove-feed';
const listAddress = '/console/vulnerabilities';
const access = storeAdministrator('store-manage');

type FeedCall = UploadCall & BrowserEvidence;
type FeedFormFields = Pick<ConsoleFeedQuery, 'source' | 'smaller' | 'skip-invalid'>;
type ShownFeed = UploadedFeed['feed'];

export const addressOfRemoval = (source: string): string => withQuery(removePath, { source });

export const consoleUploadedFeed = screen({
  name: 'console_uploaded_feed',
  path,
  summary: 'Show an uploaded feed of advisories beside the present one, before it is imported.',
  access,
  query: 'ConsoleFeedQuery',
  refuses: ['resource-not-found', 'shutting-down'],

  async show(call) {
    const { params, query, config } = call;
    const upload = await findUpload(call, params.upload);
    const address = withQuery(addressOfUploadedFeed(upload.id), choicesIn(query));
    const seen = await preview(call, upload, query);
    return {
      title: 'Import a feed of advisories',
      moves: seen === undefined ? address : false,
      lead: seen === undefined ? 'The store reads the feed.' : 'This is a preview. Nothing has changed yet.',
      content:
        seen === undefined
          ? notice('note', 'Large feeds take some minutes. This page shows the feed when it is read.')
          : html`${seen}
              <h2>Import it in another way</h2>
              ${choicesForm(upload, query)} ${hostCommand(commandOf(query), 'The same on the host, from the file:')}
              <p class="hint">
                The uploaded file is deleted after ${formatCount(config.uploads.unclaimed_hours, 'hour')}, or when it is
                imported.
              </p>
              <p><a href="${listAddress}">Back to the vulnerabilities</a></p>`,
    };
  },
});

/** An upload of this account; uploads of other accounts and of publishers are not found. */
async function findUpload({ records, principal }: FeedCall, id: string): Promise<UnclaimedUpload> {
  const upload = await records.unclaimedUploads.find(id);
  if (upload?.address === senderOf(principal)) return upload;
  throw new Refusal('resource-not-found', 'There is no such upload, or it has expired. Upload the file again.');
}

/** The choices that differ from the default, as members of the address. */
const choicesIn = ({ source, smaller, 'skip-invalid': skipInvalid }: FeedFormFields) => ({
  source: source?.trim(),
  smaller,
  'skip-invalid': skipInvalid,
});

const commandOf = ({ source = '', smaller, 'skip-invalid': skipInvalid }: FeedFormFields): string =>
  [
    'larder feed import ./feed.zip',
    ...(source.trim() === '' ? [] : [`--source ${shellWord(source.trim())}`]),
    ...(smaller === undefined ? [] : ['--smaller']),
    ...(skipInvalid === undefined ? [] : ['--skip-invalid']),
  ].join(' ');

/** Reads the uploaded feed; undefined while that takes longer than a page waits. */
function readUploaded(call: FeedCall, upload: UnclaimedUpload, fields: FeedFormFields) {
  const { source, 'skip-invalid': skipInvalid } = choicesIn(fields);
  if (source !== undefined && source !== '' && !isFeedName(source))
    throw new Refusal(
      'api-error',
      'The name of a feed has lower-case letters, digits, dots, dashes and plus signs, and at most 63 of them. Choose another name.',
    );
  const choices = { source: source === '' ? undefined : source, skipsInvalid: skipInvalid === 'yes' };
  return call.feeds.read(upload, choices, caller(call));
}

/** The feed as it would be imported now, or the reason why it cannot be imported. */
async function preview(call: FeedCall, upload: UnclaimedUpload, fields: FeedFormFields): Promise<Html | undefined> {
  const { records, browsing } = call;
  try {
    const read = await readUploaded(call, upload, fields);
    if (read === undefined) return undefined;
    const { feed, problems } = read;
    const present = await records.vulnerabilityFeeds.find(feed.source);
    const refused = await refusalReason(() => {
      refuseUnfit(feed, present, fields.smaller === 'yes');
    });
    const shown = html`${comparison(feed, present)} ${problemList(problems)}`;
    if (refused !== undefined) return html`${notice('warn', refused)} ${shown}`;
    if (isSameFeed(feed, present)) return html`${notice('good', 'This feed is present already.')} ${shown}`;
    const judged = await evaluateFeed(call, importFeed.name, feed.source, [present, feed]);
    return html`${shown} ${renderApprovals(judged, 'import')}
    ${
      canSend(judged)
        ? formOf(
            browsing,
            addressOfUploadedFeed(upload.id),
            html`${hiddenFields(fields)}
              <button>
                ${judged !== undefined && judged.proposal === undefined ? 'Propose the import' : 'Import'}
              </button>`,
          )
        : nothing
    }`;
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'api-error')) throw error;
    return notice('warn', error.message);
  }
}

/** The approvals that a change from the first feed to the second needs; undefined if it needs none. */
async function evaluateFeed(
  { records, principal, now }: FeedCall,
  name: string,
  source: string,
  [from, to]: readonly [VulnerabilityFeed | undefined, ShownFeed | undefined],
): Promise<ApprovalStatus | undefined> {
  const policy = await records.approvalPolicy.inForce();
  const change = { name, actor: principal.accountId, object: `feed/${source}`, policy, at: timestamp(now()) };
  return evaluateChange(records, change, changedLines([feedLine(source, from, to)]));
}

const effects: Readonly<Record<FeedFormat, string>> = {
  osv: 'Its advisories are findings of the packages that contain an affected version.',
  kev: 'It marks findings as known to be exploited.',
  openvex: 'Its statements settle findings: not affected, or fixed.',
};

/** The feed beside the present one of its name. */
function comparison(feed: ShownFeed, present: VulnerabilityFeed | undefined): Html {
  const releases = (of: ShownFeed): string => of.releases.join(', ') || 'none';
  const rows: (readonly [string, (of: ShownFeed) => Html | string])[] = [
    ['Dated', ({ datedAt }) => exactTime(datedAt)],
    ['Entries', ({ entries }) => count(entries)],
    ['Invalid entries that are left out', ({ skipped }) => count(skipped)],
    ['Releases', releases],
    ['Size', (of) => size(of.size)],
    ['SHA-256', ({ sha256 }) => identifier(sha256)],
  ];
  const gained = feed.releases.filter((release) => present?.releases.includes(release) !== true);
  const lost = (present?.releases ?? []).filter((release) => !feed.releases.includes(release));
  return html`${facts([
      ['Feed', html`<bdi>${feed.source}</bdi>`],
      ['Format', { osv: 'OSV', kev: 'KEV', openvex: 'OpenVEX' }[feed.format]],
      ['Effect', effects[feed.format]],
      present && ['Releases that it adds', gained.join(', ') || 'none'],
      present && ['Releases that it drops', lost.join(', ') || 'none'],
    ])}
    ${table<(typeof rows)[number]>({
      caption: 'The feed now and after the import',
      shown: true,
      columns: [
        { heading: 'Property', cell: ([heading]) => heading },
        { heading: 'Now', cell: ([, cell]) => (present === undefined ? 'no feed' : cell(present)) },
        { heading: 'Then', cell: ([, cell]) => cell(feed) },
      ],
      rows,
      empty: nothing,
    })}
    <p class="hint">The store compares all revisions and images with it within half a minute after the import.</p>`;
}

const problemList = (problems: readonly string[]): Html =>
  problems.length === 0
    ? nothing
    : html`<p>The first invalid entries that are left out:</p>
        <ul>
          ${problems.map((problem) => html`<li><bdi>${problem}</bdi></li>`)}
        </ul>`;

const hiddenFields = (fields: FeedFormFields): Html[] =>
  Object.entries(choicesIn(fields)).map(([name, value = '']) =>
    value === '' ? nothing : html`<input type="hidden" name="${name}" value="${value}" />`,
  );

/** The choices of the command, for another preview. */
const choicesForm = (upload: UnclaimedUpload, fields: FeedFormFields): Html =>
  html`<form method="get" action="${addressOfUploadedFeed(upload.id)}">
    ${field({
      name: 'source',
      label: 'Name of the feed',
      value: fields.source,
      maxLength: 63,
      hint: 'Empty for the name that follows from its content. With another name both feeds are in force.',
    })}
    ${tick('smaller', 'It may cover fewer releases or have less than half of the entries', fields.smaller === 'yes')}
    ${tick('skip-invalid', 'Leave out invalid entries', fields['skip-invalid'] === 'yes')}
    <button class="second">Preview</button>
  </form>`;

export const consoleImportFeed = formHandler({
  name: 'console_import_feed',
  path,
  summary: 'Import an uploaded feed of advisories, in place of the present one of its name.',
  access,
  body: 'ConsoleImportFeed',
  refuses: ['conflict', 'resource-not-found', 'shutting-down', ...gateErrorCodes],

  async perform(call) {
    const { params, body, acts } = call;
    const upload = await findUpload(call, params.upload);
    const address = withQuery(addressOfUploadedFeed(upload.id), choicesIn(body));
    const read = await readUploaded(call, upload, body);
    // The page says that the feed is being read.
    if (read === undefined) return address;
    const choices = { index: undefined, mayBeSmaller: body.smaller === 'yes' };
    try {
      await acts.do(importFeed, caller(call), { ...read.feed, ...choices });
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.code !== 'approval-required') throw refusal;
      return withMessage(address, 'feed-waits');
    }
    await forgetUnclaimed(call, [upload.id]);
    return withMessage(listAddress, 'feed-imported');
  },
});

export const consoleAskRemoveFeed = screen({
  name: 'console_ask_remove_feed',
  path: removePath,
  summary: 'Ask whether to remove a feed of advisories.',
  access,
  query: 'ConsoleFeedQuery',
  refuses: ['resource-not-found'],

  async show(call) {
    const { query, browsing, records } = call;
    const { source = '' } = query;
    const present = await records.vulnerabilityFeeds.find(source);
    if (present === undefined) throw new Refusal('resource-not-found', `There is no feed '${source}'.`);
    const judged = await evaluateFeed(call, removeFeed.name, source, [present, undefined]);
    return {
      title: 'Remove the feed?',
      lead: html`The findings of the feed <bdi>${source}</bdi> end. It has ${formatCount(present.entries, 'entry')} and
        is dated ${exactTime(present.datedAt)}.`,
      content: html`${renderApprovals(judged, 'removal')}
        ${
          canSend(judged)
            ? formOf(
                browsing,
                removePath,
                html`<input type="hidden" name="source" value="${source}" />
                  <button class="grave">
                    ${judged !== undefined && judged.proposal === undefined ? 'Propose the removal' : 'Remove the feed'}
                  </button>`,
              )
            : nothing
        }
        ${hostCommand(`larder feed remove ${shellWord(source)} --yes`)}
        <p><a href="${listAddress}">Cancel</a></p>`,
    };
  },
});

export const consoleRemoveFeed = formHandler({
  name: 'console_remove_feed',
  path: removePath,
  summary: 'Remove a feed of advisories, and the findings that follow from it.',
  access,
  body: 'ConsoleRemoveFeed',
  refuses: ['resource-not-found', ...gateErrorCodes],

  async perform(call) {
    const { body, acts } = call;
    try {
      await acts.do(removeFeed, caller(call), { source: body.source });
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.code !== 'approval-required') throw refusal;
      return withMessage(addressOfRemoval(body.source), 'feed-waits');
    }
    return withMessage(listAddress, 'feed-removed');
  },
});
