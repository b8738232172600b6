// Makes a set-up link for an account, after the administrator proves their identity; the link is shown once.
import { inviteAccount } from '#acts/accounts/credentials.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import type { OperationResponse } from '#http/operation.ts';
import { html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import { newSetUpLink } from '#identity/credentials/set-up-links.ts';
import { findAccount } from '#operations/accounts/present.ts';
import { caller } from '#operations/caller.ts';
import type { Account } from '#records/accounts/accounts.ts';
import { renderInFrame, type ConsoleFrameInput } from '../frame.ts';
import { credentialFields, findOwnProof, credentialRefusals, readCredentials } from './credential-fields.ts';
import { formOf } from '../parts/form.ts';
import { notice } from '../parts/notice.ts';
import { isolated, time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { accountAddress } from './address.ts';

export const consoleAskSetUpLink = screen({
  name: 'console_ask_set_up_link',
  path: '/console/people/:account_id/set-up-link',
  summary: 'Explain a link to choose a password, and ask whether to make one.',
  access: storeAdministrator('store-manage'),
  refuses: ['forbidden'],

  async show({ params, records, principal, browsing }) {
    const { id, displayName } = await findAccount(params.account_id, records);
    return {
      title: `A link for ${isolated(displayName)}?`,
      lead: html`<bdi>${displayName}</bdi> can choose a new password with the link, once. Earlier links become invalid.`,
      content: html`<p class="hint">${approvalPauseNotice}</p>
        ${formOf(
          browsing,
          accountAddress(id, 'set-up-link'),
          html`${credentialFields(browsing, await findOwnProof(principal, records))} <button>Make the link</button>`,
        )}
        <p><a href="${accountAddress(id)}">Cancel</a></p>`,
    };
  },
});

/** Shown before a change of an account. */
export const approvalPauseNotice = 'After a change of an account, its approvals do not count for 72 hours.';

export const consoleMakeSetUpLink = formHandler({
  name: 'console_make_set_up_link',
  path: '/console/people/:account_id/set-up-link',
  summary: 'Make a link to set a new password for an account, and show it once. Earlier links become invalid.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleAgain',
  refuses: [...credentialRefusals, 'conflict'],

  async perform(call) {
    const account = await findAccount(call.params.account_id, call.records);
    await call.identity.own.proveBeforeAct(call.principal.accountId, readCredentials(call));
    return inviteWithLink(call, account);
  },
});

interface SetUpLinkCall extends ConsoleFrameInput, Pick<Services, 'acts' | 'now'> {
  requestId: string;
}

/** Makes a link for an account, and returns the page that shows it. */
export async function inviteWithLink(
  call: SetUpLinkCall,
  { id, username, displayName }: Account,
): Promise<OperationResponse> {
  const { acts, now, config, browsing } = call;
  const { base_url: baseUrl } = config.http;
  const { link, digest, until } = newSetUpLink({ now, baseUrl });
  const actor = caller({ principal: browsing.principal, requestId: call.requestId });
  await acts.do(inviteAccount, actor, { id, digest, until });
  return renderInFrame(call, {
    title: `A link for ${isolated(displayName)}`,
    lead: html`Works once, until ${time(until)}.`,
    content: html`${notice('note', 'The link is shown only now. It allows its holder to set the password of the account, so send it to the owner only.')}
      <h2>The link</h2>
      <pre tabindex="0">${link}</pre>
      <h2>Message to send</h2>
      <pre class="letter" tabindex="0">
Hello ${displayName}, you have an account at our package store ${baseUrl}; your user name is ${username}. Open this link to choose your password. It works once, and until ${until.slice(0, 16).replace('T', ' ')} UTC:
${link}</pre>
      <p>
        <a href="${accountAddress(id)}">To the account of <bdi>${displayName}</bdi></a>
      </p>`,
  });
}
