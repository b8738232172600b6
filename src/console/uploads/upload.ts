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
import { distance, size, time } from '../parts/values.ts';
import { withMessage } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOfUpload, nameOf, uploadBadge } from './upload-parts.ts';

export const consoleUpload = screen({
  name: 'console_upload',
  path: '/console/waiting/uploads/:upload_id',
  summary: 'Show an upload: why it waits, what is inside, and what came of it.',
  access: onUpload('package-view-revisions'),
  query: 'ConsolePageQuery',

  async show({ upload, package: subject, principal, browsing, records, now }) {
    const who = await readActorLabels([upload.pushedBy], records);
    const wishes = await records.afterReview.of(upload.id);
    const mayJudge = principal.storeAdministrator && upload.status === 'scanned';
    return {
      title: `Upload to ${nameOf({ ...subject, resource: upload.resource })}`,
      moves: upload.status === 'new',
      lead: leadOf(upload, `${subject.namespace}/${subject.name}`),
      content: html`${whatIsWrong(upload)}
      ${facts([
        [
          'Package',
          html`<a href="/console/packages/${encodeURIComponent(subject.namespace)}/${encodeURIComponent(subject.name)}"
            >${subject.namespace}/${subject.name}</a
          >`,
        ],
        ['State', uploadBadge(upload.status)],
        ['Pushed', html`${time(upload.pushedAt)}, ${distance(upload.pushedAt, now())}, by ${who(upload.pushedBy)}`],
        ['Size', size(upload.size)],
        ['SHA3-384', html`<code>${upload.sha3_384}</code>`],
        ['SHA-256', html`<code>${upload.sha256}</code>`],
        ['Upload', html`<code>${upload.id}</code>`],
      ])}
      ${renderFollowUps(wishes)} ${upload.findings === null ? nothing : inside(upload.findings)}
      ${mayJudge ? judging(browsing, upload.id) : nothing}`,
    };
  },
});

function leadOf({ status, revision }: Review, called: string): HtmlContent {
  switch (status) {
    case 'new':
      return 'The store has not looked at it yet; that takes seconds, or minutes for large files.';
    case 'scanned':
      return `The review found nothing that forbids it. It waits because uploads to ${called} wait for a person.`;
    case 'approved':
      return `It is approved, as revision ${String(revision)}.`;
    case 'rejected':
      return 'It is rejected, and no revision came of it.';
  }
}

function whatIsWrong({ status, errors }: Review): Html {
  if (status !== 'rejected') return nothing;
  return html`${(errors ?? []).map(({ message }) => notice('warn', message))}
    <p>Mend what is said, and push it again; each push is looked at anew.</p>`;
}

function renderFollowUps(wishes: readonly FollowUp[]): Html {
  if (wishes.length === 0) return nothing;
  return html`<h2>What is wanted with it</h2>
    ${table<FollowUp>({
      caption: 'Channels that are to hold the revision, and components beside it',
      empty: '',
      rows: wishes.slice(0, 100),
      columns: [
        {
          heading: 'Wanted',
          cell: ({ kind, name }) => (kind === 'channel' ? `in channel ${name}` : `component ${name}`),
        },
        {
          heading: 'How it stands',
          cell: ({ settled, error, component }) => {
            if (error !== null) return error.message;
            if (!settled) return 'is done once it is approved';
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
    return html`<h2>What is inside</h2>
      <p>The content of a resource, which the store does not look into.</p>
      ${facts([
        ['SHA-384', html`<code>${findings.sha384}</code>`],
        ['SHA-512', html`<code>${findings.sha512}</code>`],
      ])}`;
  }
  const { version, details, prose, declares, packageYaml, craftYaml } = findings;
  const listed = (some: readonly string[] | undefined): HtmlContent =>
    some === undefined || some.length === 0 ? undefined : some.slice(0, 100).join(', ');
  const bases = details.bases?.map(({ name, channel, architecture }) => `${name} ${channel} (${architecture})`);
  return html`<h2>What is inside</h2>
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
            caption: 'Resources that it asks for',
            shown: true,
            empty: '',
            rows: declares.slice(0, 100),
            columns: [
              { heading: 'Resource', cell: ({ name }) => name },
              { heading: 'Type', cell: ({ type }) => type },
              { heading: 'Needed', cell: ({ optional }) => (optional ? 'no' : 'yes') },
            ],
          })
    }
    ${text('Its metadata, as it is written', packageYaml)} ${text('How it was built', craftYaml)}`;
}

/** Limits the length of a page, however long the texts are. */
const maxTextLength = 40_000;

const text = (heading: string, written: string | null): Html =>
  written === null
    ? nothing
    : html`<details>
        <summary>${heading}</summary>
        <pre tabindex="0">${written.slice(0, maxTextLength)}</pre>
        ${written.length > maxTextLength ? html`<p class="hint">It goes on; this is its beginning.</p>` : nothing}
      </details>`;

const judging = (browsing: Browsing, id: string): Html =>
  html`<h2>Your verdict</h2>
    ${formOf(
      browsing,
      `${addressOfUpload(id)}/approve`,
      html`<p>Approved, it becomes a revision, and what is wanted with it is done.</p>
        <button>Approve</button>`,
    )}
    ${formOf(
      browsing,
      `${addressOfUpload(id)}/reject`,
      html`${longField({
          name: 'reason',
          label: 'What is wrong with it',
          hint: 'A sentence for its publisher, who mends it and pushes it again.',
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
  summary: 'Reject an upload that waits for a person, with a sentence for its publisher.',
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
