import { updatePackageMetadata, type MetadataChange } from '#acts/packages/metadata.ts';
import { operation, type Operation } from '#http/operation.ts';
import { onSnapOfId } from '#access/snap-access.ts';
import type { DashboardMetadataRequest } from '#contract/wire.ts';
import { caller } from '../caller.ts';

/** Both operations differ only in how they treat texts that were edited in the store. */
const describes = (name: string, method: 'POST' | 'PUT', summary: string): Operation =>
  operation({
    name,
    method,
    path: '/dev/api/snaps/:snap_id/metadata',
    since: 0,
    summary,
    access: onSnapOfId(['package-manage-metadata']),
    errors: 'dashboard',
    body: 'DashboardMetadataRequest',
    response: 'DashboardMetadataResponse',
    ...(method === 'POST' && { refuses: ['conflict'] }),

    async handle(call) {
      const { package: subject, body, acts } = call;
      const changes = described(body);
      const members = Object.entries(changes)
        .flatMap(([member, value]) => (member === 'links' ? Object.keys(value as object) : [member]))
        .map((member) => (member === 'defaultTrack' ? 'default-track' : member));
      const metadataOrigin = method === 'PUT' ? 'upload, forced' : 'upload';
      const description = { package: subject, members, changes, metadataOrigin } as const;
      const { package: changed } = await acts.do(updatePackageMetadata, caller(call), description);
      const { title, summary, description: text, license, defaultTrack, links } = changed;
      const [contact = null, website = null] = [links.contact?.[0], links.website?.[0]];
      return { title, summary, description: text, license, default_track: defaultTrack, contact, website };
    },
  });

export const dashboardMetadata = describes(
  'dashboard_metadata',
  'POST',
  'Set the metadata of a snap from its file, unless it was edited in the store; for the older publishing tools.',
);

export const dashboardForceMetadata = describes(
  'dashboard_force_metadata',
  'PUT',
  'Set the metadata of a snap from its file, even if it was edited in the store, or set its default track; for the older publishing tools.',
);

/** The members of the request that the store keeps; an empty text clears a member. */
function described(body: DashboardMetadataRequest): MetadataChange {
  const { title, summary, description, license, default_track: defaultTrack, contact, website } = body;
  const link = (value: string | null): string[] => (value === null || value === '' ? [] : [value]);
  return {
    ...(title !== undefined && { title: title === '' ? null : title }),
    ...(summary !== undefined && { summary: summary === '' ? null : summary }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(license !== undefined && { license: license === '' ? null : license }),
    ...(defaultTrack !== undefined && { defaultTrack: defaultTrack === '' ? null : defaultTrack }),
    links: {
      ...(contact !== undefined && { contact: link(contact) }),
      ...(website !== undefined && { website: link(website) }),
    },
  };
}
