// An operation of the store is one record: everything about it that is not its handler is data.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import type { Principal } from '#domain/principal.ts';
import type { Refusal, RefusalCode } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { Access } from './access.ts';
import type { ErrorFamily } from './refusals.ts';
import type { Shape } from './schema.ts';
import type { Services } from './services.ts';
import type { Wire } from './wire.ts';

/** The headers that answers of single operations carry, and what they say. */
export const headers = {
  'content-disposition': 'The name under which a browser keeps the file.',
  'content-range': 'Which bytes of how many these are.',
  'docker-content-digest': 'The digest of the content.',
  'docker-upload-uuid': 'The id of the upload.',
  etag: 'The digest of the content, quoted.',
  link: 'Where the next page is.',
  location: 'Where it is found, or where to go on.',
  'oci-filters-applied': 'By what the list was filtered.',
  'oci-subject': 'The digest of the manifest that this one is about.',
  range: 'Which bytes have come.',
  vary: 'Which headers of the request decide what is answered.',
} as const;

export type HeaderName = keyof typeof headers;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `/v1/:namespace/:name` → `{ namespace: string; name: string }`. */
export type Params<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name]: string } & Params<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { [K in Name]: string }
    : unknown;

type Of<S extends Shape | undefined> = S extends Shape ? Wire[S] : undefined;

/** What a handler gets: the request in its shapes, the services, and the evidence of its access rule. */
export type Call<
  Path extends string,
  Evidence,
  Query extends Shape | undefined,
  Body extends Shape | undefined,
> = Services &
  Evidence & {
    params: Params<Path>;
    query: Of<Query>;
    body: Of<Body>;
    /** The request itself, for those who read its body as a stream or its headers. */
    request: IncomingMessage;
    response: ServerResponse;
    /** Where the request came from, with trusted proxies seen through. */
    address: string;
    requestId: string;
  };

/** An answer that is more than a JSON body with the operation's own status. */
export class Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | Readable | undefined;

  constructor(answer: { status?: number; headers?: Record<string, string>; body?: string | Uint8Array | Readable }) {
    this.status = answer.status;
    this.headers = answer.headers ?? {};
    this.body = answer.body;
  }
}

/** A request that was refused, for the page that says so. */
export interface Refused extends Services {
  params: Record<string, string>;
  query: Record<string, string>;
  request: IncomingMessage;
  address: string;
  requestId: string;
  /** Who asks, where that was found out before it was refused. */
  principal?: Principal;
  /** What was typed into the form; nothing where there was none, or none that can be read. */
  typed: unknown;
}

interface Declaration<
  Path extends string,
  Evidence,
  Query extends Shape | undefined,
  Body extends Shape | undefined,
  Response extends Shape | undefined,
> {
  /** The interface's name for it. */
  name: string;
  method: Method;
  path: Path;
  /** The API version that introduced it; 0 for operations beside the interface. */
  since: number;
  /** One sentence. */
  summary: string;
  access: Access<Evidence>;
  query?: Query;
  body?: Body;
  response?: Response;
  /**
   * Set where the answer follows from who asks, what he says in the body, and these records alone: then it is given again
   * as long as none of them has changed (`repeats.ts`).
   */
  repeatable?: keyof Records['eras'];
  /** The configuration switch that must be on; the path does not exist without it. */
  enabledBy?:
    | 'devices.charm'
    | 'devices.snap'
    | 'store.offline_mode'
    | 'internal.package_permissions'
    | 'internal.build_records'
    | 'http.console'
    | 'http.metrics'
    | 'http.documents';
  unstable?: boolean;
  /** The status of success, 200 unless said otherwise; 204 where there is nothing to say. */
  status?: number;
  /** Further statuses of an answer that is no refusal, and what each means. */
  also?: Readonly<Record<number, string>>;
  /**
   * What it may refuse with beyond what its record says by itself: 400, 401 where a token is asked for, 404 where its
   * path has parameters, 413 and 415 where it reads a body.
   */
  refuses?: readonly RefusalCode[];
  /** Statuses with which it asks its client to prove something first, in the body of a refusal, and what each means. */
  asks?: Readonly<Record<number, string>>;
  /** Whether people read its refusals: they come as pages, but for those of a request that no form of ours makes. */
  refusesWithPages?: true;
  /** The page that a person sees in place of any refusal, where it is not the handler that catches them. */
  refused?(refusal: Refusal, asked: Refused): Answer | Promise<Answer>;
  /** Headers of success that its clients read, beside those of every answer. */
  headers?: readonly HeaderName[];
  /**
   * The media type of the request's body, JSON unless said otherwise. A form arrives as an object of texts;
   * multipart bodies and plain bytes are read by the handler itself.
   */
  consumes?:
    | 'application/json'
    | 'application/x-www-form-urlencoded'
    | 'multipart/form-data'
    | 'application/octet-stream'
    | 'application/x.ubuntu.assertion';
  /** Members of the query that may be given more than once; they arrive as one, with spaces between the values. */
  repeated?: string[];
  /** Media types it may answer with besides JSON; those that have a shape with it. */
  produces?: readonly string[] | Readonly<Record<string, Shape>>;
  /** Whether the body may be left out. */
  bodyOptional?: boolean;
  /** Bytes of a JSON body, 1 MiB unless said otherwise. */
  bodyLimit?: number;
  /** How its refusals are worded, `publisher` unless said otherwise. */
  errors?: ErrorFamily;
  /** Whether it is also there below `/publishergw`; true unless said otherwise. */
  prefixed?: boolean;
  handle(call: Call<Path, Evidence, Query, Body>): Promise<Of<Response> | Answer> | Of<Response> | Answer;
}

/** An operation as the server, the documents and the tests see it. */
export interface Operation extends Omit<
  Declaration<string, object, Shape | undefined, Shape | undefined, Shape | undefined>,
  'handle' | 'access'
> {
  access: Access<object>;
  handle(call: never): unknown;
}

/** Whether it may be called without a token. */
export const isForAnyone = ({ access }: Operation): boolean => access.who.startsWith('anyone');

/** What a reader of the documents looks for in one place. */
export interface Section {
  title: string;
  /** One sentence. */
  about: string;
  operations: Operation[];
}

/** Declares an operation; the record's own words give its handler the types it works with. */
export const operation = <
  const Path extends string,
  Evidence,
  const Query extends Shape | undefined = undefined,
  const Body extends Shape | undefined = undefined,
  const Response extends Shape | undefined = undefined,
>(
  declaration: Declaration<Path, Evidence, Query, Body, Response>,
): Operation => declaration as unknown as Operation;
