// The search in the header of every page.
import { html, type Html } from '#http/pages/html.ts';

export const searchAddress = '/console/search';

/** It has no button: the enter key sends it. */
export const searchForm: Html = html`<form
  class="find"
  role="search"
  aria-label="Whole store"
  method="get"
  action="${searchAddress}"
>
  <label class="unseen" for="find">Search packages and documents</label>
  <input id="find" name="text" type="search" maxlength="100" placeholder="Search" autocomplete="off" required />
</form>`;
