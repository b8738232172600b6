// Own process: it watches the memory of the process.
import fc from 'fast-check';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { lengthOf, type Chunks } from '#blobs/blobs.ts';
import { closeAfterResponse, receiveUpload } from '#http/request/multipart.ts';
import { Refusal } from '#domain/refusal.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { piece, sendLargeUpload, startUploadServer } from './large-upload.ts';

const MiB = 1024 * 1024;
const long = process.env['LARDER_LONG'] === '1';
const timeoutMs = 600_000;
if (long) t.setTimeout(timeoutMs);

type Receive = (content: AsyncIterable<Chunks>, expected: number | undefined) => Promise<Buffer>;

interface Options {
  limit?: number;
  idle?: number;
  receive?: Receive;
}

const gather: Receive = async (content) => {
  const chunks = [];
  for await (const more of content) chunks.push(...more);
  return Buffer.concat(chunks);
};

/** A plain server with one operation: it takes an upload and answers with the digest, or with the refusal. */
async function storage(t: Test, { limit = 10 * MiB, idle = 10_000, receive = gather }: Options = {}) {
  /** The outcome of each upload: the file, or the reason of its refusal. */
  const outcomes: unknown[] = [];
  /** How many receivers have begun and not come to their end. */
  let receiving = 0;
  const server = createServer(async (request, response) => {
    try {
      const file = await receiveUpload(request, response, {
        field: 'binary',
        limit,
        idle,
        receive: async (content, expected) => {
          receiving += 1;
          try {
            return await receive(content, expected);
          } finally {
            receiving -= 1;
          }
        },
      });
      outcomes.push(file);
      response.end(createHash('sha256').update(file).digest('hex'));
    } catch (error) {
      outcomes.push(
        receiving === 0 ? error : new Error('refused while the receiver was still at work', { cause: error }),
      );
      response.statusCode = error instanceof Refusal ? error.status : 500;
      response.end(error instanceof Refusal ? `${error.code}: ${error.message}` : String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, outcomes };
}

const multipart = 'multipart/form-data; boundary=b0undary';

function part(
  name: string | undefined,
  content: string | Buffer,
  fileName?: string,
  type = 'application/octet-stream',
) {
  const names = [name === undefined ? [] : `name="${name}"`, fileName === undefined ? [] : `filename="${fileName}"`];
  const head = `--b0undary\r\nContent-Disposition: ${['form-data', ...names.flat()].join('; ')}\r\n`;
  const kind = fileName === undefined ? '' : `Content-Type: ${type}\r\n`;
  return Buffer.concat([Buffer.from(`${head}${kind}\r\n`), Buffer.from(content), Buffer.from('\r\n')]);
}

const end = Buffer.from('--b0undary--\r\n');
const form = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, end]);
const binary = (content: string | Buffer): Buffer => part('binary', content, 'hello.snap');

/**
 * Opens a connection and sends the head of an upload; all received bytes are gathered until the connection is closed. A
 * stubborn sender keeps sending after the other side has stopped, like the stock clients.
 */
function dial(port: number, headers: string[], stubborn = false): { socket: Socket; answer: Promise<string> } {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: stubborn });
  socket.write(['POST / HTTP/1.1', 'Host: larder', ...headers, '', ''].join('\r\n'));
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  return { socket, answer: new Promise((resolve) => socket.on('close', () => resolve(text))) };
}

async function post(port: number, body: Buffer, type: string = multipart, ...more: string[]) {
  const headers = type === '' ? [] : [`Content-Type: ${type}`];
  const { socket, answer } = dial(port, [...headers, `Content-Length: ${body.length}`, 'Connection: close', ...more]);
  socket.write(body);
  return answered(await answer);
}

function answered(text: string): { status: number; body: string; head: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: rest.join('\r\n\r\n'), head: head.toLowerCase() };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const refused = (code: string, sentence: string | RegExp) => ({
  status: code === 'request-too-large' ? 413 : code === 'unsupported-media-type' ? 415 : 400,
  body: sentence instanceof RegExp ? sentence : `${code}: ${sentence}`,
});

