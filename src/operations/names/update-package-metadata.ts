import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import type { UpdatePackageMetadataRequest } from '#api/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Links, PublishedPackage } from '#records/packages.ts';
import { by } from '../by.ts';
import { presentPackage } from './present.ts';

export const updatePackageMetadata = operation({
  name: 'update_package_metadata',
  method: 'PATCH',
  path: '/v1/:namespace/:name',
  since: 1,
  summary: 'Change what is said about a package.',
  access: onPackage('package-manage-metadata'),
  body: 'UpdatePackageMetadataRequest',
  response: 'PackageMetadataResponse',

  async handle(call) {
    const { package: subject, body, records, config, now } = call;
    for (const flat of ['contact', 'website'] as const) {
      if (body.links !== undefined && body[flat] !== undefined) {
        throw new Refusal('api-error', `'links' must not be combined with '${flat}'; name it in 'links' alone.`);
      }
    }
    for (const kind of ['contact', 'website'] as const) {
      refuseBadAddresses(kind, body.links?.[kind] ?? []);
      if (body[kind]) refuseBadAddresses(kind, [body[kind]]);
    }
    for (const [kind, links] of Object.entries(body.links ?? {}) as [string, string[]][]) refuseWhatRuns(kind, links);

    const entry = {
      ...by(call, 'update_package_metadata'),
      at: timestamp(now()),
      object: `${subject.namespace}/${subject.name}`,
      details: { members: Object.keys(body) },
    };
    const [changed, tracks, guardrails] = await records.change(entry, async (tx) => {
      // Read again inside the change: two people may be at it at once.
      const latest = (await tx.packages.byId(subject.id)) ?? subject;
      const all = await tx.tracks.list(subject.id);
      const track = body['default-track'];
      if (typeof track === 'string' && !all.some(({ name }) => name === track)) {
        throw new Refusal('api-error', `'${track}' is not a track of '${subject.name}' at /default-track`);
      }
      const described = describe(latest, body);
      await tx.packages.describe(described);
      return [described, all, await tx.guardrails.list(subject.id)] as const;
    });
    const store = { id: config.store.id, baseUrl: config.http.base_url };
    return { metadata: presentPackage(changed, { tracks, guardrails }, store) };
  },
});

/** The package with the members that the request names put in; an empty text clears. */
const describe = (subject: PublishedPackage, body: UpdatePackageMetadataRequest): PublishedPackage => ({
  ...subject,
  private: body.private ?? subject.private,
  title: text(body.title, subject.title),
  summary: text(body.summary, subject.summary),
  description: text(body.description, subject.description),
  defaultTrack: body['default-track'] === undefined ? subject.defaultTrack : body['default-track'],
  links: linked(subject.links, {
    ...body.links,
    ...(body.contact !== undefined && { contact: body.contact === '' ? [] : [body.contact] }),
    ...(body.website !== undefined && { website: body.website === '' ? [] : [body.website] }),
  }),
});

const text = (given: string | undefined, present: string | null): string | null =>
  given === undefined ? present : given === '' ? null : given;

/** The links with those of the named keys replaced; an empty list removes its key. */
const linked = (present: Links, given: Links): Links =>
  Object.fromEntries(Object.entries({ ...present, ...given }).filter(([, list]) => list.length > 0));

/** Whoever shows these makes links of them, which a browser may run when they are anything else. */
function refuseBadAddresses(kind: 'contact' | 'website', links: readonly string[]): void {
  for (const link of links) {
    // The parser of URLs mends what clients stumble over: spaces around, missing slashes, line ends within.
    if (/^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(link) && URL.canParse(link)) continue;
    throw new Refusal(
      'api-error',
      `The ${kind} '${link.slice(0, 100)}' is not an address that begins with https://, http:// or mailto:.`,
    );
  }
}

/** What a browser runs, or reads on its own machine, instead of going there. */
const run = new Set(['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'filesystem:', 'view-source:']);

/** Links of the other kinds may be any text; but none that does something else than lead somewhere when it is shown as a link. */
function refuseWhatRuns(kind: string, links: readonly string[]): void {
  for (const [at, link] of links.entries()) {
    const address = URL.parse(link);
    if (address === null || !run.has(address.protocol)) continue;
    throw new Refusal(
      'api-error',
      `'${link.slice(0, 100)}' leads nowhere, and a browser may run it; give an address that begins with https:// at /links/${kind}/${at}`,
    );
  }
}
