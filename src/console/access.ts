// Access rules for pages: a page admits the same accounts as the rule for programs, and identifies them by the browser session.
import type { Access } from '#api/access.ts';
import type { Browsing } from '#macaroons/authority.ts';

/** The caller of a page. */
export interface Browsed {
  browsing: Browsing;
}

/** Applies a rule of the interface to the session of a browser. */
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
