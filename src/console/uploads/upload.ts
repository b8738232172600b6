// The page of one upload: why it waits, the findings of the review, and the forms to approve or reject it.
import { approveUpload, rejectUpload, rejection } from '#acts/uploads/reviews.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { onUpload, storeAdministratorOnUpload } from '#access/upload-access.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import type { FollowUp } from '#records/uploads/follow-ups.ts';
import type { ResourceDeclaration } from '#records/resources/resources.ts';
import type { Findings, Review } from '#records/uploads/uploads.ts';
import { formOf, longField } from '../parts/form.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { notice } from '../parts/notice.ts';
import { facts, table } from '../parts/table.ts';
import { distance, exactTime, identifier, size } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOfUpload, nameOf, uploadBadge } from './upload-parts.ts';

const withMessage = declareMessages({
  'upload-there-already': 'You approved the upload, but the store rejected it because its content exists already.',
  'upload-approved': 'The upload is approved and has become a revision.',
  'upload-rejected': 'The upload is rejected. Its publisher sees your reason.',
  'decided-before': 'Another person has already decided this, as the page shows. Your input changed nothing.',
});

export const consoleUpload = screen({
  name: 'console_upload',
  path: '/console/waiting/uploads/:upload_id',
  summary: 'Show an upload: its state, its contents and the result of its review.',
  access: onUpload('package-view-revisions'),
  query: 'ConsolePageQuery',

  async show({ upload, package: subject, principal, browsing, records, now }) {
    const who = await readActorLabels([upload.pushedBy], records);
    const followUps = await records.afterReview.of(upload.id);
    const mayJudge = principal.storeAdministrator && upload.status === 'scanned';
    return {
      title: `Upload to ${nameOf({ ...subject, resource: upload.resource })}`,
      moves: upload.status === 'new',
      lead: leadOf(upload, `${subject.namespace}/${subject.name}`),
      content: html`${renderErrors(upload)}
      ${facts([
        [
          'Package',
          html`<a href="/console/packages/${encodeURIComponent(subject.namespace)}/${encodeURIComponent(subject.name)}"
            >${subject.namespace}/${subject.name}</a
          >`,
        ],
        ['State', uploadBadge(upload.status)],
        [
          'Pushed',
          html`${exactTime(upload.pushedAt)}, ${distance(upload.pushedAt, now())}, by ${who(upload.pushedBy)}`,
        ],
        ['Size', size(upload.size)],
        ['SHA3-384', identifier(upload.sha3_384)],
        ['SHA-256', identifier(upload.sha256)],
        ['Upload', identifier(upload.id)],
      ])}
      ${renderFollowUps(followUps)} ${upload.findings === null ? nothing : inside(upload.findings)}
      ${mayJudge ? renderDecisionForms(browsing, upload.id) : nothing}`,
    };
  },
});

function leadOf({ status, revision }: Review, called: string): HtmlContent {
  switch (status) {
    case 'new':
      return 'The review has not finished yet. It takes seconds, or minutes for large files.';
    case 'scanned':
      return `The review found no problem. The upload waits because a person reviews all uploads to ${called}.`;
    case 'approved':
      return `The upload is approved as revision ${String(revision)}.`;
    case 'rejected':
      return 'The upload is rejected. No revision was made.';
  }
}

function renderErrors({ status, errors }: Review): Html {
  if (status !== 'rejected') return nothing;
  return html`${(errors ?? []).map(({ message }) => notice('warn', message))}
    <p>Correct these problems, and push again. The store reviews each push from the start.</p>`;
}

function renderFollowUps(followUps: readonly FollowUp[]): Html {
  if (followUps.length === 0) return nothing;
  return html`<h2>After approval</h2>
    ${table<FollowUp>({
      caption: 'Releases to channels, and components pushed with the upload',
      empty: '',
      rows: followUps.slice(0, 100),
      columns: [
        {
          heading: 'Step',
          cell: ({ kind, name }) => (kind === 'channel' ? `release to ${name}` : `component ${name}`),
        },
        {
          heading: 'State',
          cell: ({ settled, error, component }) => {
            if (error !== null) return error.message;
            if (!settled) return 'follows the approval';
            // A component has its own review, which may reject it.
            return component === null ? 'done' : html`<a href="${addressOfUpload(component)}">pushed for review</a>`;
          },
        },
      ],
    })}`;
}

