// Sends files of transfers and feeds to the console: as the form of the page does, and in pieces as its script does.
import type { Page, Visitor } from '#test/console/world.ts';

export const carry = '/console/carry';
export const uploads = `${carry}/uploads`;
/** The name of an upload, as a script makes one. */
const name = 'a'.repeat(32);

/** The value of an attribute of the upload form. */
export const inForm = ({ html }: Page, attribute: string): string =>
  new RegExp(`\\s${attribute}="([^"]*)"`).exec(html.slice(html.indexOf('enctype=')))?.[1] ?? '';

interface Sent {
  /** The text fields; the token of the page by default. */
  fields?: Record<string, string>;
  headers?: Record<string, string>;
}

/** A browser for files. `whole` sends the form of the page, the others act as the script does. */
export function sender(store: { url: string }, visitor: Visitor, page: Page, address = uploads) {
  const send = async (path: string, body: FormData | URLSearchParams, headers: Record<string, string> = {}) => {
    const response = await fetch(store.url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: visitor.cookie, 'sec-fetch-site': 'same-origin', ...headers },
      body,
    });
    const text = await response.text();
    return { status: response.status, text, location: response.headers.get('location') ?? '' };
  };
  const form = (token: string, bytes: Uint8Array<ArrayBuffer>, { fields = {} }: Sent): FormData => {
    const data = new FormData();
    for (const [field, value] of Object.entries({ 'form-token': token, ...fields })) data.append(field, value);
    data.append('file', new Blob([bytes]), 'in.tar');
    return data;
  };
  const say = (step: 'begin' | 'receive', size: number, upload = name) =>
    send(
      `${address}/${step}`,
      new URLSearchParams({ 'form-token': inForm(page, `data-${step}-token`), upload, size: String(size) }),
    );
  return {
    whole: (bytes: Uint8Array<ArrayBuffer>, sent: Sent = {}) =>
      send(address, form(inForm(page, 'value'), bytes, sent), sent.headers),
    piece: (bytes: Uint8Array<ArrayBuffer>, size: number, offset: number, upload = name) =>
      send(
        `${address}/piece?upload=${upload}&size=${String(size)}&offset=${String(offset)}`,
        form(inForm(page, 'data-piece-token'), bytes, {}),
      ),
    begin: async (size: number, upload = name) => {
      const { status, text } = await say('begin', size, upload);
      const [piece, received] = text.split(' ').map(Number);
      return status === 200 ? { status, piece, received } : { status };
    },
    receive: (size: number, upload?: string) => say('receive', size, upload),
  };
}
