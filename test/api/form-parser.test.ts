// Forms in pieces of every size: what lies between two boundaries comes out as it went in.
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import t from 'tap';

import { FormParser } from '#api/form-parser.ts';

interface Part {
  name: string | undefined;
  fileName: string | undefined;
  content: string;
}

/** What comes out of a form that is handed in by these pieces; each part that did not come whole says so. */
function parse(boundary: string, pieces: Buffer[]): { parts: Part[]; isWhole: boolean } {
  const parts: Part[] = [];
  const parser = new FormParser(boundary, {
    part: (name, fileName) => void parts.push({ name, fileName, content: '(not whole) ' }),
    content: (bytes) => void (parts.at(-1)!.content += bytes.toString('latin1')),
    end: () => void (parts.at(-1)!.content = parts.at(-1)!.content.replace('(not whole) ', '')),
  });
  for (const piece of pieces) parser.push(piece);
  return { parts, isWhole: parser.isWhole };
}

const form = (boundary: string, contents: string[], preamble = '', epilogue = '\r\n'): string =>
  preamble +
  contents
    .map((content, nth) => `--${boundary}\r\nContent-Disposition: form-data; name="part${nth}"\r\n\r\n${content}\r\n`)
    .join('') +
  `--${boundary}--${epilogue}`;

const one = (headers: string): Part | undefined =>
  parse('b', [Buffer.from(`--b\r\n${headers}\r\n\r\nhello\r\n--b--`)]).parts[0];

t.test('a form may be cut anywhere', async () => {
  const boundary = fc.constantFrom('b', '-', '--', 'b0undary', '0a4b6c2f4c6e4a7f8f5a9a1b2c3d4e5f');
  const cases = fc.record({
    boundary,
    preamble: fc.constantFrom('', '\r\n', 'before\r\n', '\r', '-\r\n', '\r\n\r\n'),
    epilogue: fc.constantFrom('', '\r\n'),
    contents: fc.array(
      fc
        .array(
          fc.oneof(
            fc.constantFrom('\r\n', '\r', '\n', '--', '-', '\r\n-', '\r\n--', '\r\r\n-', 'b0', '0a4b'),
            fc.string(),
          ),
        )
        .map((pieces) => pieces.join('')),
      { maxLength: 4 },
    ),
    cuts: fc.array(fc.nat(600), { maxLength: 8 }),
  });
  fc.assert(
    fc.property(cases, ({ boundary, preamble, epilogue, contents, cuts }) => {
      fc.pre(!contents.some((content) => `\r\n${content}\r\n`.includes(`\r\n--${boundary}`)));
      fc.pre(contents.length > 0 || preamble === '' || preamble.endsWith('\r\n'));
      fc.pre(preamble === '' || preamble.endsWith('\r\n'));
      const text = Buffer.from(form(boundary, contents, preamble, epilogue));
      const ends = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
      const pieces = ends.slice(1).map((end, nth) => text.subarray(ends[nth], end));
      const bytewise = Array.from(text, (byte) => Buffer.of(byte));
      const wanted = {
        parts: contents.map((content, nth) => ({
          name: `part${nth}`,
          fileName: undefined,
          content: Buffer.from(content).toString('latin1'),
        })),
        isWhole: true,
      };
      for (const cut of [pieces, bytewise, [text]]) {
        if (JSON.stringify(parse(boundary, cut)) !== JSON.stringify(wanted)) return false;
      }
      return true;
    }),
    { numRuns: process.env['LARDER_LONG'] === '1' ? 20_000 : 1000 },
  );
});

t.test('what is content from its beginning to its end is handed on and not copied', async (t) => {
  const chunks = [randomBytes(65_536), randomBytes(65_536)];
  const handedOn: Buffer[] = [];
  const parser = new FormParser('0a4b6c2f4c6e4a7f', {
    part: () => undefined,
    content: (bytes) => void handedOn.push(bytes),
    end: () => undefined,
  });
  parser.push(Buffer.from('--0a4b6c2f4c6e4a7f\r\nContent-Disposition: form-data; name="binary"\r\n\r\n'));
  for (const chunk of chunks) parser.push(chunk);
  t.equal(parser.isWhole, false);
  t.equal(handedOn.length, 2);
  for (const [nth, { buffer, length }] of handedOn.entries()) {
    t.equal(buffer, chunks[nth]?.buffer);
    t.equal(length, 65_536);
  }
});

t.test('parts are named as their headers say', async (t) => {
  const disposition = 'Content-Disposition: form-data; ';
  t.match(one(`${disposition}name="binary"; filename="hello_1.0.snap"`), {
    name: 'binary',
    fileName: 'hello_1.0.snap',
  });
  t.match(one(`content-DISPOSITION:form-data;name=binary;filename=""`), { name: 'binary', fileName: '' });
  t.match(one(`X: y\r\n${disposition}name="a \\"quoted\\" name"\r\nContent-Type: text/plain`), {
    name: 'a "quoted" name',
  });
  t.match(one(`${disposition}name="bläh"; filename*=utf-8''%C3%A4`), { name: 'bläh', fileName: "utf-8''%C3%A4" });
  t.match(one(`${disposition}filename="; name=no"`), { name: undefined, fileName: '; name=no' });
  t.match(one(`${disposition}filename="a;b"; name="binary"`), { name: 'binary' });
  t.match(one('Content-Disposition: attachment; name="binary"'), { name: undefined, fileName: undefined });
  t.match(one('X-Content-Disposition: form-data; name="binary"'), { name: undefined });
  t.match(one('X: y'), { name: undefined, content: 'hello' });
  t.match(parse('b', [Buffer.from('--b\r\n\r\nhello\r\n--b--')]).parts, [{ name: undefined, content: 'hello' }]);
});

t.test('what is no form is refused', async (t) => {
  const refused = (text: string, message: string | RegExp): void => {
    for (const pieces of [[Buffer.from(text)], Array.from(Buffer.from(text), (byte) => Buffer.of(byte))])
      t.throws(() => parse('b', pieces), { code: 'api-error', message }, JSON.stringify(text.slice(0, 40)));
  };
  refused('--b?\r\n', 'A boundary of the form is followed by something else.');
  refused('--b-\r\n', 'A boundary of the form is followed by something else.');
  refused(`--b${' '.repeat(200)}\r\n`, 'A boundary of the form is followed by something else.');
  refused(`--b\r\nX: ${'y'.repeat(16_500)}`, 'A part of the form has more than 16384 bytes of headers.');
  refused('--b--\r\n\r\n', 'The form goes on behind its closing boundary.');
  refused('--b--x', 'The form goes on behind its closing boundary.');
  t.same(
    parse('b', [Buffer.from('--b \t\r\n\r\nhello\r\n--b--')]).isWhole,
    true,
    'spaces behind a boundary are no matter',
  );
  for (const text of ['', 'hello', '--b', '--b-', '--b\r\nX: y\r\n\r\nhello\r\n--b'])
    t.equal(parse('b', [Buffer.from(text)]).isWhole, false, text);
});

t.test('many quotes and semicolons cost little', async (t) => {
  const began = process.cpuUsage();
  for (const unit of [';a="\\"', ';a=', '; ', '";', '\\"', ';a="']) {
    const tricky = `Content-Disposition: form-data${unit.startsWith(';') ? '' : ';'}${unit.repeat(Math.floor(16_000 / unit.length))}`;
    one(tricky);
  }
  const { user, system } = process.cpuUsage(began);
  t.ok((user + system) / 1000 < 2000, `${(user + system) / 1000} ms`);
});
