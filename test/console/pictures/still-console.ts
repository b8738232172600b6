// A console whose pages look the same in every run: a furnished store under a clock that stands still.
import fs from 'node:fs';
import { join } from 'node:path';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import SQLite from 'better-sqlite3';
import type { Browser, Page } from 'playwright-core';

import { itself } from '#acts/act.ts';
import { changeRole } from '#acts/accounts/accounts.ts';
import { changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { consoleOperations } from '#console/index.ts';
import { noPolicy, readReleaseRule } from '#domain/approvals/approval-policy.ts';
import { after, days, minutes, timestamp } from '#domain/clock.ts';
import type { Client } from '#test/fixtures/appliance.ts';
import { views } from '#test/fixtures/clients/browser.ts';
import { pathOf } from '#test/fixtures/contract/requests.ts';
import { furnishConsole } from '../furnish.ts';
import { osvZip, type AdvisorySketch } from '#test/fixtures/vulnerabilities/feeds.ts';
import { advisory } from '#test/operations/vulnerabilities/world.ts';
import { receiving } from '../transfers/carrying.ts';
import { sender } from '../transfers/sending.ts';
import { openReady, type ConsoleStore, type Visitor } from '../world.ts';
import { steady } from './unsteady.ts';

type Test = Parameters<typeof receiving>[0];

export interface StillPage {
  /** The name of its operation without `console_`. */
  name: string;
  /** Its address, with the names of its parameters. */
  path: string;
  /** Its address, with the ids of this run. */
  address: string;
}

interface StillConsole {
  url: string;
  /** The cookie of the administrator. */
  cookie: { name: string; value: string; url: string };
  pages: StillPage[];
}

/** The views of the pictures: 1280 and 360 px wide, light and dark. */
export const pictureViews = views.filter(({ width }) => width !== 640);

export type PictureView = (typeof pictureViews)[number];

/** Makes the disk of the machine one of 256 GiB, with 64 GiB free. */
function setDisk(t: Test): void {
  const { statfsSync } = fs;
  const blocks = 2 ** 26;
  const space = { bsize: 4096, blocks, bfree: blocks / 4, bavail: blocks / 4 };
  const still = (...call: Parameters<typeof statfsSync>) => Object.assign(statfsSync(...call), space);
  fs.statfsSync = still as typeof statfsSync;
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.statfsSync = statfsSync;
    syncBuiltinESMExports();
  });
}

/** The time of the commands is `Date`'s, which stands still in the whole process. */
export async function openStillConsole(t: Test): Promise<StillConsole> {
  mock.timers.enable({ apis: ['Date'], now: new Date('2026-03-01T12:00:00.000Z') });
  t.teardown(() => mock.timers.reset());
  setDisk(t);
  const { store, bring } = await receiving(t, (text) => text.replace('[devices]', '[devices]\nremember = true'));
  const subject = await furnishConsole(store);
  await addCollaborator(store);
  await addProposal(store);
  store.clock.advance(minutes(5));
  const root = await store.visit('root');
  const accepted = await bring(12, ['hello-on']);
  await acceptTransfer(root, accepted);
  const transfer = await bring(12, ['taken-on']);
  const feed = await addFeeds(store, root);
  await addDevice(store);
  await openReady(root, '/console/carry/requests/preview');
  const [, session = ''] = /tokens\/([^/"]+)\/end"/.exec((await root.open('/console/myself')).html) ?? [];
  const [name = '', value = ''] = root.cookie.split(/=(.*)/s);
  const special: Record<string, Record<string, string>> = {
    console_device: device,
    console_receipt: { transfer: accepted },
    console_ask_remove_collaborator: { account_id: store.ids.bob },
    console_uploaded_feed: { upload: feed },
  };
  const queries: Record<string, string> = { console_ask_remove_feed: '?source=ubuntu' };
  const pages = consoleOperations
    .filter(({ method, name: operation }) => method === 'GET' && operation !== 'console_asset')
    .map((op) => ({
      name: op.name.replace('console_', ''),
      path: op.path,
      address:
        pathOf(op, { ...subject, transfer, session_id: session, ...special[op.name] }) + (queries[op.name] ?? ''),
    }));
  return { url: store.url, cookie: { name, value, url: store.url }, pages };
}

/** A client with a token of its own time: tokens of the same time are listed in the order of their random ids. */
function laterAs(store: ConsoleStore, person: string): Promise<Client> {
  store.clock.advance(minutes(1));
  return store.as(person);
}

async function addCollaborator(store: ConsoleStore): Promise<void> {
  const [ada, bob] = [await laterAs(store, 'ada'), await laterAs(store, 'bob')];
  const at = '/v1/snap/tiny-app/collaborators/invites';
  const { tokens } = (await ada.post(at, { invites: [{ email: 'bob@example.com' }] })).body as {
    tokens: { token: string }[];
  };
  await bob.post(`${at}/accept`, { token: tokens[0]?.token });
}

const device = { brand_id: 'acme', model: 'pump', serial: 'SN-00000001' };

/** A device as its calls leave it, with one snap. */
async function addDevice(store: ConsoleStore): Promise<void> {
  const { id } = (await store.beside.records.packages.find('snap', 'tiny-app'))!;
  const db = new SQLite(join(store.directory, 'larder.db'));
  const { number } = db.prepare('INSERT INTO passing_seen_snaps (package_id) VALUES (?) RETURNING number').get(id) as {
    number: number;
  };
  const [first, last] = [-days(2), -minutes(3)].map((age) => timestamp(after(store.clock.now, age)));
  db.prepare(
    `INSERT INTO passing_seen_devices (brand_id, model, serial, first_at, last_at, holds, offers)
     VALUES (?, ?, ?, ?, ?, ?, '')`,
  ).run(device.brand_id, device.model, device.serial, first, last, `${number.toString(36)}:1`);
  db.close();
}

/** A release that two people must approve. */
async function addProposal(store: ConsoleStore): Promise<void> {
  const { acts } = store.beside;
  await store.join('carol');
  for (const id of [store.ids.bob, store.ids['carol']!])
    await acts.do(changeRole, itself, { id, role: 'transfer-approver', remove: false });
  const releases = [readReleaseRule('2 for snap/tiny-app:*/candidate')!];
  await acts.do(changeApprovalPolicy, itself, { ...noPolicy, releases });
  const ada = await laterAs(store, 'ada');
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'candidate', revision: 1 }]);
}

