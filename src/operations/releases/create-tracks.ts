import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import type { CreateTracksRequest } from '#api/wire.ts';
import { isTrackName } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { matchesGuardrail } from '#domain/guardrail.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';

export const createTracks = operation({
  name: 'create_tracks',
  method: 'POST',
  path: '/v1/:namespace/:name/tracks',
  since: 0,
  summary: "Create tracks that match one of the package's guardrails; all of them or none.",
  access: onPackage('package-manage-releases'),
  body: 'CreateTracksRequest',
  response: 'CreateTracksResponse',
  status: 201,
  refuses: ['invalid-tracks', 'conflicting-tracks'],

  async handle(call) {
    const { package: subject, body, records, now } = call;
    for (const { name } of body) refuseBadName(name);
    const names = body.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined)
      throw new Refusal('conflicting-tracks', `Conflicting track exists: '${twice}' is named twice.`);
    const wanted = body.map((track) => ({ ...track, phasing: percentage(track) }));

    const at = timestamp(now());
    const object = `${subject.namespace}/${subject.name}`;
    await records.change({ ...by(call, 'create_tracks'), at, object, details: { tracks: names } }, async (tx) => {
      const patterns = (await tx.guardrails.list(subject.id)).map(({ pattern }) => pattern);
      const present = new Set((await tx.tracks.list(subject.id)).map(({ name }) => name));
      for (const { name, 'version-pattern': versionPattern = null, phasing } of wanted) {
        if (present.has(name)) throw new Refusal('conflicting-tracks', `Conflicting track exists: '${name}'.`);
        if (!patterns.some((pattern) => matchesGuardrail(pattern, name))) {
          throw new Refusal('invalid-tracks', `Invalid track name '${name}': ${allowed(subject.name, patterns)}`);
        }
        await tx.tracks.add(subject.id, { name, versionPattern, automaticPhasingPercentage: phasing, createdAt: at });
      }
    });
    return { 'num-tracks-created': body.length };
  },
});

function refuseBadName(name: string): void {
  if (name === 'latest') throw new Refusal('api-error', "Creation of 'latest' track is not allowed");
  if (isTrackName(name)) return;
  throw new Refusal(
    'invalid-tracks',
    `Invalid track name '${name.slice(0, 60)}': it has at most 28 letters and digits, with single _, . or - between them.`,
  );
}

const allowed = (subject: string, patterns: string[]): string =>
  patterns.length === 0
    ? `'${subject}' has no track guardrail; ask the store administrator to set one.`
    : `it matches no track guardrail of '${subject}'; there is ${patterns.join(', ')}`;

function percentage(track: CreateTracksRequest[number]): number | null {
  const { 'automatic-phasing-percentage': given = null } = track;
  if (given === null) return null;
  if (Number(given) <= 100) return Number(given);
  throw new Refusal('api-error', `The automatic-phasing-percentage of '${track.name}' is above 100.`);
}
