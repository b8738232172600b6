import t from 'tap';

import { pngHeader } from '#test/fixtures/packages/png-header.ts';
import { iconMediaType, iconName, maxIconBytes, readIcon } from '#review/icon.ts';

function iconOf(bytes: Uint8Array) {
  const icon = readIcon(bytes);
  return typeof icon === 'string' ? undefined : icon;
}
const typeOf = (content: string | Uint8Array) =>
  iconOf(typeof content === 'string' ? new TextEncoder().encode(content) : content)?.mediaType;
const root = 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"';
const drawn = (inner: string) => `<svg ${root} xmlns:xlink="http://www.w3.org/1999/xlink">${inner}</svg>`;

t.test('a picture is recognized by its first bytes, and named by its type', async (t) => {
  for (const [bytes, mediaType, ending] of [
    ['89504e470d0a1a0a00', 'image/png', 'png'],
    ['ffd8ffe000104a464946', 'image/jpeg', 'jpg'],
    ['ffd8ffdb', 'image/jpeg', 'jpg'],
    ['3c7376672f3e', 'image/svg+xml', 'svg'],
  ] as const) {
    const icon = iconOf(Buffer.from(bytes, 'hex'));
    t.equal(icon?.mediaType, mediaType);
    const name = iconName('0'.repeat(96), icon!);
    t.equal(name, `${'0'.repeat(96)}.${ending}`);
    t.equal(iconMediaType(name), mediaType);
  }
  const jpeg = Buffer.alloc(maxIconBytes + 1);
  jpeg.write('ffd8ffe0', 'hex');
  t.equal(iconOf(jpeg.subarray(0, maxIconBytes))?.mediaType, 'image/jpeg');
  t.equal(readIcon(jpeg), 'it has 300001 bytes');
  for (const bytes of ['ffd8', 'ffd7ff', 'd8ffff', '00ffd8ff', '474946383961', 'fe', ''])
    t.equal(readIcon(Buffer.from(bytes, 'hex')), 'it is neither a PNG nor a JPEG nor an SVG', bytes);
  t.equal(readIcon(Buffer.from('put the <svg> here')), 'as an SVG, it is not well-formed');
  t.equal(readIcon(Buffer.from(drawn('<script/>'))), "as an SVG, it has an element 'script'");
});

t.test('a picture of one pixel, and one that fills the memory of a browser, are no icons', async (t) => {
  // A comment, a Huffman table and the frame.
  const jpeg = (width: number, height: number): Buffer => {
    const frame = Buffer.from('ffd8fffe00046162ffc4000400ffffc0000b0800000000010100', 'hex');
    frame.writeUInt16BE(height, 19);
    frame.writeUInt16BE(width, 21);
    return frame;
  };
  for (const picture of [pngHeader, jpeg]) {
    for (const [width, height] of [
      [16, 16],
      [512, 256],
      [2048, 2048],
    ] as const)
      t.type(readIcon(picture(width, height)), 'object');
    for (const [width, height] of [
      [1, 1],
      [4096, 4096],
      [0, 512],
      [512, 65_535],
    ] as const)
      t.equal(readIcon(picture(width, height)), `it is ${width} × ${height} pixels large`);
  }
  t.type(
    readIcon(Buffer.concat([Buffer.from('ffd8fffe0000', 'hex'), Buffer.alloc(1000)])),
    'object',
    'a broken length ends the search',
  );
});

