// Declares the pages of the console. A screen shows something and changes nothing. A deed handles a form of a screen with the same acts as
// operations and commands, and leads to a screen with the result.
import type { IncomingMessage } from 'node:http';

import type { Access } from '#access/access-rules.ts';
import type { Chunks } from '#blobs/blobs.ts';
import { receiveUpload } from '#http/request/multipart.ts';
import { idleTimeoutMs } from '#operations/uploads/receive-unclaimed.ts';
import { refuseForeignForm } from '#http/request/browser-sessions.ts';
import { OperationResponse, operation, type OperationCall, type Operation } from '#http/operation.ts';
import type { ShapeName } from '#contract/schema.ts';
import type { Services } from '#http/services.ts';
import type { Wire } from '#contract/wire.ts';
import type { RefusalCode } from '#domain/refusal.ts';
import { Refusal } from '#domain/refusal.ts';
import { admitInBrowser, type BrowserEvidence } from './browser-access.ts';
import { declareFormHandler } from './form-handlers.ts';
import { renderInFrame, type View } from './frame.ts';
import { renderRefusal } from './refusal-page.ts';
import { renewedSessionHeader } from './session-headers.ts';

interface ConsoleOperation<Path extends string, Evidence> {
  /** `console_`, then a name for the page or the action. */
  name: `console_${string}`;
  /** Below `/console`. */
  path: Path;
  /** One sentence. */
  summary: string;
  access: Access<Evidence>;
  refuses?: readonly RefusalCode[];
}

interface ScreenDeclaration<
  Path extends string,
  Evidence,
  Query extends ShapeName | undefined,
> extends ConsoleOperation<Path, Evidence> {
  query?: Query;
  /** The members of the query that may be repeated; their values are joined with spaces. */
  repeated?: string[];
  show(call: OperationCall<Path, Evidence & BrowserEvidence, Query, undefined>): Promise<View> | View;
}

/** Declares a screen. */
export const screen = <const Path extends string, Evidence, const Query extends ShapeName | undefined = undefined>({
  show,
  access,
  refuses = [],
  ...record
}: ScreenDeclaration<Path, Evidence, Query>): Operation =>
  operation({
    ...record,
    ...everyPage,
    method: 'GET',
    access: admitInBrowser(access),
    refuses: ['forbidden', ...refuses],
    handle: async (call: OperationCall<Path, Evidence & BrowserEvidence, Query, undefined>) =>
      renderInFrame(call, await show(call)),
  });

/** The shapes of forms: each has the token of its session. */
type FormShape = { [K in ShapeName]: Wire[K] extends { 'form-token': string } ? K : never }[ShapeName];

interface FormHandlerDeclaration<Path extends string, Evidence, Body extends FormShape> extends ConsoleOperation<
  Path,
  Evidence
> {
  body: Body;
  /** In bytes; 64 KiB by default. */
  bodyLimit?: number;
  /** The media type of the file that it returns; undefined if it returns pages only. */
  file?: string;
  /** Runs the action. Returns the next address of the browser in the console, or a response to show at once, such as a secret. */
  perform(call: OperationCall<Path, Evidence & BrowserEvidence, undefined, Body>): Promise<string | OperationResponse>;
}

/** Declares the handler of a form. */
export const formHandler = <const Path extends string, Evidence, const Body extends FormShape>({
  perform,
  access,
  refuses = [],
  bodyLimit = 64 * 1024,
  file,
  ...record
}: FormHandlerDeclaration<Path, Evidence, Body>): Operation => {
  declareFormHandler(record.path, record.summary);
  return operation({
    ...record,
    ...everyPage,
    method: 'POST',
    access: admitInBrowser(access),
    consumes: 'application/x-www-form-urlencoded',
    bodyLimit,
    also: { 303: 'Done; the browser continues to a page that shows the result.' },
    ...(file !== undefined && { produces: ['text/html', file] }),
    headers: file === undefined ? ['location'] : ['location', 'content-disposition'],
    refuses: ['forbidden', ...refuses],
    async handle(call: OperationCall<Path, Evidence & BrowserEvidence, undefined, Body>) {
      refuseForged(call);
      const done = await perform(call);
      return done instanceof OperationResponse ? done : seeOther(done, renewedSessionHeader(call));
    },
  });
};

interface FileHandlerDeclaration<
  Path extends string,
  Evidence,
  Query extends ShapeName | undefined,
  Received,
> extends ConsoleOperation<Path, Evidence> {
  query?: Query;
  /** The maximum of bytes of the file. */
  limit(call: FileHandlerCall<Path, Evidence, Query>): number;
  /** Receives the file, which is the field `file` of the form. Its content throws at its end if the form is not valid. */
  receive(
    call: FileHandlerCall<Path, Evidence, Query>,
    content: AsyncIterable<Chunks>,
    expected: number | undefined,
  ): Promise<Received>;
  /** Runs after the whole form was received. Returns the next address of the browser, or nothing for a script. */
  perform(call: FileHandlerCall<Path, Evidence, Query>, received: Received): Promise<string | undefined>;
}

type FileHandlerCall<Path extends string, Evidence, Query extends ShapeName | undefined> = OperationCall<
  Path,
  Evidence & BrowserEvidence,
  Query,
  undefined
>;

/** Declares the handler of a form with a file. The token of the form comes before the file. */
export const fileHandler = <
  const Path extends string,
  Evidence,
  Received,
  const Query extends ShapeName | undefined = undefined,
>({
  limit,
  receive,
  perform,
  access,
  refuses = [],
  ...record
}: FileHandlerDeclaration<Path, Evidence, Query, Received>): Operation => {
  declareFormHandler(record.path, record.summary);
  return operation({
    ...record,
    ...everyPage,
    method: 'POST',
    access: admitInBrowser(access),
    consumes: 'multipart/form-data',
    also: { 303: 'Done; the browser continues to a page that shows the result.' },
    headers: ['location'],
    refuses: ['forbidden', 'length-required', 'too-many-requests', 'insufficient-storage', ...refuses],
    async handle(call: FileHandlerCall<Path, Evidence, Query>) {
      const { request, response } = call;
      const received = await receiveUpload(request, response, {
        field: 'file',
        limit: limit(call),
        idle: idleTimeoutMs,
        receive(content, expected, fields) {
          const { config, browsing } = call;
          refuseForged({ request, config, browsing, body: { 'form-token': fields.get('form-token') ?? '' } });
          return receive(call, content, expected);
        },
      });
      const next = await perform(call, received);
      const headers = renewedSessionHeader(call);
      return next === undefined ? new OperationResponse({ headers, body: '' }) : seeOther(next, headers);
    },
  });
};

const everyPage = {
  since: 0,
  prefixed: false,
  enabledBy: 'http.console',
  produces: ['text/html'],
  refusesWithPages: true,
  refused: renderRefusal,
} as const;

interface ConsoleFormSubmission extends BrowserEvidence, Pick<Services, 'config'> {
  request: IncomingMessage;
  body: { 'form-token': string };
}

/** Refuses a form unless a page that we made for this session has sent it. */
function refuseForged({ request, config, browsing, body }: ConsoleFormSubmission): void {
  refuseForeignForm(request, config.http.base_url);
  const [address = ''] = (request.url ?? '').split('?');
  if (browsing.isFormToken(body['form-token'], address)) return;
  throw new Refusal('forbidden', 'This form belongs to a login that has ended. Check your input and send it again.');
}

/** Redirects to another page, which the browser fetches with GET. */
export const seeOther = (location: string, headers: Record<string, string>): OperationResponse =>
  new OperationResponse({
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'same-origin', ...headers },
    body: '',
  });
