// Who may see a page: whoever the same rule lets in for programs, known by the session of his browser.
import type { Access } from '#api/access.ts';
import type { Browsing } from '#macaroons/authority.ts';

/** What a page knows of whoever looks at it. */
export interface Browsed {
  browsing: Browsing;
}

/** A rule of the interface, for somebody at a browser. */
export const inBrowser = <Evidence>(rule: Access<Evidence>): Access<Evidence & Browsed> => ({
  ...rule,
  async admit(asked) {
    const browsing = await asked.browse();
    const evidence = await rule.admit({
      ...asked,
      authenticate: () => browsing.principal,
      presentsToken: () => Promise.resolve(true),
    });
    return { ...evidence, browsing };
  },
});
