import { createDigest } from '#domain/cryptography.ts';
import type { IncomingMessage } from 'node:http';

import { updatePackageMetadata } from '#acts/packages/metadata.ts';
import { readForm } from '#http/request/form-data.ts';
import { operation, type Operation } from '#http/operation.ts';
import { checkShape } from '#contract/schema.ts';
import type { Services } from '#http/services.ts';
import { onSnapOfId } from '#access/snap-access.ts';
import type { DashboardBinaryMetadata, DashboardBinaryMetadataWanted } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { iconName, maxIconBytes, readIcon } from '#review/icon.ts';
import { caller } from '../caller.ts';

const path = '/dev/api/snaps/:snap_id/binary-metadata';

export const dashboardReadBinaryMetadata = operation({
  name: 'dashboard_read_binary_metadata',
  method: 'GET',
  path,
  since: 0,
  summary: 'Get the digest of the icon of a snap, for the older publishing tools, which compare it with their file.',
  access: onSnapOfId(['package-view-metadata', 'package-manage-metadata']),
  errors: 'dashboard',
  response: 'DashboardBinaryMetadata',

  handle: ({ package: subject, blobs }) => shown(subject, blobs),
});

const setsIcon = (name: string, method: 'POST' | 'PUT', summary: string): Operation =>
  operation({
    name,
    method,
    path,
    since: 0,
    summary,
    access: onSnapOfId(['package-manage-metadata']),
    errors: 'dashboard',
    consumes: 'multipart/form-data',
    response: 'DashboardBinaryMetadata',
    refuses: ['insufficient-storage', ...(method === 'POST' ? (['conflict'] as const) : [])],

    async handle(call) {
      const { package: subject, request, acts, blobs } = call;
      const form = await readIconForm(request);
      const requestedIcons = readWanted(form.get('info'));
      const icon = await iconIn(requestedIcons, form, call);
      const { package: changed } = await acts.do(updatePackageMetadata, caller(call), {
        package: subject,
        members: ['icon'],
        changes: { icon, links: {} },
        metadataOrigin: method === 'PUT' ? 'upload, forced' : 'upload',
      });
      return shown(changed, blobs);
    },
  });

export const dashboardBinaryMetadata = setsIcon(
  'dashboard_binary_metadata',
  'POST',
  'Set or remove the icon of a snap from its file, unless the icon was edited in the store; for the older publishing tools.',
);

export const dashboardForceBinaryMetadata = setsIcon(
  'dashboard_force_binary_metadata',
  'PUT',
  'Set or remove the icon of a snap from its file, even if the icon was edited in the store; for the older publishing tools.',
);

/** Space in the form for everything except the icon: the list, and the headers of the parts. */
const maxFormOverhead = 64 * 1024;

async function readIconForm(request: IncomingMessage): Promise<ReadonlyMap<string, Buffer>> {
  try {
    return await readForm(request, maxIconBytes + maxFormOverhead);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'request-too-large') throw error;
    // The publishing tool shows the sentence to a person, so it mentions the icon and not the request body.
    throw new Refusal(error.code, `The icon is too large. An icon may have at most ${maxIconBytes} bytes.`);
  }
}

function readWanted(info: Buffer | undefined): DashboardBinaryMetadataWanted {
  if (info === undefined) throw new Refusal('api-error', "The form has no part named 'info'.");
  let requestedIcons: unknown;
  try {
    requestedIcons = JSON.parse(info.toString());
  } catch (error) {
    throw new Refusal('api-error', `The part 'info' of the form is not JSON: ${(error as Error).name}.`);
  }
  checkShape('DashboardBinaryMetadataWanted', requestedIcons);
  if (requestedIcons.some(({ type }) => type !== 'icon')) {
    throw new Refusal('api-error', 'This store accepts only an icon for a snap, no screenshots or other pictures.');
  }
  if (requestedIcons.length > 1)
    throw new Refusal('api-error', 'A snap can have at most one icon, but the list names several.');
  return requestedIcons;
}

/** The name of the requested icon, stored as a blob from here on; null for none. */
async function iconIn(
  [requested]: DashboardBinaryMetadataWanted,
  form: ReadonlyMap<string, Buffer>,
  { package: { icon: present }, blobs, newId }: Pick<Services, 'blobs' | 'newId'> & { package: PublishedPackage },
): Promise<string | null> {
  if (requested === undefined) return null;
  const { key, hash } = requested;
  if (key === undefined || key === null) {
    if (present !== null && (await sha256Of(present, blobs)) === hash) return present;
    throw new Refusal(
      'api-error',
      `The snap has no icon with the hash '${hash}'. Name the part that contains the icon with 'key'.`,
    );
  }
  const bytes = form.get(key);
  if (bytes === undefined) throw new Refusal('api-error', `The form has no part named '${key}'.`);
  // A client that repeats its request after a new login sends a file stream that is already at its end.
  if (createDigest('content sha256').update(bytes).digest('hex') !== hash) {
    throw new Refusal('api-error', `The SHA-256 of the received icon is not '${hash}'. Send the icon again.`);
  }
  const icon = readIcon(bytes);
  if (typeof icon === 'string') {
    throw new Refusal(
      'api-error',
      `The file cannot be the icon: ${icon}. An icon is a PNG, a JPEG or an SVG of at most ${maxIconBytes} bytes. An SVG may have no scripts, handlers of events or references to other addresses.`,
    );
  }
  const { sha3_384 } = await blobs.put(bytes, { id: newId.uuid() });
  return iconName(sha3_384, icon);
}

/** The icon of the snap as a list. An icon with a lost blob is left out, so that the client sends it again. */
async function shown({ icon }: PublishedPackage, blobs: Services['blobs']): Promise<DashboardBinaryMetadata> {
  const hash = icon === null ? undefined : await sha256Of(icon, blobs);
  return icon === null || hash === undefined ? [] : [{ type: 'icon', hash, filename: icon }];
}

async function sha256Of(icon: string, blobs: Services['blobs']): Promise<string | undefined> {
  const sha3_384 = icon.slice(0, 96);
  if (!(await blobs.prove(sha3_384))) return undefined;
  const content = await blobs.open(sha3_384);
  if (content === undefined) return undefined;
  const hash = createDigest('content sha256');
  for await (const chunk of content.stream) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
