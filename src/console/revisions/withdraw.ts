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
import { withMessage } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOf } from '../packages/address.ts';
import { renderAffected } from '../releases/affected.ts';
import { findRevision } from './revision.ts';

const path = '/console/packages/:namespace/:name/revisions/:revision/withdraw';
const access = beyondChannels('package-manage-releases');

export const consoleAskWithdraw = screen({
  name: 'console_ask_withdraw',
  path,
  summary: 'Ask whether a revision is to be withdrawn, or brought back, and say who is affected.',
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
        title: `Bring back ${called}?`,
        lead: `Version ${version} may be released again then. No channel holds it before that.`,
        content: html`${formOf(browsing, `${below}/restore`, html`<button>Bring it back</button>`)} ${back(below)}`,
      };
    }
    return {
      title: `Withdraw ${called}?`,
      lead: 'Nobody gets it any more, and it cannot be released before it is brought back.',
      content: html`${await whatEnds(call, subject, revision)}
      ${formOf(
        browsing,
        `${below}/withdraw`,
        html`${field({
            name: 'reason',
            label: 'Why',
            maxLength: 1000,
            required: true,
            hint: 'One line; its publisher and whoever looks at the revision read it.',
          })} <button class="grave">Withdraw ${called}</button>`,
      )}
      ${back(below)}`,
    };
  },
});

const back = (address: string): Html => html`<p><a href="${address}">No, leave it as it is</a></p>`;

async function whatEnds(
  call: Pick<Services, 'records' | 'now' | 'config'>,
  subject: PublishedPackage,
  revision: number,
): Promise<Html> {
  const held = await call.records.releases.holding(subject.id, revision, timestamp(call.now()));
  const channels = [...new Set(held.map(({ channel }) => channel))];
  return html`<p>
      ${channels.length === 0 ? 'No channel holds it.' : html`These channels hold it, and hold nothing then: ${channels.slice(0, 100).join(', ')}.`}
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
  summary: 'Bring back a revision that was withdrawn.',
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
