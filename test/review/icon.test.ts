import t from 'tap';

import { iconOf } from '#review/icon.ts';

const typeOf = (content: string | Uint8Array) =>
  iconOf(typeof content === 'string' ? new TextEncoder().encode(content) : content)?.mediaType;
const root = 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"';
const drawn = (inner: string) => `<svg ${root} xmlns:xlink="http://www.w3.org/1999/xlink">${inner}</svg>`;

t.test('a drawing is an icon, however it is written', async (t) => {
  for (const text of [
    '<svg/>',
    `\ufeff<?xml version="1.0"?>\n<!-- a comment with <svg> -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">\n${drawn('')}`,
    `<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:path d="M0 0h9v9z"/></s:svg>`,
    drawn('<use href="#a"/><image xlink:href="data:image/png;base64,aGk="/><g style="fill: url(#b)" title="a > b"/>'),
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
    `<?xml-stylesheet href="x"?>${drawn('')}`,
    `<!DOCTYPE svg [<!ENTITY a "b">]>${drawn('')}`,
  ]) {
    t.equal(typeOf(text), undefined, text);
  }
});

t.test('what is made to take long is told in one pass', async (t) => {
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
