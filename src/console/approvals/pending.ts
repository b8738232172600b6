// The page of waiting items: items that wait for the account, and items that the account waits for.
import { account } from '#access/access-rules.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { numberIn, placeOf } from '#operations/page.ts';
import { writeCursor } from '#operations/cursor.ts';
import type { InviteToPackage } from '#records/packages/invites.ts';
import type { OfferOfPackage } from '#records/packages/package-offers.ts';
import type { RejectedUpload, WaitingUpload } from '#records/packages/inventory.ts';
import type { PausedRollout } from '#records/releases/rollouts.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import type { RequestedKey } from '#transfers/request/requested-keys.ts';
import { addressOf } from '../packages/address.ts';
import { signingKeyAddress } from '../keys/signing-key.ts';
import { refreshAttributes } from '../parts/auto-refresh.ts';
import { formOf } from '../parts/form.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { badge } from '../parts/notice.ts';
import { nextPage, table } from '../parts/table.ts';
import { count, formatCount, distance, exactTime, size, time } from '../parts/values.ts';
import { shortenLines } from '#domain/approvals/shortened-lines.ts';
import { addressOfTransfer } from '../transfers/transfer-parts.ts';
import { screen } from '../screen.ts';
import { viewerOf } from '../viewer.ts';
import { findPendingItems, type PendingProposalView, type AccountPendingItems } from './pending-items.ts';
import { lineText } from '#domain/approvals/approval-policy.ts';
import { addressOfProposal, stateBadge } from './proposal-parts.ts';
import { addressOfUpload, nameOf, uploadBadge } from '../uploads/upload-parts.ts';

export const consoleWaiting = screen({
  name: 'console_waiting',
  path: '/console/waiting',
  summary: 'Show the work that waits for you, and your own proposals and uploads that wait.',
  access: account('packages'),
  query: 'ConsoleWaitingQuery',

  async show({ principal, browsing, query, records, now }) {
    const viewer = await viewerOf(principal, records);
    const [pushedAt, seq] = placeOf({ ...(query.uploads && { cursor: query.uploads }) }, ['', '0'] as const);
    const [proposals] = placeOf({ ...(query.proposals && { cursor: query.proposals }) }, ['0'] as const);
    const places = { uploads: { pushedAt, seq: numberIn(seq) }, proposals: numberIn(proposals) };
    const moment = now();
    const waiting = await findPendingItems({ principal, viewer, places, now: moment }, records);
    const who = await readActorLabels(
      waiting.proposals.entries.map(({ shown }) => shown.proposal.actor),
      records,
    );
    const about = { browsing, now: moment, who, accountId: principal.accountId };
    return {
      title: 'Pending',
      lead: leadOf(waiting),
      content: html`${viewer.administers ? uploadsOf(waiting, about) : nothing} ${transfersOf(waiting, about)}
      ${rolloutsOf(waiting, about)} ${proposalsOf(waiting, about)} ${invitesOf(waiting, about)}
      ${offersOf(waiting, about)} ${keysOf(waiting)} ${ownOf(waiting, about)} ${rejectedOf(waiting)}`,
    };
  },
});

interface PendingPageContext {
  browsing: Browsing;
  now: Date;
  who: (actor: string | null) => string;
  accountId: string;
}

/** The number of items that wait for the account, per kind. */
function leadOf({ uploads, transfers, rollouts, proposals, invites, offers, keys }: AccountPendingItems): string {
  const toApprove = proposals.entries.filter(({ obstacle }) => obstacle === undefined).length;
  const kinds = [
    [uploads.total, 'upload'],
    [transfers.length, 'transfer'],
    [rollouts.length, 'paused rollout'],
    [toApprove, 'proposal'],
    [invites.length, 'invite'],
    [offers.length, 'offered package', 'offered packages'],
    [keys.length, 'key request'],
  ] as const;
  const all = kinds.reduce((sum, [number]) => sum + number, 0);
  if (all === 0) return 'Nothing waits for you.';
  const parts = kinds.flatMap(([number, singular, many]) =>
    number === 0 ? [] : [formatCount(number, singular, many)],
  );
  const last = parts.pop() ?? '';
  const listed = parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
  const more = proposals.next === undefined ? '' : ' There may be more proposals on the next page.';
  return `${all === 1 ? 'One thing waits' : `${count(all)} things wait`} for you: ${listed}.${more}`;
}

const since = (moment: string, now: Date): Html => html`<span>${exactTime(moment)}, ${distance(moment, now)}</span>`;

