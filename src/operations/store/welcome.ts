// The first page of the store, for browsers: links to console, documents and certificate.
import type { OperationResponse } from '#http/operation.ts';
import { html, type Html } from '#http/pages/html.ts';
import { page } from '#http/pages/plain-page.ts';
import type { Services } from '#http/services.ts';

type WelcomePageInput = Pick<Services, 'config' | 'authorityCertificate'>;

/** The links that the configuration enables; undefined if console and documents are disabled. */
export function renderWelcomePage(
  { config, authorityCertificate }: WelcomePageInput,
  headers: Record<string, string>,
): OperationResponse | undefined {
  const { console, documents, base_url: baseUrl } = config.http;
  if (!console && !documents) return undefined;
  const ways: Html[] = [
    ...(console ? [logIn] : []),
    ...(documents ? [read] : []),
    ...(authorityCertificate() === undefined ? [] : [trust]),
  ];
  const content = html`<h1>The package store of this site</h1>
    <ul class="ways">
      ${ways}
    </ul>`;
  return page('Welcome', content, { baseUrl, headers });
}

const way = (address: string, words: string, about: string): Html =>
  html`<li><a href="${address}">${words}</a><span>${about}</span></li>`;

const logIn = way('/console', 'Log in', 'Administer the store, publish packages, and approve changes.');
const read = way(
  '/docs/',
  'Documents',
  'Guides for publishers and administrators, and the reference of the interface.',
);
const trust = way('/ca.pem', 'Certificate authority', 'The certificate that tools and devices must trust.');