/** The details that the review found in the file. */
function inside(findings: Findings): Html {
  if (findings.kind === 'resource') {
    return html`<h2>Contents</h2>
      <p>The store does not inspect the content of a resource.</p>
      ${facts([
        ['SHA-384', html`<code>${findings.sha384}</code>`],
        ['SHA-512', html`<code>${findings.sha512}</code>`],
      ])}`;
  }
  const { version, details, prose, declares, packageYaml, craftYaml } = findings;
  const listed = (some: readonly string[] | undefined): HtmlContent =>
    some === undefined || some.length === 0 ? undefined : some.slice(0, 100).join(', ');
  const bases = details.bases?.map(({ name, channel, architecture }) => `${name} ${channel} (${architecture})`);
  return html`<h2>Contents</h2>
    ${(details.notices ?? []).map((text) => notice('note', text))}
    ${facts(
      [
        ['Title', prose?.title],
        ['Summary', prose?.summary],
        ['Version', version],
        ['Type', details.type],
        ['Architectures', listed(details.architectures)],
        ['Base', details.base],
        ['Bases', listed(bases)],
        ['Confinement', details.confinement],
        ['Grade', details.grade],
        ['Apps', listed(details.apps)],
        ['Built at', details.buildUrl],
      ].flatMap(([name, value]): [string, HtmlContent][] =>
        value === undefined || value === null || value === '' ? [] : [[String(name), value]],
      ),
    )}
    ${
      declares.length === 0
        ? nothing
        : table<ResourceDeclaration>({
            caption: 'Resources that it declares',
            shown: true,
            empty: '',
            rows: declares.slice(0, 100),
            columns: [
              { heading: 'Resource', cell: ({ name }) => name },
              { heading: 'Type', cell: ({ type }) => type },
              { heading: 'Required', cell: ({ optional }) => (optional ? 'no' : 'yes') },
            ],
          })
    }
    ${text('Metadata file', packageYaml)} ${text('How it was built', craftYaml)}`;
}

/** Limits the length of a page, however long the texts are. */
const maxTextLength = 40_000;

const text = (heading: string, written: string | null): Html =>
  written === null
    ? nothing
    : html`<details>
        <summary>${heading}</summary>
        <pre tabindex="0">${written.slice(0, maxTextLength)}</pre>
        ${written.length > maxTextLength ? html`<p class="hint">Only the beginning is shown.</p>` : nothing}
      </details>`;

const renderDecisionForms = (browsing: Browsing, id: string): Html =>
  html`<h2>Your decision</h2>
    ${formOf(
      browsing,
      `${addressOfUpload(id)}/approve`,
      html`<p>An approved upload becomes a revision, and the steps above follow.</p>
        <button>Approve</button>`,
    )}
    ${formOf(
      browsing,
      `${addressOfUpload(id)}/reject`,
      html`${longField({
          name: 'reason',
          label: 'Reason',
          hint: 'One sentence for the publisher: what to correct before the next push.',
          required: true,
          maxLength: 2000,
        })} <button class="grave">Reject</button>`,
    )}`;

export const consoleApproveUpload = formHandler({
  name: 'console_approve_upload',
  path: '/console/waiting/uploads/:upload_id/approve',
  summary: 'Approve an upload that waits for a person.',
  access: storeAdministratorOnUpload('store-manage'),
  body: 'ConsoleApproveUpload',

  async perform(call) {
    const { acts, body, reviewSoon, signSoon } = call;
    const { upload, package: subject } = await call.uploadNamed();
    return orDecidedBefore(upload, async () => {
      const verdict = await acts.do(approveUpload, caller(call), { upload: upload.id, package: subject });
      reviewSoon();
      signSoon();
      if ('rejected' in verdict) return withMessage(addressOfUpload(upload.id), 'upload-there-already');
      return withMessage(body.back === 'list' ? '/console/waiting' : addressOfUpload(upload.id), 'upload-approved');
    });
  },
});

export const consoleRejectUpload = formHandler({
  name: 'console_reject_upload',
  path: '/console/waiting/uploads/:upload_id/reject',
  summary: 'Reject an upload that waits for a person, with a reason for its publisher.',
  access: storeAdministratorOnUpload('store-manage'),
  body: 'ConsoleRejectUpload',

  async perform(call) {
    const { acts, body } = call;
    const { upload, package: subject } = await call.uploadNamed();
    return orDecidedBefore(upload, async () => {
      const errors = rejection(body.reason);
      await acts.do(rejectUpload, caller(call), { upload: upload.id, package: subject, waitsFor: 'person', errors });
      return withMessage(addressOfUpload(upload.id), 'upload-rejected');
    });
  },
});

/** If another person decided first, shows their decision and says so. */
async function orDecidedBefore({ id }: Review, judge: () => Promise<string>): Promise<string> {
  try {
    return await judge();
  } catch (refusal) {
    if (refusal instanceof Refusal && refusal.code === 'conflict')
      return withMessage(addressOfUpload(id), 'decided-before');
    throw refusal;
  }
}
