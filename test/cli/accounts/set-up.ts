// A person with a set-up link, who chooses a password like a browser without scripts.

/** Opens a link of the store at `url` and sends its form; returns the status of the response. */
export async function setUpWith(link: string, url: string, password: string): Promise<number> {
  const page = await fetch(url + new URL(link).pathname + new URL(link).search);
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(await page.text()) ?? [];
  const body = new URLSearchParams({ key, password, again: password });
  const response = await fetch(`${url}/identity/set-up`, { method: 'POST', body, redirect: 'manual' });
  return response.status;
}