function uploadsOf({ uploads: { entries, next } }: AccountPendingItems, { browsing, now }: PendingPageContext): Html {
  return html`<section>
    <h2>Uploads that wait for your decision</h2>
    ${table<WaitingUpload>({
      caption: 'Uploads that wait for a person, oldest first',
      empty: html`No upload waits. To let a person review all uploads to a package, run
        <code>larder package manual-review NAMESPACE/NAME on</code>.`,
      rows: entries,
      columns: [
        { heading: 'Package', cell: (upload) => html`<a href="${addressOfUpload(upload.id)}">${nameOf(upload)}</a>` },
        { heading: 'Pushed by', cell: ({ username }) => username },
        { heading: 'Pushed', cell: ({ pushedAt }) => since(pushedAt, now) },
        { heading: 'Size', cell: (upload) => size(upload.size), number: true },
        {
          heading: 'Your verdict',
          cell: (upload) =>
            html`<div class="row">
              ${formOf(
                browsing,
                `${addressOfUpload(upload.id)}/approve`,
                html`<input type="hidden" name="back" value="list" />
                  <button class="quiet">Approve <span class="unseen">${nameOf(upload)}</span></button>`,
              )}
              <a href="${addressOfUpload(upload.id)}">Look, or reject<span class="unseen"> ${nameOf(upload)}</span></a>
            </div>`,
        },
      ],
    })}
    ${nextPage(next && `/console/waiting?uploads=${writeCursor([next.pushedAt, String(next.seq)])}`)}
  </section>`;
}

function transfersOf({ transfers }: AccountPendingItems, { now }: PendingPageContext): Html {
  if (transfers.length === 0) return nothing;
  return html`<section>
    <h2>Transfers to accept or discard</h2>
    ${table<ReceivedTransfer>({
      caption: 'Transfers that were received and wait for a person',
      empty: '',
      rows: transfers,
      columns: [
        {
          heading: 'Transfer',
          cell: ({ id, source, sequence }) =>
            html`<a href="${addressOfTransfer(id)}">${count(sequence)} of ${source}</a>`,
        },
        { heading: 'Received', cell: ({ receivedAt }) => since(receivedAt, now) },
      ],
    })}
  </section>`;
}

function rolloutsOf({ rollouts }: AccountPendingItems, { now }: PendingPageContext): Html {
  if (rollouts.length === 0) return nothing;
  return html`<section>
    <h2>Paused rollouts</h2>
    ${table<PausedRollout>({
      caption: 'Rollouts that are paused, to resume, roll back or withdraw',
      empty: '',
      rows: rollouts,
      columns: [
        {
          heading: 'Rollout',
          cell: (rollout) =>
            html`<a href="${addressOf(rollout, 'rollouts', rollout.number)}"
              >${rollout.namespace}/${rollout.name} ${rollout.channel}: revision ${rollout.revision}</a
            >`,
        },
        { heading: 'Paused', cell: ({ changedAt }) => since(changedAt, now) },
        { heading: 'Because', cell: ({ because }) => because ?? '–' },
      ],
    })}
  </section>`;
}

function proposalsOf({ proposals: { entries, next } }: AccountPendingItems, about: PendingPageContext): Html {
  const own = entries.filter(({ shown }) => shown.proposal.actor === about.accountId);
  const others = entries.filter(({ shown }) => shown.proposal.actor !== about.accountId);
  const further = nextPage(
    next === undefined ? undefined : `/console/waiting?proposals=${writeCursor([String(next)])}`,
  );
  return html`<section>
      <h2>Proposals that wait for approvals</h2>
      ${proposalTable(others, 'Proposals of other people, oldest first', 'No proposal waits for you.', about)}
      ${further}
    </section>
    ${
      own.length === 0
        ? nothing
        : html`<section>
            <h2>Your proposals</h2>
            ${proposalTable(own, 'Your proposals, oldest first', '', about)}
          </section>`
    }`;
}

const maxLinesShown = 3;

const proposalTable = (
  rows: PendingProposalView[],
  caption: string,
  empty: HtmlContent,
  { now, who }: PendingPageContext,
): Html =>
  table<PendingProposalView>({
    caption,
    empty,
    rows,
    columns: [
      {
        heading: 'Proposal',
        cell: ({ shown: { proposal } }) =>
          html`<a href="${addressOfProposal(proposal.number)}">${proposal.number}: ${proposal.object}</a>`,
      },
      { heading: 'Proposed by', cell: ({ shown: { proposal } }) => who(proposal.actor) },
      { heading: 'Proposed', cell: ({ shown: { proposal } }) => since(proposal.proposedAt, now) },
      {
        heading: 'What it changes',
        cell: ({ shown: { proposal } }) => {
          const lines = shortenLines(proposal.lines);
          const more = lines.length - maxLinesShown;
          return html`<ul class="plain">
            ${lines.slice(0, maxLinesShown).map((line) => html`<li>${lineText(line)}</li>`)}
            ${more > 0 ? html`<li>and ${formatCount(more, 'more change', 'more changes')}</li>` : nothing}
          </ul>`;
        },
      },
      {
        heading: 'Approvals',
        cell: ({ shown }) => html`<span>${stateBadge(shown)} ${approvalsSoFar(shown)}</span>`,
      },
      {
        heading: 'You',
        cell: ({ shown: { proposal }, obstacle }) =>
          obstacle ??
          html`<a href="${addressOfProposal(proposal.number)}"
            >Approve or reject<span class="unseen"> proposal ${proposal.number}</span></a
          >`,
      },
    ],
  });

