// The release form: parses its fields into the shape of the interface, and shows it again.
import { checkShape } from '#contract/schema.ts';
import { html, nothing, type Html, type HtmlContent } from '#http/pages/html.ts';
import type { ConsoleReleaseQuery, PushReleasesRequest, RolloutPlanRequest } from '#contract/wire.ts';
import { parseChannel, risks } from '#domain/releases/channel.ts';
import { isWholeChannel } from '#domain/releases/channel-map.ts';
import { parseBound, parseSteps } from '#domain/releases/rollout-text.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { withQuery } from '../parts/address.ts';
import { choice, field, option, slider, tick } from '../parts/form.ts';
import { addressOf } from '../packages/address.ts';

const names = [
  'revision',
  'channels',
  'percentage',
  'paused',
  'steps',
  'hours',
  'failures',
  'notify',
  'resources',
  'close',
  'undo',
] as const;

/** The fields that define a release, as typed. */
export type ReleaseFormFields = Partial<Record<(typeof names)[number], string>>;

/** The fields that define the release of a query: ticked risks are channels, and only the fields of the chosen reach count. */
export function toReleaseFields({ track = 'latest', reach, ...query }: ConsoleReleaseQuery): ReleaseFormFields {
  const ticked = risks.filter((risk) => query[risk] === 'yes').map((risk) => `${track}/${risk}`);
  const channels = [...new Set([...ticked, ...pieces(query.channels ?? '')])].join(', ');
  const left = reach === undefined ? [] : names.filter((name) => (reachOf[name] ?? reach) !== reach);
  const filled = names.flatMap((name) => {
    const value = name === 'channels' ? channels : (query[name] ?? '');
    return value === '' || left.includes(name) ? [] : [[name, value] as const];
  });
  return Object.fromEntries(filled);
}

/** The reach that a field belongs to. */
const reachOf: Partial<Record<(typeof names)[number], ConsoleReleaseQuery['reach']>> = {
  percentage: 'share',
  paused: 'share',
  steps: 'steps',
  hours: 'steps',
  failures: 'steps',
  notify: 'steps',
};

/** Whether the fields are sufficient for a preview. */
export const isComplete = ({ revision, channels = '', close, undo }: ReleaseFormFields): boolean =>
  undo !== undefined || (channels.trim() !== '' && (revision !== undefined || close !== undefined));

/** Converts the form to the request of the release API. Refuses invalid input. */
export function parseReleaseForm({
  revision = '',
  channels = '',
  percentage = '',
  paused,
  resources = '',
  close = '',
  ...plan
}: ReleaseFormFields): PushReleasesRequest {
  const isClosing = close !== '';
  if (!isClosing && revision === '') throw new Refusal('api-error', 'Choose the revision to release.');
  const progressive = { percentage: Number(percentage), paused: paused === 'yes' };
  const rollout = readPlanFields(plan);
  const resourcePins = pieces(resources).map(readResource);
  if (pieces(channels).length === 0) throw new Refusal('api-error', 'Enter a channel, such as latest/edge.');
  const releases = [...new Set(pieces(channels))].map((channel) => ({
    channel,
    revision: isClosing ? null : Number(revision),
    ...(!isClosing && percentage !== '' && { progressive }),
    ...(!isClosing && rollout !== undefined && { rollout }),
    ...(!isClosing && resourcePins.length > 0 && { resources: resourcePins }),
  }));
  checkShape('PushReleasesRequest', releases);
  return releases;
}

/** The plan in the fields of a rollout; undefined without steps. */
function readPlanFields({
  steps = '',
  hours = '',
  failures = '',
  notify = '',
}: Pick<ReleaseFormFields, 'steps' | 'hours' | 'failures' | 'notify'>): RolloutPlanRequest | undefined {
  if (steps.trim() === '') {
    if ([hours, failures, notify].every((text) => text.trim() === '')) return undefined;
    throw new Refusal('api-error', 'Enter the steps of the rollout, such as 10% or 1%, 10%, 50%, 100%.');
  }
  const percentages = parseSteps(steps);
  if (percentages === undefined)
    throw new Refusal('api-error', 'Steps are a percentage, such as 10%, or a list such as 1%, 10%, 50%, 100%.');
  const bound = failures.trim() === '' ? undefined : parseBound(failures);
  if (failures.trim() !== '' && bound === undefined)
    throw new Refusal('api-error', 'A bound of failures is written as 5% or 5% of 20.');
  return {
    steps: percentages,
    ...(hours !== '' && { 'interval-seconds': Number(hours) * 3600 }),
    ...(bound !== undefined && { failures: bound }),
    ...(notify.trim() !== '' && { notify: pieces(notify) }),
  };
}

/** The parts between commas or blanks. */
const pieces = (text: string): string[] => text.split(/[\s,]+/).filter((piece) => piece !== '');

function readResource(text: string): { name: string; revision: number } {
  const [, name = '', revision] = /^([^:]+):(\d{1,10})$/.exec(text) ?? [];
  if (revision !== undefined) return { name, revision: Number(revision) };
  throw new Refusal(
    'api-error',
    `'${text.slice(0, 100)}' is not a revision of a resource. Write name:revision, such as image:3.`,
  );
}

