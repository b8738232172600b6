// Access rules for pages: a page admits the same accounts as the rule for programs, and identifies them by the browser session.
import type { Access } from '#access/access-rules.ts';
import type { Browsing } from '#macaroons/authority.ts';

/** The caller of a page. */
export interface BrowserEvidence {
  browsing: Browsing;
}

/** Applies a rule of the interface to the session of a browser. */
export const admitInBrowser = <Evidence>(rule: Access<Evidence>): Access<Evidence & BrowserEvidence> => ({
  ...rule,
  async admit(request) {
    const browsing = await request.browse();
    const evidence = await rule.admit({
      ...request,
      authenticate: () => Promise.resolve(browsing.principal),
      presentsToken: () => Promise.resolve(true),
    });
    return { ...evidence, browsing };
  },
});
