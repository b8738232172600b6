// The people of a package: its publisher, its collaborators, and open invites.
import { inviteCollaborators, revokeInvites } from '#acts/packages/collaborators.ts';
import { removeCollaborator } from '#acts/packages/ownership.ts';
import { onPackage, publisherOf } from '#access/access-rules.ts';
import { html, type Html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '#operations/caller.ts';
import type { Collaborator } from '#records/packages/collaborators.ts';
import type { Invite } from '#records/packages/invites.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { field, formOf } from '../parts/form.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOf } from './address.ts';
import { renderPackageHeader } from './package-header.ts';

const withMessage = declareMessages({
  'collaborator-invited': 'The invite is made and waits for an answer.',
  'invite-revoked': 'The invite is revoked.',
  'collaborator-gone': 'The account no longer collaborates on the package.',
});

const path = '/console/packages/:namespace/:name/collaborators';
const ofOne = `${path}/:account_id/remove` as const;
const manages = publisherOf('package-manage-acl');

/** The maximum number of entries to show. The API returns all. */
const maxShown = 200;

const isPublisher = (role: string): boolean => role !== 'collaborator';

export const consoleCollaborators = screen({
  name: 'console_collaborators',
  path,
  summary: 'List the collaborators and pending invites of a package, with forms to invite and remove them.',
  access: onPackage('package-view-acl'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject, role, records, now, browsing } = call;
    const collaborators = (await records.collaborators.list(subject.id)).slice(0, maxShown);
    const people = await records.accounts.byIds(collaborators.map(({ accountId }) => accountId));
    const invites = (await records.invites.listPending(subject.id, timestamp(now()))).slice(0, maxShown);
    const nameOf = (id: string): string => people.get(id)?.username ?? id;
    const mayManage = isPublisher(role);
    const remove = ({ accountId }: Collaborator): Html =>
      html`<a href="${addressOf(subject, 'collaborators', accountId, 'remove')}"
        >Take away<span class="unseen"> ${nameOf(accountId)}</span></a
      >`;
    return {
      title: `Collaborators on ${subject.namespace}/${subject.name}`,
      heading: await renderPackageHeader(call, subject, 'collaborators'),
      lead: html`${subject.publisher.username} publishes this package. Collaborators can push and release as the
      publisher can, but cannot invite or remove others.`,
      content: html`${table<Collaborator>({
        caption: 'Collaborators',
        columns: [
          { heading: 'Collaborator', cell: ({ accountId }) => nameOf(accountId) },
          { heading: 'Since', cell: ({ createdAt }) => time(createdAt) },
          ...(mayManage ? [{ heading: 'Do', cell: remove }] : []),
        ],
        rows: collaborators,
        empty: mayManage
          ? 'There are no collaborators yet. Invite one below.'
          : 'There are no collaborators. The publisher of the package can invite them.',
      })}
      ${mayManage ? inviting(subject, invites, browsing) : ''}`,
    };
  },
});

const inviting = (
  subject: PublishedPackage,
  invites: readonly Invite[],
  browsing: Parameters<typeof formOf>[0],
): Html =>
  html`<h2>Invites</h2>
    ${table<Invite>({
      caption: 'Invites that wait for an answer',
      columns: [
        { heading: 'E-mail address', cell: ({ email }) => email },
        { heading: 'Since', cell: ({ createdAt }) => time(createdAt) },
        { heading: 'Until', cell: ({ expiresAt }) => time(expiresAt) },
        {
          heading: 'Do',
          cell: ({ email }) =>
            formOf(
              browsing,
              addressOf(subject, 'collaborators', 'revoke'),
              html`<input type="hidden" name="email" value="${email}" />
                <button class="second">Revoke<span class="unseen"> the invite of ${email}</span></button>`,
            ),
        },
      ],
      rows: invites,
      empty: 'No invite waits for an answer.',
    })}
    ${formOf(
      browsing,
      addressOf(subject, 'collaborators'),
      html`${field({
          name: 'email',
          label: 'E-mail address of an account of this store',
          maxLength: 320,
          required: true,
          type: 'email',
          hint: 'The invited person accepts or declines the invite under Pending.',
        })} <button>Invite</button>`,
    )}`;

export const consoleInviteCollaborator = formHandler({
  name: 'console_invite_collaborator',
  path,
  summary: 'Invite an account to collaborate on a package, by e-mail address.',
  access: manages,
  body: 'ConsoleCollaborator',
  refuses: ['account-not-found', 'conflict'],

  async perform(call) {
    const { package: subject, principal, body, acts, config, newId } = call;
    await acts.do(inviteCollaborators, caller(call), {
      package: subject,
      invitedBy: principal.accountId,
      invites: [{ email: body.email.trim(), token: newId.id() }],
      days: config.collaborators.invite_days,
    });
    return withMessage(addressOf(subject, 'collaborators'), 'collaborator-invited');
  },
});

export const consoleRevokeInvite = formHandler({
  name: 'console_revoke_invite',
  path: `${path}/revoke`,
  summary: 'Revoke the pending invite of an e-mail address.',
  access: manages,
  body: 'ConsoleCollaborator',

  async perform(call) {
    const { package: subject, principal, body, acts } = call;
    const invites = { package: subject, revokedBy: principal.accountId, emails: [body.email] };
    await acts.do(revokeInvites, caller(call), invites);
    return withMessage(addressOf(subject, 'collaborators'), 'invite-revoked');
  },
});

export const consoleAskRemoveCollaborator = screen({
  name: 'console_ask_remove_collaborator',
  path: ofOne,
  summary: 'Ask whether to remove a collaborator from a package.',
  access: manages,
  refuses: ['forbidden'],

  async show({ package: subject, params, records, browsing }) {
    const collaborator = (await records.collaborators.list(subject.id)).find(
      ({ accountId }) => accountId === params.account_id,
    );
    const account = collaborator && (await records.accounts.find(collaborator.accountId));
    if (account === undefined)
      throw new Refusal('resource-not-found', 'This account does not collaborate on the package.');
    return {
      title: `Remove ${account.username} from ${subject.namespace}/${subject.name}?`,
      lead: html`From the next request on, <bdi>${account.displayName}</bdi> and all tokens of the account lose access
        to the package.`,
      content: html`${formOf(
          browsing,
          addressOf(subject, 'collaborators', account.id, 'remove'),
          html`<button class="grave">Remove ${account.username}</button>`,
        )}
        <p><a href="${addressOf(subject, 'collaborators')}">Cancel</a></p>`,
    };
  },
});

export const consoleRemoveCollaborator = formHandler({
  name: 'console_remove_collaborator',
  path: ofOne,
  summary: 'Remove a collaborator from a package, from the next request on.',
  access: manages,
  body: 'ConsoleForm',

  async perform(call) {
    const { package: subject, params, acts } = call;
    await acts.do(removeCollaborator, caller(call), { package: subject, accountId: params.account_id });
    return withMessage(addressOf(subject, 'collaborators'), 'collaborator-gone');
  },
});