t.test('a file arrives byte for byte', async (t) => {
  const { port, outcomes } = await storage(t);
  const file = randomBytes(3 * MiB + 11);
  t.match(await post(port, form(binary(file))), { status: 200, body: sha256(file) });
  t.ok(file.equals(outcomes[0] as Buffer));
});

t.test('a complete form is accepted when its sender ends it', async (t) => {
  const whole = Promise.withResolvers<void>();
  const receive: Receive = async (content) => {
    const chunks = [];
    for await (const more of content) {
      chunks.push(...more);
      whole.resolve();
    }
    return Buffer.concat(chunks);
  };
  const { port } = await storage(t, { receive });
  const { socket, answer } = dial(port, [
    `Content-Type: ${multipart}`,
    'Transfer-Encoding: chunked',
    'Connection: close',
  ]);
  const body = form(binary('hello'));
  socket.write(Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]));
  await whole.promise;
  socket.write('0\r\n\r\n');
  t.match(answered(await answer), { status: 200, body: sha256(Buffer.from('hello')) });
});

t.test('a form as the stock clients write it is taken', async (t) => {
  const { port } = await storage(t);
  const boundary = '0a4b6c2f4c6e4a7f8f5a9a1b2c3d4e5f';
  const body =
    `--${boundary}\r\nContent-Disposition: form-data; name="binary"; filename="hello_1.0_amd64.snap"\r\n` +
    `Content-Type: application/octet-stream\r\n\r\nhsqs\r\n--${boundary}--\r\n`;
  t.match(
    await post(port, Buffer.from(body), `multipart/form-data; boundary=${boundary}`, 'Accept: application/json'),
    {
      status: 200,
      body: sha256(Buffer.from('hsqs')),
    },
  );
});

t.test('an empty file is legal', async (t) => {
  const { port, outcomes } = await storage(t);
  t.match(await post(port, form(binary(''))), { status: 200 });
  t.match(await post(port, form(part('binary', ''))), { status: 200 });
  t.same(outcomes, [Buffer.alloc(0), Buffer.alloc(0)]);
});

t.test('neither the content nor the way it is cut into packets changes the file', async (t) => {
  const { port, outcomes } = await storage(t);
  const treacherous = fc.constantFrom(
    '\r\n',
    '--',
    '\r\n--b0undar',
    '\r\n--',
    '--b0undary',
    '\r\n\r\n',
    '\n--b0undary--',
    '-',
  );
  const content = fc
    .array(fc.oneof(treacherous, fc.string({ maxLength: 20 })), { maxLength: 12 })
    .map((pieces) => pieces.join('x'))
    .filter((text) => !text.includes('\r\n--b0undary') && !text.startsWith('--b0undary'));
  await fc.assert(
    fc.asyncProperty(content, fc.array(fc.nat({ max: 400 }), { maxLength: 5 }), async (text, cuts) => {
      const body = form(binary(text));
      const { socket, answer } = dial(port, [
        `Content-Type: ${multipart}`,
        `Content-Length: ${body.length}`,
        'Connection: close',
      ]);
      socket.setNoDelay();
      let at = 0;
      for (const cut of [...cuts.sort((a, b) => a - b), body.length]) {
        socket.write(body.subarray(at, cut));
        at = Math.max(at, Math.min(cut, body.length));
        await new Promise(setImmediate);
      }
      const { status } = answered(await answer);
      return status === 200 && Buffer.from(text).equals(outcomes.at(-1) as Buffer);
    }),
    { numRuns: long ? 3000 : 20 },
  );
});

t.test('every boundary that RFC 2046 permits is understood', async (t) => {
  const { port, outcomes } = await storage(t);
  const permitted = Array.from("0123456789abcxyzABCXYZ'()+_,-./:=?");
  const boundaries = fc.string({ unit: fc.constantFrom(...permitted, ' '), minLength: 1, maxLength: 70 });
  await fc.assert(
    fc.asyncProperty(
      boundaries.filter((boundary) => !boundary.endsWith(' ')),
      async (boundary) => {
        const body = form(binary('hello'))
          .toString()
          .replaceAll('b0undary', () => boundary);
        const { status } = await post(port, Buffer.from(body), `multipart/form-data; boundary="${boundary}"`);
        return status === 200 && String(outcomes.at(-1)) === 'hello';
      },
    ),
    { numRuns: long ? 3000 : 20 },
  );
});

