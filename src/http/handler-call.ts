// Builds the argument of a handler. It inherits the services, because copying all members costs 6 µs of processor time per request, a
// twentieth of a read (`npm run bench -- tricks`).
import type { Exchange } from './exchange.ts';
import type { RefusedRequest } from './operation.ts';
import type { ServerServices } from './services.ts';

type RequestParts = Pick<Exchange, 'params' | 'query' | 'request' | 'response' | 'address' | 'requestId'>;

/** Assigned member by member, because objects in between take 5 % of a question of a gateway (`npm run bench -- permissions`). */
function callOf<Rest extends object>(services: ServerServices, rest: Rest, exchange: Exchange): Rest & RequestParts {
  const call = Object.assign(Object.create(services) as RequestParts, rest);
  call.params = exchange.params;
  call.query = exchange.query;
  call.request = exchange.request;
  call.response = exchange.response;
  call.address = exchange.address;
  call.requestId = exchange.requestId;
  return call;
}

/** The argument of the handler of an operation; its type follows from the record of the operation. */
export function handlerCall(services: ServerServices, evidence: object, exchange: Exchange, body: unknown): never {
  const call: RequestParts & { body?: unknown } = callOf(services, evidence, exchange);
  call.body = body;
  return call as never;
}

/** The argument of the page that reports a refusal. */
export const refusedRequest = (services: ServerServices, exchange: Exchange, typed: unknown): RefusedRequest => {
  const { principal } = exchange;
  return callOf(services, { ...(principal && { principal }), typed }, exchange) as unknown as RefusedRequest;
};