/** The fields as hidden inputs, for the form that releases. */
export const hiddenReleaseFields = (filled: ReleaseFormFields): Html[] =>
  Object.entries(filled).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);

/** The address of the preview page. */
export const previewAddress = (subject: PublishedPackage, filled: ReleaseFormFields): string =>
  withQuery(addressOf(subject, 'release'), Object.fromEntries(names.map((name) => [name, filled[name]])));

interface ReleaseFormContext {
  tracks: readonly string[];
  /** The track that is chosen first. */
  track: string;
  /** The number of devices that have the package, as far as known. */
  devices: number;
  /** The list of revisions to choose from. */
  picker: Html;
}

/** The form with the fields; it leads to the preview and changes nothing. */
export const renderReleaseForm = (
  subject: PublishedPackage,
  filled: ReleaseFormFields,
  context: ReleaseFormContext,
): Html =>
  html`<form class="wide" method="get" action="${addressOf(subject, 'release')}">
    <fieldset>
      <legend>Revision</legend>
      ${context.picker}
    </fieldset>
    ${channelFields(filled, context)}
    ${isWholeChannel(subject.namespace) ? nothing : reachFields(subject, filled, context.devices)}
    ${
      subject.namespace === 'charm'
        ? field({
            name: 'resources',
            label: 'Resources',
            value: filled.resources,
            maxLength: 4000,
            hint: html`Such as <code>image:3, config:1</code>; other resources keep their revision.`,
          })
        : nothing
    }
    <button>Preview</button>
    <p class="hint">The preview shows what changes. Nothing is released before you confirm it there.</p>
  </form>`;

/** The risks of one track as checkboxes, and a field for other channels. */
function channelFields({ channels = '' }: ReleaseFormFields, { tracks, track }: ReleaseFormContext): Html {
  const typed = pieces(channels).map((text) => parseChannel(text)?.name ?? text);
  const chosen = tracks.find((name) => risks.some((risk) => typed.includes(`${name}/${risk}`))) ?? track;
  const others = typed.filter((name) => !risks.some((risk) => name === `${chosen}/${risk}`));
  return html`<fieldset>
    <legend>Channels</legend>
    ${
      tracks.length === 1
        ? html`<input type="hidden" name="track" value="${chosen}" />`
        : choice(
            { name: 'track', label: 'Track', value: chosen },
            tracks.map((name) => [name, name] as const),
          )
    }
    <p class="row">${risks.map((risk) => tick(risk, risk, typed.includes(`${chosen}/${risk}`)))}</p>
    <details class="more" ${others.length === 0 ? nothing : html`open`}>
      <summary>Branches and channels of other tracks</summary>
      ${field({
        name: 'channels',
        label: 'Other channels',
        value: others.join(', '),
        maxLength: 1000,
        hint: html`Such as <code>2.0/stable, latest/edge/fix</code>; a branch is <code>track/risk/branch</code>.`,
      })}
    </details>
  </fieldset>`;
}

/** The choice between all devices, some of them, and steps. The fields of a choice are shown while it is chosen. */
function reachFields({ namespace }: PublishedPackage, filled: ReleaseFormFields, devices: number): Html {
  const reach = filled.steps !== undefined ? 'steps' : filled.percentage !== undefined ? 'share' : 'all';
  const reachOption = (value: string, words: HtmlContent, fields: HtmlContent = nothing): Html =>
    option({ name: 'reach', value, words, chosen: reach === value }, fields);
  return html`<fieldset>
    <legend>Devices</legend>
    ${reachOption('all', namespace === 'snap' ? 'All devices, or in the steps of the track if it has some' : 'All devices')}
    ${reachOption(
      'share',
      'Some of the devices',
      html`${slider({ name: 'percentage', label: 'Share of the devices', value: filled.percentage ?? '10', devices })}
      ${tick('paused', 'Paused: further devices wait until the release continues', filled.paused === 'yes')}`,
    )}
    ${namespace === 'snap' ? reachOption('steps', 'In steps of its own', renderPlanFields(filled)) : nothing}
  </fieldset>`;
}

/** The fields of a rollout, instead of a percentage. */
const renderPlanFields = ({ steps, hours, failures, notify }: ReleaseFormFields): Html =>
  html`${field({
    name: 'steps',
    label: 'Steps of a rollout',
    value: steps,
    maxLength: 1000,
    hint: html`A percentage to add each time, such as <code>10%</code>, or a list such as
      <code>1%, 10%, 50%, 100%</code>.`,
  })}
  ${field({ name: 'hours', label: 'Hours per step', value: hours, maxLength: 3, inputMode: 'numeric', hint: 'Default: 24.' })}
  ${field({
    name: 'failures',
    label: 'Pause if more fail than',
    value: failures,
    maxLength: 40,
    hint: html`Default: <code>5% of 20</code>, that is, 5 % of at least 20 devices that tried it.`,
  })}
  ${field({ name: 'notify', label: 'Notify', value: notify, maxLength: 1400, hint: 'User names, separated by commas.' })}`;
