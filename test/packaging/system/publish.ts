// A publisher at an installed store: the part of the tests of the Debian package with requests from outside.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import { snapFixture } from '#test/fixtures/appliance.ts';

/** Commands in the container hold up this process: without a turn of its own, it sends on a connection that the store has closed. */
export const noticeClosedConnections = (): Promise<void> => nextTurn();

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
type Call = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: any }>;

/** Publishes a snap and releases it; returns a function that requests that release, and the address of its file. */
export async function publish(url: string, credential: string) {
  let token = '';
  const call: Call = async (method, path, body) => {
    await noticeClosedConnections();
    const response = await fetch(url + path, {
      method,
      headers: { ...(token && { authorization: `macaroon ${token}` }), 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  token = (await call('POST', '/v1/tokens/offline/exchange', { macaroon: credential })).body.macaroon as string;
  const { id } = (await call('POST', '/v1/snap', { name: 'tiny-app' })).body as { id: string };
  // The limit of a review is of the clock: a busy host that emulates a processor may need another attempt.
  while (!(await isApproved(url, call)));
  await call('POST', '/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]);
  const readRelease = async () => {
    const { status, body } = await call('GET', '/v1/snap/tiny-app/releases');
    return { status, revision: body['channel-map']?.[0]?.revision as number | undefined };
  };
  return { readRelease, download: `${url}/api/v1/snaps/download/${id}_1.snap` };
}

/** Pushes the snap, and waits for its review; false if there was no time to read it. */
async function isApproved(url: string, call: Call): Promise<boolean> {
  const form = new FormData();
  form.set('binary', new Blob([new Uint8Array(await snapFixture('app-xz'))]), 'tiny-app_1.10_amd64.snap');
  const sent = (await (await fetch(`${url}/unscanned-upload/`, { method: 'POST', body: form })).json()) as {
    upload_id: string;
  };
  const pushed = await call('POST', '/v1/snap/tiny-app/revisions', { 'upload-id': sent.upload_id });
  for (;;) {
    const review = await call('GET', pushed.body['status-url'] as string);
    const { status, errors } = review.body.revisions[0] as { status: string; errors: { message: string }[] | null };
    if (status === 'approved') return true;
    if (status === 'rejected') {
      if (errors?.every(({ message }) => message.includes('could not be read within')) === true) return false;
      throw new Error(`rejected: ${JSON.stringify(errors)}`);
    }
    await sleep(100);
  }
}