const approvalsSoFar = ({ approvals, missing }: PendingProposalView['shown']): string =>
  `${count(approvals.length)} of ${count(approvals.length + missing)}`;

function invitesOf({ invites }: AccountPendingItems, { browsing, now }: PendingPageContext): Html {
  if (invites.length === 0) return nothing;
  return html`<section>
    <h2>Invites to you</h2>
    ${table<InviteToPackage>({
      caption: 'Packages that you are invited to collaborate on',
      empty: '',
      rows: invites,
      columns: [
        { heading: 'Package', cell: ({ namespace, name }) => `${namespace}/${name}` },
        { heading: 'Invited by', cell: ({ username }) => username },
        { heading: 'Good until', cell: ({ expiresAt }) => since(expiresAt, now) },
        { heading: 'Your answer', cell: (invite) => answers(browsing, invite, 'invite') },
      ],
    })}
  </section>`;
}

function offersOf({ offers }: AccountPendingItems, { browsing, now }: PendingPageContext): Html {
  if (offers.length === 0) return nothing;
  return html`<section>
    <h2>Packages that are offered to you</h2>
    <p>If you accept a package, you become its publisher.</p>
    ${table<OfferOfPackage>({
      caption: 'Packages that their publishers offer to you',
      empty: '',
      rows: offers,
      columns: [
        { heading: 'Package', cell: ({ namespace, name }) => `${namespace}/${name}` },
        { heading: 'Offered by', cell: ({ username }) => username },
        { heading: 'Good until', cell: ({ expiresAt }) => since(expiresAt, now) },
        { heading: 'Your answer', cell: (offer) => answers(browsing, offer, 'offer') },
      ],
    })}
  </section>`;
}

/** Buttons to accept and reject, each with the name of the package for screen readers. */
function answers(
  browsing: Browsing,
  { namespace, name }: { namespace: string; name: string },
  kind: 'invite' | 'offer',
) {
  const address = `/console/waiting/${kind}s/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const of = html`<span class="unseen"> ${namespace}/${name}</span>`;
  const [yes, no] = kind === 'invite' ? ['Accept', 'Decline'] : ['Take it', 'Leave it'];
  return formOf(
    browsing,
    address,
    html`<div class="row">
      <button class="quiet" name="answer" value="yes">${yes}${of}</button>
      <button class="quiet" name="answer" value="no">${no}${of}</button>
    </div>`,
  );
}

function keysOf({ keys }: AccountPendingItems): Html {
  if (keys.length === 0) return nothing;
  return html`<section>
    <h2>Key requests for the online store</h2>
    ${table<RequestedKey>({
      caption: 'Keys with a registration request and no account-key yet',
      empty: '',
      rows: keys,
      columns: [
        { heading: 'Key', cell: (key) => html`<a href="${signingKeyAddress(key)}">${key.name}</a>` },
        { heading: 'Brand', cell: ({ brandAccountId }) => html`<code>${brandAccountId}</code>` },
        { heading: 'Asked for', cell: ({ requestedAt }) => time(requestedAt) },
      ],
    })}
  </section>`;
}

function ownOf({ own }: AccountPendingItems, { now }: PendingPageContext): Html {
  if (own.length === 0) return html`<div id="own-uploads"></div>`;
  const moves = own.some(({ status }) => status === 'new');
  return html`<section id="own-uploads" ${moves ? refreshAttributes('own-uploads', '/console/waiting') : nothing}>
    <h2>Your uploads under review</h2>
    ${table<AccountPendingItems['own'][number]>({
      caption: 'Uploads to your packages, oldest first',
      empty: '',
      rows: own,
      columns: [
        { heading: 'Package', cell: (upload) => html`<a href="${addressOfUpload(upload.id)}">${nameOf(upload)}</a>` },
        { heading: 'State', cell: ({ status }) => uploadBadge(status) },
        { heading: 'Pushed', cell: ({ pushedAt }) => since(pushedAt, now) },
        { heading: 'Size', cell: (upload) => size(upload.size), number: true },
      ],
    })}
  </section>`;
}

function rejectedOf({ rejected }: AccountPendingItems): Html {
  if (rejected.length === 0) return nothing;
  return html`<section>
    <h2>Recently rejected</h2>
    <p>Correct the problems listed here, and push again. The store keeps only these messages, not the files.</p>
    ${table<RejectedUpload>({
      caption: 'Uploads to your packages that were rejected in the last two weeks, newest first',
      empty: '',
      rows: rejected,
      columns: [
        { heading: 'Package', cell: (upload) => html`<a href="${addressOfUpload(upload.id)}">${nameOf(upload)}</a>` },
        { heading: 'Pushed', cell: ({ pushedAt }) => time(pushedAt) },
        {
          heading: 'Why',
          cell: ({ errors }) => {
            const [first] = errors;
            const more = errors.length - 1;
            return html`<span
              >${badge('warn', 'rejected')} ${first?.message.slice(0, 300)}
              ${more > 0 ? html` and ${formatCount(more, 'more reason')}` : nothing}</span
            >`;
          },
        },
      ],
    })}
  </section>`;
}
