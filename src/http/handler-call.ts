// Builds the argument of a handler. It inherits the services, because copying all members costs 6 µs of processor time per request, a
// twentieth of a read (`npm run bench -- tricks`).
import type { Exchange } from './exchange.ts';
import type { RefusedRequest } from './operation.ts';
import type { ServerServices } from './services.ts';

type RequestParts = Pick<Exchange, 'params' | 'query' | 'request' | 'response' | 'address' | 'requestId'>;

const partsOf = ({ params, query, request, response, address, requestId }: Exchange): RequestParts => ({
  params,
  query,
  request,
  response,
  address,
  requestId,
});

/**
 * The argument of the handler of an operation; its type follows from the record of the operation. Assigned member by member, because objects in
 * between take 5 % of a question of a gateway (`npm run bench -- permissions`).
 */
export function handlerCall(services: ServerServices, evidence: object, exchange: Exchange, body: unknown): never {
  const call = Object.assign(Object.create(services) as RequestParts & { body: unknown }, evidence);
  call.params = exchange.params;
  call.query = exchange.query;
  call.request = exchange.request;
  call.response = exchange.response;
  call.address = exchange.address;
  call.requestId = exchange.requestId;
  call.body = body;
  return call as never;
}

/** The argument of the page that reports a refusal. */
export const refusedRequest = (services: ServerServices, exchange: Exchange, typed: unknown): RefusedRequest => {
  const { principal } = exchange;
  const parts = { ...partsOf(exchange), ...(principal && { principal }), typed };
  return Object.assign(Object.create(services) as object, parts) as unknown as RefusedRequest;
};
