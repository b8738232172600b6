// An operation of the store is one record: everything about it that is not its handler is data.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import type { Access } from './access.ts';
import type { ErrorFamily } from './refusals.ts';
import type { Shape } from './schema.ts';
import type { Services } from './services.ts';
import type { Wire } from './wire.ts';

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
  /** The configuration switch that must be on; the path does not exist without it. */
  enabledBy?:
    | 'store.offline_mode'
    | 'internal.package_permissions'
    | 'internal.build_records'
    | 'http.metrics'
    | 'http.documents';
  unstable?: boolean;
  /** The status of success, 200 unless said otherwise. */
  status?: number;
  /**
   * The media type of the request's body, JSON unless said otherwise. A form arrives as an object of texts;
   * multipart bodies and plain bytes are read by the handler itself.
   */
  consumes?:
    'application/json' | 'application/x-www-form-urlencoded' | 'multipart/form-data' | 'application/octet-stream';
  /** Members of the query that may be given more than once; they arrive as one, with spaces between the values. */
  repeated?: string[];
  /** Media types it may answer with besides JSON. */
  produces?: string[];
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
