// The front page of a publisher: their own packages, and the items that wait for them.
import type { Services } from '#http/services.ts';
import { html } from '#http/pages/html.ts';
import { after, timestamp } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { expiryWarningMs } from '#domain/tokens/token-expiry.ts';
import type { View } from '../frame.ts';
import { card, type Card } from '../parts/notice.ts';
import { count, formatCount } from '../parts/values.ts';
import type { Viewer } from '../viewer.ts';

interface PublisherFrontPageInput extends Pick<Services, 'records' | 'authority' | 'config'> {
  principal: Principal;
}

/** The maximum of tokens that are counted. */
const maxCountedTokens = 100;

export async function publisherFrontPage(
  { principal, records, authority, config }: PublisherFrontPageInput,
  { name, oversees }: Viewer,
): Promise<View> {
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
  const url = config.http.base_url;
  return {
    title: `Hello, ${name}`,
    lead: cards.length === 0 ? 'Nothing needs you here.' : `${formatCount(cards.length, 'thing')} to look at.`,
    content: html`<div class="cards">${cards.map(card)}</div>
      <ul>
        <li><a href="/console/packages">Your packages</a>: what their channels hold, and who may do what.</li>
        <li><a href="/console/waiting">What waits</a>: uploads under review, and what you are asked for.</li>
        ${oversees ? html`<li><a href="/console/carry">Carry</a>: what came in from elsewhere, and what goes out.</li>` : null}
        <li><a href="/console/myself">Yourself</a>: password, one-time passwords, tokens.</li>
        <li>
          <a href="/docs/publisher">How to publish here</a>, with the lines for snapcraft and charmcraft at
          <code>${url}</code>.
        </li>
      </ul>`,
  };
}

const endingCard = (tokens: number): Card => ({
  gravity: 'note',
  title: tokens === 1 ? 'A token ends soon' : `${tokens === maxCountedTokens ? 'Many' : count(tokens)} tokens end soon`,
  words: 'What uses it is refused from then on.',
  mend: html`Make another one under <a href="/console/myself">Yourself</a>, and put it where the old one is.`,
});

const withoutCode: Card = {
  gravity: 'note',
  title: 'Your password alone lets you in',
  words: 'Whoever learns it is you.',
  mend: html`Turn one-time passwords on under <a href="/console/myself">Yourself</a>.`,
};
