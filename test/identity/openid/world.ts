// A store with an OpenID provider, and people who log in with it at a browser.
import { startConsole, type ConsoleStore, type Page, type Visitor } from '#test/console/world.ts';
import { startIssuer, type Claims, type TestIssuer } from './issuer.ts';

type Test = Parameters<typeof startConsole>[0];

export interface OpenidStore extends ConsoleStore {
  issuer: TestIssuer;
  /** A browser at the address of the provider that the store sends it to, from a page with the button. */
  begin(from?: string): Promise<{ browser: Visitor; address: string }>;
  /** Logs a person in to the console; returns the browser and the page that the provider sent it to. */
  logIn(claims: Claims, back?: (address: URL) => URL): Promise<{ browser: Visitor; page: Page }>;
}

/** The claims of a person at the provider. */
export const person = (name: string, more: Claims = {}): Claims => ({
  sub: `subject of ${name}`,
  preferred_username: name,
  name: `${name} of the site`,
  email: `${name}@site.example`,
  groups: [],
  ...more,
});

/** The address that a page of ours continues to by itself. */
export const continuation = ({ headers, text }: Page): string => {
  const address = /^0; url=(.+)$/.exec(headers.get('refresh') ?? '')?.[1];
  if (address === undefined) throw new Error(`the page does not continue: ${text}`);
  return address;
};

/** `settings` are further lines of [identity.oidc]. */
export async function startOpenidStore(
  t: Test,
  settings = 'accounts = "create"\n',
  configure = (text: string): string => text,
): Promise<OpenidStore> {
  let now = (): Date => new Date('2026-03-01T12:00:00.000Z');
  const issuer = await startIssuer(t, () => now());
  const store = await startConsole(t, (text) => configure(withoutOidc(text)) + issuer.configuration + settings);
  now = () => store.clock.now;
  const begin: OpenidStore['begin'] = async (from = '/console/log-in') => {
    const browser = store.visitor();
    const page = await browser.send(await browser.open(from), '/identity/openid/login');
    return { browser, address: continuation(page) };
  };
  return Object.assign(store, {
    issuer,
    begin,
    async logIn(claims: Claims, back = (address: URL): URL => address) {
      const { browser, address } = await begin();
      const { pathname, search } = back(issuer.logIn(address, claims));
      return { browser, page: await browser.open(pathname + search) };
    },
  });
}

/** The configuration of a new store shows the section as comments, and TOML allows each section once. */
export const withoutOidc = (text: string): string =>
  text.replace(/\[identity\.oidc\]/, '#').replace(/\[identity\.oidc\.roles\]/, '#');
