// The pages of the tracks of a package: list, create, change version pattern and phasing, delete.
import { createTracks, deleteTrack, updateTrack } from '#acts/releases/tracks.ts';
import { onPackage } from '#access/access-rules.ts';
import { beyondChannels } from '#access/beyond-channels.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, joined, nothing, type Html } from '#http/pages/html.ts';
import type { ConsoleTrack } from '#contract/wire.ts';
import { parseSteps } from '#domain/releases/rollout-text.ts';
import { planText, readRolloutPlan, type RolloutPlan } from '#domain/releases/rollout.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '#operations/caller.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Track } from '#records/releases/tracks.ts';
import { field, formOf } from '../parts/form.ts';
import { facts, table } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { hostCommand } from '../parts/host-command.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOf } from '../packages/address.ts';

const withMessage = declareMessages({
  'track-made': 'The track is created. It has channels after the first release to it.',
  'track-changed': 'The track is changed.',
  'track-deleted': 'The track is deleted.',
});

const path = '/console/packages/:namespace/:name/tracks';
const ofOne = `${path}/:track` as const;
const manages = onPackage('package-manage-releases');

/** The maximum number of entries to show. `larder` shows all. */
const maxShown = 200;

export const consoleTracks = screen({
  name: 'console_tracks',
  path,
  summary: 'List the tracks of a package, with a form to create one.',
  access: onPackage('package-view-releases'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ package: subject, records, browsing }) {
    const tracks = await records.tracks.list(subject.id);
    const patterns = (await records.guardrails.list(subject.id)).map(({ pattern }) => pattern);
    return {
      title: `Tracks of ${subject.namespace}/${subject.name}`,
      lead: html`Each track has its own channels. <a href="${addressOf(subject)}">To the package</a>`,
      content: html`${table<Track>({
          caption: 'Tracks',
          columns: [
            { heading: 'Track', cell: ({ name }) => html`<a href="${addressOf(subject, 'tracks', name)}">${name}</a>` },
            { heading: 'Version pattern', cell: ({ versionPattern }) => versionPattern ?? 'Anything' },
            { heading: 'Phasing', cell: phasingOf },
            { heading: 'Since', cell: ({ createdAt }) => time(createdAt) },
            {
              heading: 'Channels',
              cell: ({ name }) =>
                html`<a href="${addressOf(subject)}?track=${encodeURIComponent(name)}"
                  >Show<span class="unseen"> the channels of ${name}</span></a
                >`,
            },
          ],
          rows: tracks.slice(0, maxShown),
          empty: '',
        })}
        ${tracks.length > maxShown ? html`<p class="hint"><code>larder track list</code> shows all of them.</p>` : nothing}
        <h2>New track</h2>
        ${newTrack(subject, patterns, browsing)}`,
    };
  },
});

const phasingOf = ({ automaticPhasingPercentage: phasing, rollout }: Track): string => {
  if (rollout !== undefined) return planText(rollout);
  return phasing === null ? 'All at once' : `in steps of ${String(phasing)} %`;
};

function newTrack(
  subject: PublishedPackage,
  patterns: readonly string[],
  browsing: Parameters<typeof formOf>[0],
): Html {
  if (patterns.length === 0) {
    const line = `larder guardrail add ${subject.namespace}/${subject.name} '[0-9]+(\\.[0-9]+)?'`;
    return html`<p>No track can be created yet. An administrator of the store must allow names first.</p>
      ${hostCommand(line, 'For example, on the host:')}`;
  }
  return formOf(
    browsing,
    addressOf(subject, 'tracks'),
    html`${field({
        name: 'track',
        label: 'Name',
        maxLength: 28,
        required: true,
        hint: html`The whole name must match one of these patterns:
        ${joined(
          patterns.slice(0, maxShown).map((pattern) => html`<code>${pattern}</code>`),
          ', ',
        )}.
        A track can be deleted only while its channels are empty.`,
      })}
      ${settings({ versionPattern: null, automaticPhasingPercentage: null })} <button>Create track</button>`,
  );
}

type TrackFormSettings = Pick<Track, 'versionPattern' | 'automaticPhasingPercentage' | 'rollout'>;

const settings = ({ versionPattern, automaticPhasingPercentage: phasing, rollout }: TrackFormSettings): Html =>
  html`${field({
    name: 'version-pattern',
    label: 'Version pattern',
    value: versionPattern ?? '',
    maxLength: 256,
    hint: html`A pattern such as <code>2.*</code> that tools show; empty for any.`,
  })}
  ${field({
    name: 'phasing',
    label: 'Steps of releases',
    value: rollout === undefined ? String(phasing ?? '') : rollout.steps.join(', '),
    maxLength: 1000,
    hint: html`A percentage of devices to add each day, such as <code>10</code>, or a list such as
      <code>1, 10, 50, 100</code>; empty for all at once. <code>larder track set</code> sets the time and the bound.`,
  })}`;

