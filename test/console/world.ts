// A store with its console, and people at browsers without scripts: `fetch` does the work of the browser.
import { until } from '#test/fixtures/until.ts';
import { startIdentity, password, type How, type IdentityStore } from '#test/identity/world.ts';

type Test = Parameters<typeof startIdentity>[0];

/** A page as it came. */
export interface Page {
  status: number;
  headers: Headers;
  /** The address that it came from in the end, without the store's own. */
  address: string;
  html: string;
  /** The text for a reader, with one space between words. */
  text: string;
}

/** A person at a browser. */
export interface Visitor {
  /** The cookie of the browser; empty if it has none. */
  cookie: string;
  open(address: string, headers?: Record<string, string>): Promise<Page>;
  /** Logs in as the page asks for it. */
  logIn(username: string, more?: Record<string, string>): Promise<Page>;
  /** Sends the form of a page with this address, with the given values and its hidden fields; follows the redirect. */
  send(page: Page, address: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Page>;
}

/** Opens a page that may say first that its content is prepared, until the page does not refresh itself any more. */
export async function openReady<Opened extends Pick<Page, 'html'>>(
  visitor: { open(address: string): Promise<Opened> },
  address: string,
): Promise<Opened> {
  let page = await visitor.open(address);
  await until(async () => {
    if (!page.html.includes('hx-trigger="every')) return true;
    page = await visitor.open(address);
    return false;
  });
  return page;
}

export interface ConsoleStore extends IdentityStore {
  /** A browser without a login. */
  visitor(): Visitor;
  /** A logged-in account; it gets a password if it has none. */
  visit(person: string): Promise<Visitor>;
}

/** A store with ada and bob as publishers, and root as administrator. */
export async function startConsole(t: Test, ...how: How): Promise<ConsoleStore> {
  const store = await startIdentity(t, ...how);
  const visitor = (): Visitor => browse(store.url);
  const ready = new Set(['ada']);
  return Object.assign(store, {
    visitor,
    async visit(person: string) {
      if (!ready.has(person)) await store.setPassword(person);
      ready.add(person);
      const somebody = visitor();
      const page = await somebody.logIn(person);
      if (page.status !== 200) throw new Error(`cannot log ${person} in: ${String(page.status)} ${page.text}`);
      return somebody;
    },
  });
}

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** The text of a piece of HTML. */
export const textOf = (html: string): string =>
  html
    .replace(/<(script|style|head)\b.*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim();

/** The value that a browser has in a field of several lines: without its first line end. */
const writtenIn = (html: string): string =>
  html.replace(/^\n/, '').replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? '');

const attribute = (tag: string, name: string): string | undefined =>
  textOf(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '\u0000').replace('\u0000', '') || undefined;

/** The fields of the form with this address; fails if the page has none. */
function fieldsOf(html: string, address: string): Record<string, string> {
  for (const [, open = '', inner = ''] of html.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)) {
    if (attribute(open, 'action') !== address || attribute(open, 'method') !== 'post') continue;
    const inputs = [...inner.matchAll(/<input([^>]*)>/g)]
      .map(([, tag = '']) => tag)
      .filter((tag) => attribute(tag, 'name') !== undefined);
    const filled = inputs.filter(
      (tag) => !['checkbox', 'radio'].includes(attribute(tag, 'type') ?? '') || /\schecked/.test(tag),
    );
    const areas = [...inner.matchAll(/<textarea([^>]*)>(.*?)<\/textarea>/gs)];
    const choices = [...inner.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)].map(([, tag = '', options = '']) => {
      const all = [...options.matchAll(/<option([^>]*)>/g)].map(([, option = '']) => option);
      const chosen = all.find((option) => /\sselected/.test(option)) ?? all[0] ?? '';
      return [attribute(tag, 'name') ?? '', attribute(chosen, 'value') ?? ''];
    });
    return Object.fromEntries([
      ...choices,
      ...filled.map((tag) => [attribute(tag, 'name') ?? '', attribute(tag, 'value') ?? '']),
      ...areas.map(([, tag = '', text = '']) => [attribute(tag, 'name') ?? '', writtenIn(text)]),
    ]) as Record<string, string>;
  }
  throw new Error(`the page has no form to ${address}`);
}

/** A browser that reaches a store at `url`, which calls itself `origin`. */
export function browse(url: string, origin = url): Visitor {
  const call = async (address: string, init: RequestInit = {}): Promise<Page> => {
    const response = await fetch(url + address, {
      ...init,
      redirect: 'manual',
      headers: { accept: 'text/html', ...(self.cookie !== '' && { cookie: self.cookie }), ...(init.headers as object) },
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) self.cookie = set.includes('Max-Age=0') ? '' : (set.split(';')[0] ?? '');
    const location = response.headers.get('location');
    if (response.status === 303 && location !== null) return call(location);
    const html = await response.text();
    return { status: response.status, headers: response.headers, address, html, text: textOf(html) };
  };
  const post = (address: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    call(address, {
      method: 'POST',
      headers: { origin, 'sec-fetch-site': 'same-origin', ...headers },
      body: new URLSearchParams(fields),
    });
  const self: Visitor = {
    cookie: '',
    open: (address, headers = {}) => call(address, { headers }),
    logIn: (username, more = {}) => post('/console/log-in', { username, password, code: '', to: '/console', ...more }),
    send: (page, address, fields = {}, headers = {}) =>
      post(address, { ...fieldsOf(page.html, address), ...fields }, headers),
  };
  return self;
}
