// The front page of a publisher: their own packages, and the items that wait for them.
import type { Services } from '#http/services.ts';
import { html, nothing } from '#http/pages/html.ts';
import { after, timestamp } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { expiryWarningMs } from '#domain/tokens/token-expiry.ts';
import type { View } from '../frame.ts';
import { card, type Card } from '../parts/notice.ts';
import { count, formatCount } from '../parts/values.ts';
import type { Viewer } from '../viewer.ts';
import { readPublisherSteps, renderSteps } from './first-steps.ts';

interface PublisherFrontPageInput extends Pick<Services, 'records' | 'authority' | 'config' | 'now'> {
  principal: Principal;
}

/** The maximum of tokens that are counted. */
const maxCountedTokens = 100;

export async function publisherFrontPage(input: PublisherFrontPageInput, { name, oversees }: Viewer): Promise<View> {
  const { principal, records, authority } = input;
  const { accountId } = principal;
  const now = authority.latestTime();
  const ending = await records.macaroons.ending(
    {
      accountId,
      now: timestamp(now),
      endsBy: timestamp(after(now, expiryWarningMs)),
      after: { until: '', sessionId: '' },
    },
    maxCountedTokens,
  );
  const tokens = ending.filter(({ kind }) => kind === 'token');
  const hasCode = (await records.totpSecrets.find(accountId)) !== undefined;
  const cards: Card[] = [
    ...(tokens.length === 0 ? [] : [endingCard(tokens.length)]),
    ...(hasCode ? [] : [withoutCode]),
  ];
  const steps = await readPublisherSteps(input);
  const isNew = steps.some(({ isDone }) => !isDone) && !oversees;
  return {
    title: `Hello, ${name}`,
    lead: cards.length === 0 ? 'There is nothing for you to do.' : `${formatCount(cards.length, 'thing')} to look at.`,
    content: html`<div class="cards">${cards.map(card)}</div>
      ${
        isNew
          ? html`<h2>Your first package</h2>
              ${renderSteps(steps)}`
          : nothing
      }
      <ul>
        <li><a href="/console/packages">Your packages</a>: channels, releases and collaborators.</li>
        <li><a href="/console/waiting">Pending</a>: uploads under review, invites and approvals.</li>
        ${oversees ? html`<li><a href="/console/carry">Transfers</a>: incoming transfers and outgoing requests.</li>` : null}
        <li><a href="/console/myself">Yourself</a>: password, one-time passwords, tokens.</li>
        <li><a href="/docs/publisher">How to publish here</a>, with the lines for snapcraft and charmcraft.</li>
      </ul>`,
  };
}

const endingCard = (tokens: number): Card => ({
  gravity: 'note',
  title: tokens === 1 ? 'A token ends soon' : `${tokens === maxCountedTokens ? 'Many' : count(tokens)} tokens end soon`,
  words: 'The store will then refuse programs that use it.',
  mend: html`Make a new token under <a href="/console/myself">Yourself</a> and replace the old one.`,
});

const withoutCode: Card = {
  gravity: 'note',
  title: 'Your account has no second factor',
  words: 'Your password alone gives full access as you.',
  mend: html`Turn one-time passwords on under <a href="/console/myself">Yourself</a>.`,
};
