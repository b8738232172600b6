// Declares the pages of the console. A screen shows something and changes nothing. A deed handles a form of a screen with the same acts as
// operations and commands, and leads to a screen with the result.
import type { IncomingMessage } from 'node:http';

import type { Access } from '#api/access.ts';
import { refuseForeign } from '#api/browser.ts';
import { Answer, operation, type Call, type Operation } from '#api/operation.ts';
import type { Shape } from '#api/schema.ts';
import type { Services } from '#api/services.ts';
import type { Wire } from '#api/wire.ts';
import type { RefusalCode } from '#domain/refusal.ts';
import { Refusal } from '#domain/refusal.ts';
import { inBrowser, type Browsed } from './access.ts';
import { declareDeed } from './deeds.ts';
import { framed, type View } from './frame.ts';
import { refused } from './refused.ts';
import { renewal } from './session.ts';

interface Common<Path extends string, Evidence> {
  /** `console_`, then a name for the page or the action. */
  name: `console_${string}`;
  /** Below `/console`. */
  path: Path;
  /** One sentence. */
  summary: string;
  access: Access<Evidence>;
  refuses?: readonly RefusalCode[];
}

interface Screen<Path extends string, Evidence, Query extends Shape | undefined> extends Common<Path, Evidence> {
  query?: Query;
  show(call: Call<Path, Evidence & Browsed, Query, undefined>): Promise<View> | View;
}

/** Declares a screen. */
export const screen = <const Path extends string, Evidence, const Query extends Shape | undefined = undefined>({
  show,
  access,
  refuses = [],
  ...record
}: Screen<Path, Evidence, Query>): Operation =>
  operation({
    ...record,
    ...everyPage,
    method: 'GET',
    access: inBrowser(access),
    refuses: ['forbidden', ...refuses],
    handle: async (call: Call<Path, Evidence & Browsed, Query, undefined>) => framed(call, await show(call)),
  });

/** The shapes of forms: each has the token of its session. */
type FormShape = { [K in Shape]: Wire[K] extends { 'form-token': string } ? K : never }[Shape];

interface Deed<Path extends string, Evidence, Body extends FormShape> extends Common<Path, Evidence> {
  body: Body;
  /** In bytes; 64 KiB by default. */
  bodyLimit?: number;
  /** Runs the action. Returns the next address of the browser in the console, or a response to show at once, such as a secret. */
  perform(call: Call<Path, Evidence & Browsed, undefined, Body>): Promise<string | Answer>;
}

/** Declares the handler of a form. */
export const deed = <const Path extends string, Evidence, const Body extends FormShape>({
  perform,
  access,
  refuses = [],
  bodyLimit = 64 * 1024,
  ...record
}: Deed<Path, Evidence, Body>): Operation => {
  declareDeed(record.path, record.summary);
  return operation({
    ...record,
    ...everyPage,
    method: 'POST',
    access: inBrowser(access),
    consumes: 'application/x-www-form-urlencoded',
    bodyLimit,
    also: { 303: 'Done; the browser goes on to a page that shows it.' },
    headers: ['location'],
    refuses: ['forbidden', ...refuses],
    async handle(call: Call<Path, Evidence & Browsed, undefined, Body>) {
      refuseForged(call);
      const done = await perform(call);
      return done instanceof Answer ? done : seeOther(done, renewal(call));
    },
  });
};

const everyPage = {
  since: 0,
  prefixed: false,
  enabledBy: 'http.console',
  produces: ['text/html'],
  refusesWithPages: true,
  refused,
} as const;

interface Sent extends Browsed, Pick<Services, 'config'> {
  request: IncomingMessage;
  body: { 'form-token': string };
}

/** Refuses a form unless a page that we made for this session has sent it. */
function refuseForged({ request, config, browsing, body }: Sent): void {
  refuseForeign(request, config.http.base_url);
  const [address = ''] = (request.url ?? '').split('?');
  if (browsing.isFormToken(body['form-token'], address)) return;
  throw new Refusal(
    'forbidden',
    'This form is of a login that has ended meanwhile. Look it through, and send it again.',
  );
}

/** Redirects to another page, which the browser fetches with GET. */
export const seeOther = (location: string, headers: Record<string, string>): Answer =>
  new Answer({
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'same-origin', ...headers },
    body: '',
  });
