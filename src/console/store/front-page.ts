// The overview: whether all is well, and what to do if not.
import { account } from '#access/access-rules.ts';
import type { OperationCall } from '#http/operation.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import type { View } from '../frame.ts';
import { card } from '../parts/notice.ts';
import { screen } from '../screen.ts';
import { viewerOf } from '../viewer.ts';
import { renderActivity, renderOverviewTiles } from './overview-parts.ts';
import { publisherFrontPage } from './publisher-front-page.ts';
import { renderStoreSteps } from './first-steps.ts';
import { renderStoreState, toSortedCards } from './store-state.ts';

type FrontPageCall = OperationCall<'/console', BrowserEvidence & { principal: Principal }, undefined, undefined>;

export const consoleFront = screen({
  name: 'console_front',
  path: '/console',
  summary: 'Show the problems of the store and their remedies.',
  access: account('token'),
  async show(call) {
    if (call.principal.storeAdministrator) return storeFront(call);
    return publisherFrontPage(call, await viewerOf(call.principal, call.records));
  },
});

/** The front page of administrators. */
async function storeFront(call: FrontPageCall): Promise<View> {
  const cards = toSortedCards((await call.health()).faults, await call.examined());
  const wrong = cards.filter(({ gravity }) => gravity === 'warn').length;
  return {
    title: 'Overview',
    lead: answer(wrong, cards.length - wrong),
    content: html`${await renderOverviewTiles(call, cards)} ${await renderStoreSteps(call)}
      <div class="cards">${cards.map(card)}</div>
      ${await renderActivity(call)} ${await renderStoreState(call)} ${more}`,
  };
}

function answer(wrong: number, toKnow: number): string {
  if (wrong === 1) return 'There is 1 problem.';
  if (wrong > 1) return `There are ${String(wrong)} problems, the most severe first.`;
  return toKnow === 0 ? 'All is well.' : 'There are no problems, but there are notices.';
}

const more: Html = html`<p class="hint">
  This page shows quick checks only. On the host, <code>larder doctor</code> also checks the files and every row of the
  database, and <code>larder verify</code> reads every byte.
</p>`;