t.test('the receiver gets the announced size', async (t) => {
  const expectedSizes: unknown[] = [];
  const receive: Receive = (content, expected) => {
    expectedSizes.push(expected);
    return gather(content, expected);
  };
  const { port } = await storage(t, { receive });
  const body = form(binary('hello'));
  await post(port, body);
  const { socket, answer } = dial(port, [
    `Content-Type: ${multipart}`,
    'Transfer-Encoding: chunked',
    'Connection: close',
  ]);
  socket.write(`${body.length.toString(16)}\r\n${body.toString()}\r\n0\r\n\r\n`);
  t.match(answered(await answer), { status: 200, body: sha256(Buffer.from('hello')) });
  t.same(expectedSizes, [body.length, undefined]);
});

t.test('small text fields around the file are ignored', async (t) => {
  const { port, outcomes } = await storage(t);
  const body = form(part('updown_id', '1'), binary('hello'), part('__proto__', 'x'.repeat(8192)), part('binary2', ''));
  t.match(await post(port, body), { status: 200 });
  t.equal(String(outcomes[0]), 'hello');
});

t.test('a form without its one file is refused', async (t) => {
  const { port } = await storage(t);
  const missing = refused('api-error', "The form has no file named 'binary'.");
  t.match(await post(port, form()), missing, 'an empty form');
  t.match(await post(port, form(part('other', 'text'))), missing, 'fields only');
  t.match(await post(port, form(Buffer.from('--b0undary\r\nX: y\r\n\r\nhello\r\n'))), missing, 'a part without a name');
  const padding = `X-Padding: ${'x'.repeat(20_000)}\r\n`;
  const padded = binary('hello').toString().replace('Content-Disposition', `${padding}Content-Disposition`);
  t.match(await post(port, form(Buffer.from(padded))), missing, 'a name behind more headers than are read');

  const misnamed = refused('api-error', "The form has a file that is not named 'binary'.");
  t.match(await post(port, form(part('file', 'hello', 'hello.snap'))), misnamed);
  t.match(await post(port, form(part(undefined, 'hello', 'hello.snap'))), misnamed);
  const several = refused('api-error', 'The form has more than one file.');
  t.match(await post(port, form(binary('hello'), binary('again'))), several);
  t.match(await post(port, form(binary('hello'), part('file', 'again', 'again.snap'))), several);
});

t.test('a form with many further parts is refused', async (t) => {
  const { port } = await storage(t);
  const field = part('note', 'x'.repeat(8193));
  t.match(
    await post(port, form(binary('hello'), field)),
    refused('api-error', 'A text field of the form has more than 8192 bytes.'),
  );
  const fields = Array.from({ length: 17 }, (_, nth) => part(`f${nth}`, ''));
  t.match(await post(port, form(...fields, binary('hello'))), {
    status: 400,
    body: /more than 1[67] (text fields|parts)/,
  });
  const preamble = Buffer.alloc(3 * MiB, 'x');
  t.match(
    await post(port, Buffer.concat([preamble, Buffer.from('\r\n'), form(binary('hello'))])),
    refused('api-error', 'The form contains too much data in addition to its file.'),
  );
});

t.test('a body that is no form, or a form of no known boundary, is refused unread', async (t) => {
  const { port, outcomes } = await storage(t);
  const body = form(binary('hello'));
  const wrongType = refused('unsupported-media-type', /^unsupported-media-type: Send the file as multipart/);
  for (const type of [
    '',
    'application/json',
    'multipart/mixed; boundary=b0undary',
    'multipart/form-datax; boundary=b0undary',
  ]) {
    t.match(await post(port, body, type), wrongType, type);
  }
  t.match(await post(port, body, multipart, 'Content-Encoding: gzip'), wrongType);
  t.match(await post(port, body, multipart, 'Content-Encoding: identity'), { status: 200 });
  const wrongBoundary = refused('api-error', /^api-error: The Content-Type header must name one boundary/);
  for (const parameters of [
    '',
    '; boundary=',
    '; boundary=""',
    `; boundary=${'b'.repeat(71)}`,
    '; boundary=a; boundary=b',
    '; boundary="a',
    '; boundary=b{',
    '; boundary="b "',
  ]) {
    t.match(await post(port, body, `multipart/form-data${parameters}`), wrongBoundary, parameters);
  }
  t.match(await post(port, body, 'Multipart/Form-Data; charset=utf-8; BOUNDARY="b0undary"'), { status: 200 });
  t.equal(outcomes.filter((outcome) => Buffer.isBuffer(outcome)).length, 2);
});

