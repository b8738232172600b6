// Withdraws a revision with a reason, or restores it, after a page that shows the affected devices.
import { restoreRevision, withdrawRevision } from '#acts/revisions/revisions.ts';
import { beyondChannels } from '#access/beyond-channels.ts';
import type { Services } from '#http/services.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { caller } from '#operations/caller.ts';
import { parseRevisionNumber } from '#operations/revisions/parse-revision-number.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { field, formOf } from '../parts/form.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOf } from '../packages/address.ts';
import { renderAffected } from '../releases/affected.ts';
import { findRevision } from './revision.ts';

const withMessage = declareMessages({
  'revision-withdrawn': 'The revision is withdrawn. It is no longer in any channel.',
  'revision-restored': 'The revision is restored. It is in no channel until it is released again.',
});

const path = '/console/packages/:namespace/:name/revisions/:revision/withdraw';
const access = beyondChannels('package-manage-releases');

export const consoleAskWithdraw = screen({
  name: 'console_ask_withdraw',
  path,
  summary: 'Ask whether to withdraw or restore a revision, and show the affected devices.',
  access,
  query: 'ConsolePageQuery',
  refuses: ['forbidden', 'conflict'],

  async show(call) {
    const { package: subject, params, records, browsing } = call;
    const { revision, version, withdrawnAt } = await findRevision(records, subject, params.revision);
    const called = `revision ${String(revision)} of ${subject.namespace}/${subject.name}`;
    const below = addressOf(subject, 'revisions', revision);
    if (withdrawnAt !== null) {
      return {
        title: `Restore ${called}?`,
        lead: `Version ${version} can then be released again. It is in no channel until then.`,
        content: html`${formOf(browsing, `${below}/restore`, html`<button>Restore</button>`)} ${renderCancelLink(below)}`,
      };
    }
    return {
      title: `Withdraw ${called}?`,
      lead: 'The store no longer offers the revision. It cannot be released until it is restored.',
      content: html`${await renderAffectedChannels(call, subject, revision)}
      ${formOf(
        browsing,
        `${below}/withdraw`,
        html`${field({
            name: 'reason',
            label: 'Reason',
            maxLength: 1000,
            required: true,
            hint: 'One line, shown to everyone who can see the revision.',
          })} <button class="grave">Withdraw ${called}</button>`,
      )}
      ${renderCancelLink(below)}`,
    };
  },
});

const renderCancelLink = (address: string): Html => html`<p><a href="${address}">Cancel</a></p>`;

async function renderAffectedChannels(
  call: Pick<Services, 'records' | 'now' | 'config'>,
  subject: PublishedPackage,
  revision: number,
): Promise<Html> {
  const held = await call.records.releases.holding(subject.id, revision, timestamp(call.now()));
  const channels = [...new Set(held.map(({ channel }) => channel))];
  return html`<p>
      ${channels.length === 0 ? 'The revision is in no channel.' : html`The revision is removed from these channels, which are then empty: ${channels.slice(0, 100).join(', ')}.`}
    </p>
    ${channels.length === 0 ? nothing : await renderAffected(call, subject)}`;
}

export const consoleWithdraw = formHandler({
  name: 'console_withdraw',
  path,
  summary: 'Withdraw a revision, with a reason.',
  access,
  body: 'ConsoleWithdraw',
  refuses: ['conflict'],
  async perform(call) {
    const { package: subject, params, body, acts } = call;
    const revision = parseRevisionNumber(params.revision);
    await acts.do(withdrawRevision, caller(call), { package: subject, revision, reason: body.reason });
    return withMessage(addressOf(subject, 'revisions', revision), 'revision-withdrawn');
  },
});

export const consoleRestore = formHandler({
  name: 'console_restore',
  path: '/console/packages/:namespace/:name/revisions/:revision/restore',
  summary: 'Restore a withdrawn revision.',
  access,
  body: 'ConsoleForm',
  refuses: ['conflict'],
  async perform(call) {
    const { package: subject, params, acts } = call;
    const revision = parseRevisionNumber(params.revision);
    await acts.do(restoreRevision, caller(call), { package: subject, revision });
    return withMessage(addressOf(subject, 'revisions', revision), 'revision-restored');
  },
});