async function acceptTransfer(root: Visitor, id: string): Promise<void> {
  const address = `/console/carry/transfers/${id}`;
  const { status, text } = await root.send(await root.open(address), `${address}/accept`);
  if (status !== 200) throw new Error(`cannot accept the transfer: ${status} ${text}`);
}

/** Imports a feed of advisories, and uploads a later one. Returns the id of the upload. */
async function addFeeds(store: ConsoleStore, root: Visitor): Promise<string> {
  const address = '/console/vulnerabilities';
  const upload = async (...advisories: AdvisorySketch[]): Promise<string> => {
    const feeds = sender(store, root, await root.open(address), `${address}/uploads`);
    return (await feeds.whole(Buffer.from(osvZip(advisories)))).location;
  };
  const [first, later] = [1, 2].map((number) => ({
    ...advisory(number),
    modified: `2026-02-0${String(number)}T10:00:00Z`,
  }));
  const imported = await openReady(root, await upload(first!));
  const { status, text } = await root.send(imported, imported.address);
  if (status !== 200) throw new Error(`cannot import the feed: ${String(status)} ${text}`);
  return /feeds\/([^/?]+)/.exec(await upload(first!, later!))?.[1] ?? '';
}

/** The scale of kept pictures: they are small, and a changed letter still changes more pixels than the bound. */
const keptScale = 0.5;

/**
 * Takes a picture of every page in every view. A page is loaded once for each width, because its script looks at the
 * width once.
 */
export async function takePictures(
  browser: Browser,
  { url, cookie, pages }: StillConsole,
  taken: (page: StillPage, view: PictureView, file: Buffer) => void,
  deviceScaleFactor = keptScale,
): Promise<void> {
  for (const sameWidth of Map.groupBy(pictureViews, ({ width }) => width).values()) {
    const [{ width, height }] = sameWidth as [PictureView];
    const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor, timezoneId: 'UTC' });
    await context.addCookies([cookie]);
    // A page that refreshes itself would show the replaced texts again.
    await context.addInitScript('XMLHttpRequest.prototype.send = () => {}');
    const page = await context.newPage();
    for (const still of pages) {
      const reply = await page.goto(url + still.address);
      if ((reply?.status() ?? 500) >= 500) throw new Error(`${still.address} says ${String(reply?.status())}`);
      await steady(page);
      for (const view of sameWidth) taken(still, view, await takePicture(page, view));
    }
    await context.close();
  }
}

async function takePicture(page: Page, { colorScheme }: PictureView): Promise<Buffer> {
  await page.emulateMedia({ colorScheme });
  return page.screenshot({ fullPage: true, animations: 'disabled', caret: 'hide' });
}