t.test('a form that is cut off or continues after its end is refused', async (t) => {
  const { port } = await storage(t);
  const whole = form(binary('hello'));
  const cut = refused('api-error', 'The form is cut off: its closing boundary is missing.');
  for (const length of [0, 5, 40, 120, whole.length - 6])
    t.match(await post(port, whole.subarray(0, length)), cut, `at ${length}`);
  t.match(await post(port, whole.subarray(0, -2)), { status: 200 }, 'the last line break may be missing');
  const beyond = refused('api-error', 'The form continues after its closing boundary.');
  for (const epilogue of ['junk', '\r\n', '\r\nThis is the epilogue.\r\nIt is to be ignored.\r\n']) {
    t.match(await post(port, Buffer.concat([whole, Buffer.from(epilogue)])), { status: 200 }, JSON.stringify(epilogue));
  }
  t.match(await post(port, Buffer.concat([whole.subarray(0, -2), Buffer.from(' \t\r\n')])), { status: 200 }, 'padding');
  t.match(await post(port, Buffer.concat([whole.subarray(0, -2), Buffer.from('junk')])), beyond);
  t.match(await post(port, Buffer.concat([whole, Buffer.alloc(2000)])), beyond, 'a long epilogue hides something');
  t.match(await post(port, Buffer.concat([whole, Buffer.from('x'), whole.subarray(-20)])), beyond, 'a second end');
  t.match(
    await post(port, Buffer.concat([whole, randomBytes(MiB), whole.subarray(-20)])),
    beyond,
    'far behind the first',
  );
  t.match(await post(port, Buffer.concat([whole, binary('again'), end.subarray(2)])), beyond);
  t.match(await post(port, Buffer.concat([whole, randomBytes(MiB)])), beyond);
});

t.test('a file that is too large is refused before it is sent, if its size was announced', async (t) => {
  const { port, outcomes } = await storage(t, { limit: MiB });
  const { socket, answer } = dial(port, [`Content-Type: ${multipart}`, `Content-Length: ${4 * MiB}`]);
  const { status, head } = answered(await answer);
  t.equal(status, 413);
  t.match(head, /connection: close/);
  t.match(outcomes, [
    { code: 'request-too-large', message: 'The file is larger than the 1048576 bytes this store accepts.' },
  ]);
  socket.destroy();
});

t.test('a file without an announced size is refused if it is too large', async (t) => {
  const { port } = await storage(t, { limit: MiB });
  const { socket, answer } = dial(port, [`Content-Type: ${multipart}`, 'Transfer-Encoding: chunked']);
  const head = binary('').subarray(0, -2).toString();
  socket.write(`${head.length.toString(16)}\r\n${head}\r\n`);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const sending = setInterval(() => {
    socket.write(`10000\r\n`);
    socket.write(chunk);
    socket.write('\r\n');
  }, 1);
  t.equal(answered(await answer).status, 413);
  clearInterval(sending);
});

t.test('a refusal of the receiver is answered while the sender is still sending', async (t) => {
  const receive: Receive = async (content) => {
    let size = 0;
    for await (const chunks of content) {
      size += lengthOf(chunks);
      if (size > MiB) throw new Refusal('insufficient-storage', 'The disk is full.', 300);
    }
    return Buffer.alloc(0);
  };
  const { port, outcomes } = await storage(t, { receive, limit: 100 * MiB });
  const body = form(binary(Buffer.alloc(12 * MiB)));
  const { socket, answer } = dial(port, [`Content-Type: ${multipart}`, `Content-Length: ${body.length}`], true);
  let broken = false;
  socket.once('error', () => (broken = true));
  socket.end(body);
  t.match(answered(await answer), {
    status: 507,
    body: 'insufficient-storage: The disk is full.',
    head: /connection: close/,
  });
  t.equal(broken, false, 'the connection was closed, not broken');
  t.match(outcomes, [{ code: 'insufficient-storage' }]);
});

