// Declares operations: one record holds the handler of an operation and, as data, everything else about it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import type { Principal } from '#domain/tokens/principal.ts';
import type { Refusal, RefusalCode } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Access } from '#access/access-rules.ts';
import type { ErrorFamily } from './error-responses.ts';
import type { ShapeName } from '#contract/schema.ts';
import type { Services } from './services.ts';
import type { Wire } from '#contract/wire.ts';

/** The headers of single operations' responses, with their meaning. */
export const headers = {
  'content-disposition': 'The file name for browsers.',
  'content-range': 'The range of bytes, and the total size.',
  'docker-content-digest': 'The digest of the content.',
  'docker-upload-uuid': 'The id of the upload.',
  etag: 'The digest of the content, quoted.',
  link: 'The address of the next page.',
  location: 'The address of the result, or of the next step.',
  'oci-filters-applied': 'The filters that were applied to the list.',
  'oci-subject': 'The digest of the manifest that this one refers to.',
  range: 'The range of received bytes.',
  vary: 'The request headers that affect the response.',
} as const;

export type HeaderName = keyof typeof headers;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `/v1/:namespace/:name` → `{ namespace: string; name: string }`. */
export type Params<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name]: string } & Params<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { [K in Name]: string }
    : unknown;

type Of<S extends ShapeName | undefined> = S extends ShapeName ? Wire[S] : undefined;

/** The argument of a handler: the request in its shapes, the services, and the evidence of its access rule. */
export type OperationCall<
  Path extends string,
  Evidence,
  Query extends ShapeName | undefined,
  Body extends ShapeName | undefined,
> = Services &
  Evidence & {
    params: Params<Path>;
    query: Of<Query>;
    body: Of<Body>;
    /** The request itself, for handlers that read its headers or stream its body. */
    request: IncomingMessage;
    response: ServerResponse;
    /** The address of the client, behind trusted proxies. */
    address: string;
    requestId: string;
  };

/** A response that is not just a JSON body with the status of the operation. */
export class OperationResponse {
  readonly status: number | undefined;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | Readable | undefined;

  constructor(answer: { status?: number; headers?: Record<string, string>; body?: string | Uint8Array | Readable }) {
    this.status = answer.status;
    this.headers = answer.headers ?? {};
    this.body = answer.body;
  }
}

/** A refused request, for the page that reports the refusal. */
export interface RefusedRequest extends Services {
  params: Record<string, string>;
  query: Record<string, string>;
  request: IncomingMessage;
  address: string;
  requestId: string;
  /** The caller, if it was known before the refusal. */
  principal?: Principal;
  /** The content of the form; undefined if there was no form, or an unreadable one. */
  typed: unknown;
}

interface Declaration<
  Path extends string,
  Evidence,
  Query extends ShapeName | undefined,
  Body extends ShapeName | undefined,
  Response extends ShapeName | undefined,
> {
  /** The operation's name in the interface. */
  name: string;
  method: Method;
  path: Path;
  /** The API version that introduced it; 0 for operations outside the interface. */
  since: number;
  /** One sentence. */
  summary: string;
  access: Access<Evidence>;
  query?: Query;
  body?: Body;
  response?: Response;
  /**
   * Set if the response depends on the principal, the body and these records only: then it is cached until one of the records changes
   * (`fast-path.ts`). Its access rule must decide by the principal alone, as `account` does.
   */
  repeatable?: keyof StoreRecords['cacheGenerations'];
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
  /** The status of success; 200 by default, 204 for an empty response. */
  status?: number;
  /** Other statuses without a refusal, and their meaning. */
  also?: Readonly<Record<number, string>>;
  /**
   * Its own refusal codes. The record implies others: 400, 401 if a token is needed, 404 if the path has parameters, 413 and 415 if it
   * reads a body.
   */
  refuses?: readonly RefusalCode[];
  /** Statuses that ask the client for a proof, in the body of a refusal, and their meaning. */
  asks?: Readonly<Record<number, string>>;
  /** Whether people read its refusals: then they are pages, except for requests that none of our forms makes. */
  refusesWithPages?: true;
  /** The page that replaces any refusal, if the handler does not catch refusals itself. */
  refused?(refusal: Refusal, refusedRequest: RefusedRequest): OperationResponse | Promise<OperationResponse>;
  /** Headers of a successful response that clients read, in addition to those of every response. */
  headers?: readonly HeaderName[];
  /**
   * The media type of the request body; JSON by default. A form is parsed into an object of strings; the handler itself reads multipart
   * bodies and plain bytes.
   */
  consumes?:
    | 'application/json'
    | 'application/x-www-form-urlencoded'
    | 'multipart/form-data'
    | 'application/octet-stream'
    | 'application/x.ubuntu.assertion';
  /** Members of the query that may be given more than once; the handler gets one string with spaces between the values. */
  repeated?: string[];
  /** Media types of the response in addition to JSON, with a shape if they have one. */
  produces?: readonly string[] | Readonly<Record<string, ShapeName>>;
  /** Whether the body may be absent. */
  bodyOptional?: boolean;
  /** Maximum bytes of a JSON body; 1 MiB by default. */
  bodyLimit?: number;
  /** The error format of its refusals; `publisher` by default. */
  errors?: ErrorFamily;
  /** Whether it also exists below `/publishergw`; true by default. */
  prefixed?: boolean;
  handle(
    call: OperationCall<Path, Evidence, Query, Body>,
  ): Promise<Of<Response> | OperationResponse> | Of<Response> | OperationResponse;
}

/** An operation as the server, the documents and the tests see it. */
export interface Operation extends Omit<
  Declaration<string, object, ShapeName | undefined, ShapeName | undefined, ShapeName | undefined>,
  'handle' | 'access'
> {
  access: Access<object>;
  handle(call: never): unknown;
}

/** Whether it may be called without a token. */
export const isForAnyone = ({ access }: Operation): boolean => access.who.startsWith('anyone');

/** Operations that the documents describe together. */
export interface OperationSection {
  title: string;
  /** One sentence. */
  about: string;
  operations: Operation[];
}

/** Declares an operation; the types of the handler follow from the record. */
export const operation = <
  const Path extends string,
  Evidence,
  const Query extends ShapeName | undefined = undefined,
  const Body extends ShapeName | undefined = undefined,
  const Response extends ShapeName | undefined = undefined,
>(
  declaration: Declaration<Path, Evidence, Query, Body, Response>,
): Operation => declaration as unknown as Operation;
