// Bare node:http, which reads a JSON body and answers the given JSON: the upper bound for everything built on it.
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { secureContext } from '#tls/settings.ts';

const [, , answer = '{}', certificate, key] = process.argv;
const body = Buffer.from(answer);
const serve: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
};
const server =
  certificate === undefined || key === undefined
    ? createServer(serve)
    : createTlsServer(
        secureContext({ certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') }) ?? {},
        serve,
      );
server.keepAliveTimeout = 600_000; // a client that measures waits for its turn
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', () => process.exit(0));