/** A server that refuses everything unread. */
async function refuser(t: Test, atMost?: { bytes: number; milliseconds: number }): Promise<number> {
  const server = createServer((request, response) => {
    closeAfterResponse(request, response, atMost);
    response.writeHead(429).end('later');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}

t.test('any refusal can be answered over an unread body', async (t) => {
  const port = await refuser(t);
  const { socket, answer } = dial(port, ['Content-Length: 4000000'], true);
  await once(socket, 'end');
  let broken = false;
  socket.once('error', () => (broken = true));
  socket.end(Buffer.alloc(4_000_000));
  t.match(answered(await answer), { status: 429, head: /connection: close/ });
  t.equal(broken, false);

  const response = await fetch(`http://127.0.0.1:${port}/`);
  t.equal(response.status, 429);
  t.equal(response.headers.get('connection'), 'keep-alive', 'a request without a body keeps its connection');
  await response.text();
});

t.test('a refused sender is read for a while only', async (t) => {
  const much = await refuser(t, { bytes: 10 * MiB, milliseconds: 60_000 });
  const { socket, answer } = dial(much, [`Content-Length: ${1024 * MiB}`], true);
  const chunk = Buffer.alloc(MiB);
  let sent = 0;
  const send = (): void => {
    while (socket.writable && sent < 1024 * MiB && socket.write(chunk)) sent += chunk.length;
  };
  socket.on('drain', send);
  send();
  t.equal(answered(await answer).status, 429);
  t.ok(sent < 100 * MiB, `${sent} bytes were sent`);

  const slow = await refuser(t, { bytes: 10 * MiB, milliseconds: 50 });
  const silent = dial(slow, [`Content-Length: ${MiB}`], true);
  silent.socket.on('end', () => setInterval(() => silent.socket.write('x'), 10).unref());
  t.equal(answered(await silent.answer).status, 429);
});

t.test('a sender who goes away leaves nothing', async (t) => {
  const { port, outcomes } = await storage(t);
  for (const bytes of [0, 10, 150, 100_000]) {
    const body = form(binary(randomBytes(200_000)));
    const { socket } = dial(port, [`Content-Type: ${multipart}`, `Content-Length: ${body.length}`]);
    socket.write(body.subarray(0, bytes));
    await delay(30);
    socket.resetAndDestroy();
    const before = outcomes.length;
    while (outcomes.length === before) await delay(5);
    t.match(outcomes.at(-1), {
      code: 'api-error',
      message: 'The connection closed before the whole upload had arrived.',
    });
  }
});

t.test('a stalled upload is abandoned', async (t) => {
  const { port, outcomes } = await storage(t, { idle: 100 });
  for (const bytes of [0, 10, 150, 100_000]) {
    const body = form(binary(randomBytes(200_000)));
    const { socket, answer } = dial(port, [`Content-Type: ${multipart}`, `Content-Length: ${body.length}`]);
    socket.write(body.subarray(0, bytes));
    t.match(
      answered(await answer),
      refused('api-error', 'The upload was idle for 0.1 seconds and was abandoned.'),
      `after ${bytes} bytes`,
    );
  }
  t.equal(outcomes.length, 4);
});

t.test('a slow upload that moves is never cut off', async (t) => {
  const { port, outcomes } = await storage(t, { idle: 500 });
  const body = form(binary('hello'));
  const { socket, answer } = dial(port, [
    `Content-Type: ${multipart}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]);
  socket.setNoDelay();
  for (let at = 0; at < body.length; at += 15) {
    socket.write(body.subarray(at, at + 15));
    await delay(50);
  }
  t.equal(answered(await answer).status, 200);
  t.equal(String(outcomes[0]), 'hello');
});

largeTest('a slow receiver does not count against the sender', async (t) => {
  const receive: Receive = async (content, expected) => {
    await delay(400);
    const file = await gather(content, expected);
    await delay(400);
    return file;
  };
  const { port } = await storage(t, { idle: 100, receive });
  for (const size of [10, 8 * MiB]) {
    const file = randomBytes(size);
    t.match(await post(port, form(binary(file))), { status: 200, body: sha256(file) }, `of ${size} bytes`);
  }
});

largeTest('a slow receiver makes the sender wait', async (t) => {
  const gate = Promise.withResolvers<void>();
  const receive: Receive = async (content, expected) => {
    await gate.promise;
    return gather(content, expected);
  };
  const { port } = await storage(t, { receive, limit: 100 * MiB });
  const file = Buffer.alloc(64 * MiB);
  const body = form(binary(file));
  const { socket, answer } = dial(port, [
    `Content-Type: ${multipart}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]);
  socket.write(body);
  await delay(300);
  const left = socket.writableLength;
  t.ok(left > 0, 'the sender could not send everything');
  gate.resolve();
  t.match(answered(await answer), { status: 200, body: sha256(file) });
});

largeTest('many stalled uploads together use little memory', async (t) => {
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const receive: Receive = async (content, expected) => {
    begun++;
    await gate.promise;
    return Buffer.from(String((await gather(content, expected)).length));
  };
  const { port } = await storage(t, { receive });
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  /** The memory of buffers is returned a while after their use. */
  const tidyUp = async (): Promise<void> => {
    for (let time = 0; time < 5; time++) {
      gc();
      await delay(20);
    }
  };
  await tidyUp();
  const before = process.memoryUsage().arrayBuffers;
  const body = form(binary(Buffer.alloc(4 * MiB)));
  const sending = Array.from({ length: 100 }, () => {
    const sent = dial(port, [`Content-Type: ${multipart}`, `Content-Length: ${body.length}`, 'Connection: close']);
    sent.socket.write(body);
    return sent;
  });
  // All have come to rest when nothing has come for a while.
  const buffers = (): number => process.memoryUsage().arrayBuffers;
  for (let last = -1; begun < sending.length || last !== buffers();) {
    last = buffers();
    await delay(300);
  }
  await tidyUp();
  const held = buffers() - before;
  t.ok(held < 80 * MiB, `${held} bytes of ${(sending.length * body.length) / MiB} MiB`);
  gate.resolve();
  const digest = sha256(Buffer.from(String(4 * MiB)));
  for (const { answer } of sending) t.match(answered(await answer), { status: 200, body: digest });
});

t.test('a receiver that throws at once or leaves early is our fault, and the sender is answered', async (t) => {
  const thrower: Receive = () => {
    throw new Error('broken');
  };
  const leaver: Receive = async () => Buffer.alloc(0);
  for (const receive of [thrower, leaver]) {
    const { port, outcomes } = await storage(t, { receive });
    t.match(await post(port, form(binary(randomBytes(3 * MiB)))), { status: 500 });
    t.match(outcomes, [{ message: /broken|left early/ }]);
  }
});

largeTest('an upload larger than memory is received in little of it', async (t) => {
  if (long) t.setTimeout(timeoutMs);
  // More than the memory that it may take.
  const pieces = long ? 8192 : 320;
  const directory = await mkdtemp(join(tmpdir(), 'larder-upload-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const server = await startUploadServer(directory);
  t.teardown(() => server.stop());

  const hash = createHash('sha256');
  for (let nth = 0; nth < pieces; nth += 1) hash.update(piece);
  t.match(await sendLargeUpload(server.port, pieces), { size: pieces * MiB, sha256: hash.digest('hex') });
  const { peak, buffers } = await server.memory();
  t.ok(peak <= 256_000_000, `${peak} bytes of memory at most`);
  t.ok(buffers <= 4 * MiB, `${buffers} bytes of buffers are left, which nobody had to tidy up`);
  t.comment(`${peak} bytes of memory for ${pieces} MiB`);
  t.same(await readdir(join(directory, 'blobs/tmp')), []);
});