/** The settings from the form. A plan with the same steps as before keeps its other members. */
function settingsIn(body: Pick<ConsoleTrack, 'version-pattern' | 'phasing'>, before?: RolloutPlan): TrackFormSettings {
  const phasing = body.phasing.trim();
  const steps = phasing === '' ? [] : parseSteps(phasing);
  if (steps === undefined) {
    throw new Refusal(
      'api-error',
      `Steps are a number from 0 to 100, a list of numbers, or empty, not '${phasing.slice(0, 100)}' at /phasing`,
    );
  }
  const [first = null] = steps;
  const isSame = before?.steps.join() === steps.join();
  return {
    versionPattern: body['version-pattern'].trim() || null,
    automaticPhasingPercentage: steps.length > 1 ? null : first,
    rollout: steps.length > 1 ? (isSame ? before : readRolloutPlan({ steps })) : undefined,
  };
}

export const consoleCreateTrack = formHandler({
  name: 'console_create_track',
  path,
  summary: "Create a track that matches one of the package's guardrails.",
  access: manages,
  body: 'ConsoleNewTrack',
  refuses: ['invalid-tracks', 'conflicting-tracks'],

  async perform(call) {
    const { package: subject, body, acts } = call;
    await acts.do(createTracks, caller(call), {
      package: subject,
      tracks: [{ name: body.track.trim(), ...settingsIn(body) }],
    });
    return withMessage(addressOf(subject, 'tracks'), 'track-made');
  },
});

export const consoleTrack = screen({
  name: 'console_track',
  path: ofOne,
  summary: 'Show a track, with the forms to change or delete it.',
  access: onPackage('package-view-releases'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ package: subject, params, records, browsing }) {
    const track = await trackOf(records, subject, params.track);
    const trackAddress = addressOf(subject, 'tracks', track.name);
    return {
      title: `Track ${track.name} of ${subject.namespace}/${subject.name}`,
      lead: html`<a href="${addressOf(subject)}?track=${encodeURIComponent(track.name)}">Channels of the track</a>`,
      content: html`${facts([
          ['Since', time(track.createdAt)],
          ['Default track', subject.defaultTrack === track.name ? 'Yes' : 'No'],
        ])}
        <h2>Change</h2>
        ${formOf(browsing, trackAddress, html`${settings(track)} <button>Save</button>`)}
        ${
          track.name === 'latest'
            ? nothing
            : html`<h2>Delete</h2>
                <p><a class="button grave" href="${trackAddress}/delete">Delete the track</a></p>`
        }
        <p><a href="${addressOf(subject, 'tracks')}">All tracks</a></p>`,
    };
  },
});

export const consoleUpdateTrack = formHandler({
  name: 'console_update_track',
  path: ofOne,
  summary: 'Change the version pattern and the phasing of a track.',
  access: beyondChannels('package-manage-releases'),
  body: 'ConsoleTrack',

  async perform(call) {
    const { package: subject, params, body, acts } = call;
    const { rollout } = await trackOf(call.records, subject, params.track);
    const changes = settingsIn(body, rollout);
    await acts.do(updateTrack, caller(call), { package: subject, track: params.track, changes });
    return withMessage(addressOf(subject, 'tracks', params.track), 'track-changed');
  },
});

export const consoleAskDeleteTrack = screen({
  name: 'console_ask_delete_track',
  path: `${ofOne}/delete`,
  summary: 'Ask whether to delete a track.',
  access: manages,
  refuses: ['forbidden'],

  async show({ package: subject, params, records, browsing }) {
    const { name } = await trackOf(records, subject, params.track);
    const trackAddress = addressOf(subject, 'tracks', name);
    return {
      title: `Delete the track ${name}?`,
      lead: `A track can be deleted only while its channels and branches are empty. Devices that follow it receive no further revisions.`,
      content: html`${formOf(browsing, `${trackAddress}/delete`, html`<button class="grave">Delete ${name}</button>`)}
        <p><a href="${trackAddress}">Cancel</a></p>`,
    };
  },
});

export const consoleDeleteTrack = formHandler({
  name: 'console_delete_track',
  path: `${ofOne}/delete`,
  summary: 'Delete a track with no revisions in its channels and branches.',
  access: manages,
  body: 'ConsoleForm',
  refuses: ['conflict'],

  async perform(call) {
    const { package: subject, params, acts } = call;
    await acts.do(deleteTrack, caller(call), { package: subject, track: params.track });
    return withMessage(addressOf(subject, 'tracks'), 'track-deleted');
  },
});

/** Returns a track by name; refuses if it does not exist. */
async function trackOf(
  { tracks }: Pick<HandlerRecords, 'tracks'>,
  subject: PublishedPackage,
  name: string,
): Promise<Track> {
  const match = (await tracks.list(subject.id)).find((track) => track.name === name);
  if (match !== undefined) return match;
  throw new Refusal('resource-not-found', `'${subject.name}' has no track '${name.slice(0, 60)}'.`);
}