t.test('a drawing is an icon, in any spelling', async (t) => {
  for (const text of [
    '<svg/>',
    `\ufeff<?xml version="1.0"?>\n<!-- a comment with <svg> -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">\n${drawn('')}`,
    `<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:path d="M0 0h9v9z"/></s:svg>`,
    drawn('<use href="#a"/><image xlink:href="data:image/png;base64,aGk="/><g style="fill: url(#b)" title="a > b"/>'),
    drawn('<path inkscape:export-filename="C:\\icons\\a.png" d="M0&#32;0h9" fill="url(&#35;b)"/>'),
    drawn('<style><![CDATA[.a { fill: url(#b); }]]></style><text>&#8364; &amp; &#x1F600; &#99999999;</text>'),
    drawn('<style>.a { fill: url( "#b" ); }</style><text>Put a script here &amp; there</text>'),
  ]) {
    t.equal(typeOf(text), 'image/svg+xml', text);
  }
  const latin = `<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- Möwe -->\n${drawn('')}`;
  t.equal(typeOf(Buffer.from(latin, 'latin1')), 'image/svg+xml', 'in the encoding that it names');
});

t.test('a text that speaks of a drawing, and a drawing that runs or loads something, are no icons', async (t) => {
  for (const text of [
    'put the <svg> here',
    'text',
    '',
    '<html><svg/></html>',
    '<svg',
    '<svg a="b>',
    drawn('<script>alert(1)</script>'),
    drawn('<x:ScRiPt/>'),
    drawn('<foreignObject/>'),
    drawn('<path onclick="x()"/>'),
    drawn('<path\n\t x:onload   =   "x()"/>'),
    drawn('<image href="https://site.example/x.png"/>'),
    drawn('<a xlink:href="javascript:x()"/>'),
    drawn('<a href="&#104;ttp://site.example"/>'),
    drawn('<set attributeName="xlink:href" to="x"/>'),
    drawn('<g style="fill: url(https://site.example/x)"/>'),
    drawn('<g style="fill: \\75 rl(https://site.example)"/>'),
    drawn('<style>@import "x";</style>'),
    drawn('<style>a { b: \\75rl(x) }</style>'),
    // The same in references, comments, CDATA, prefixes and elements of web pages, as a parser of XML joins them.
    drawn('<a href="#"><animate attributeName="hre&#102;" values="javascript:x()"/></a>'),
    drawn('<style>@&#105;mport "x";</style>'),
    drawn('<style>@&#x69;m&#0112;ort "x";</style>'),
    drawn('<style>@im<![CDATA[port]]> "x";</style>'),
    drawn('<style>@im<!-- -->port "x";</style>'),
    drawn('<path fill="ur&#108;(https://site.example/x)"/>'),
    drawn('<path fill="\\75rl(https://site.example/x)"/>'),
    drawn('<path fill="&#92;75rl(https://site.example/x)"/>'),
    drawn('<set attributeName="fill" to="ur&#108;(https://site.example/x)"/>'),
    drawn('<style>svg { background: -webkit-image-set("https://site.example/x" 1x) }</style>'),
    `<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:style>@\\69mport "x";</s:style></s:svg>`,
    drawn('<h:img xmlns:h="http://www.w3.org/1999/xhtml" srcset="https://site.example/x 1x"/>'),
    drawn('<form xmlns="http://www.w3.org/1999/xht&#109;l" action="https://site.example"/>'),
    `<?xml-stylesheet href="x"?>${drawn('')}`,
    `<!DOCTYPE svg [<!ENTITY a "b">]>${drawn('')}`,
  ]) {
    t.equal(typeOf(text), undefined, text);
  }
});

t.test('hostile input is read in one pass', async (t) => {
  const size = 290_000;
  for (const text of [
    '<'.repeat(size),
    drawn('<!--'.repeat(size / 4)),
    drawn(`<g style="${'url('.repeat(size / 4)}"/>`),
    drawn(`<style>${`url(${' '.repeat(1000)}`.repeat(280)}</style>`),
    `<svg ${' '.repeat(size)}=`,
  ]) {
    t.equal(typeOf(text), undefined);
  }
  for (const text of [`<svg ${'a'.repeat(size)}>`, `<svg ${'a="" '.repeat(size / 5)}>`, drawn('<a/>'.repeat(size / 4))])
    t.equal(typeOf(text), 'image/svg+xml');
});
