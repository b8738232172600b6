// A request on its way to its response: the state that the steps of `answer.ts` share, and its line in the log.
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { logAnswered } from '#platform/log.ts';
import { noteAnswered } from '#platform/nursery.ts';
import { clientAddress, toBlockList } from './request/client-address.ts';
import type { ErrorFamily } from './error-responses.ts';
import type { ServerServices } from './services.ts';

const prefix = '/publishergw';

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  address: string;
  requestId: string;
  /** When the request arrived, by `performance.now()`. */
  started: number;
  /** The path without the alternative prefix of the interface. */
  path: string;
  /** Whether the path began with the prefix. */
  prefixed: boolean;
  /** The query string. */
  search: string;
  params: Record<string, string>;
  /** The members of the query; a repeated member has been refused. */
  query: Record<string, string>;
  /** The operation's name, or `none` if the address has no operation. */
  operation: string;
  /** The error format; follows from the address alone until the operation is found. */
  errors: ErrorFamily | undefined;
  /** The methods of the address, if the request has another one. */
  allow: string | undefined;
  /** The caller, when it is known. */
  principal: Principal | undefined;
  /** The error that the response reports. */
  failure: unknown;
}

/** The state of a request before it is examined. */
export function beginExchange(request: IncomingMessage, response: ServerResponse, services: ServerServices): Exchange {
  const { trusted_proxies: trusted } = services.config.http;
  services.unknownProxies.see(request, trusted);
  const { url = '' } = request;
  const end = url.indexOf('?');
  const whole = end < 0 ? url : url.slice(0, end);
  const prefixed = whole === prefix || whole.startsWith(`${prefix}/`);
  return {
    request,
    response,
    address: clientAddress(request, toBlockList(trusted)),
    requestId: services.newId.uuid(),
    started: performance.now(),
    path: prefixed ? whole.slice(prefix.length) || '/' : whole,
    prefixed,
    search: end < 0 ? '' : url.slice(end + 1),
    params: {},
    query: {},
    operation: 'none',
    errors: undefined,
    allow: undefined,
    principal: undefined,
    failure: undefined,
  };
}

/** Counts a finished request, and writes its log line. `aborted` is set if the client disconnected before the end of the response. */
export function concludeExchange(
  { request, requestId, address, started, operation, principal, failure }: Exchange,
  { status, aborted }: { status: number; aborted: boolean },
  { metrics, lastHour, log }: ServerServices,
): void {
  const milliseconds = performance.now() - started;
  const refusal = failure instanceof Refusal ? failure : undefined;
  metrics.answered({ operation, status, refusal: refusal?.code, seconds: milliseconds / 1000 });
  lastHour.count(status);
  noteAnswered();
  const line = {
    request: requestId,
    operation,
    method: request.method ?? '',
    status,
    account: principal?.accountId,
    address,
    ms: Math.round(milliseconds * 10) / 10,
  };
  if (failure === undefined && !aborted) return logAnswered(log, line);
  const details = {
    ...line,
    ...(refusal && { refusal: refusal.code, reason: refusal.message }),
    ...(aborted && { aborted }),
  };
  if (failure === undefined || refusal) log.info(details, 'answered');
  else log.error({ ...details, err: failure }, 'failed');
}
