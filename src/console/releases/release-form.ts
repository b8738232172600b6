// The release form: parses its fields into the shape of the interface, and shows it again.
import { checkShape } from '#contract/schema.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { ConsoleReleaseQuery, PushReleasesRequest } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { field, tick } from '../parts/form.ts';
import { addressOf } from '../packages/address.ts';

/** The fields as typed. */
export type ReleaseFormFields = Pick<
  ConsoleReleaseQuery,
  'revision' | 'channels' | 'percentage' | 'paused' | 'resources' | 'close'
>;

/** Whether the fields are sufficient for a preview. */
export const isComplete = ({ revision = '', channels = '', close = '' }: ReleaseFormFields): boolean =>
  channels.trim() !== '' && (revision !== '' || close !== '');

/** Converts the form to the request of the release API. Refuses invalid input. */
export function parseReleaseForm({
  revision = '',
  channels = '',
  percentage = '',
  paused,
  resources = '',
  close = '',
}: ReleaseFormFields): PushReleasesRequest {
  const isClosing = close !== '';
  if (!isClosing && revision === '') throw new Refusal('api-error', 'Enter the revision to release.');
  const progressive = { percentage: Number(percentage), paused: paused === 'yes' };
  const resourcePins = pieces(resources).map(readResource);
  if (pieces(channels).length === 0) throw new Refusal('api-error', 'Enter a channel, such as latest/edge.');
  const releases = [...new Set(pieces(channels))].map((channel) => ({
    channel,
    revision: isClosing ? null : Number(revision),
    ...(!isClosing && percentage !== '' && { progressive }),
    ...(!isClosing && resourcePins.length > 0 && { resources: resourcePins }),
  }));
  checkShape('PushReleasesRequest', releases);
  return releases;
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
  names.flatMap((name) => {
    const value = filled[name] ?? '';
    return value === '' ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`];
  });

/** The address of the preview page. */
export function previewAddress(subject: PublishedPackage, filled: ReleaseFormFields): string {
  const members = names.flatMap((name): [string, string][] => {
    const value = filled[name] ?? '';
    return value === '' ? [] : [[name, value]];
  });
  return `${addressOf(subject, 'release')}?${new URLSearchParams(members).toString()}`;
}

const names = ['revision', 'channels', 'percentage', 'paused', 'resources', 'close'] as const;

/** The form with the fields; it leads to the preview and changes nothing. */
export const renderReleaseForm = (subject: PublishedPackage, filled: ReleaseFormFields): Html =>
  html`<form method="get" action="${addressOf(subject, 'release')}">
    ${field({ name: 'revision', label: 'Revision', value: filled.revision, maxLength: 9, inputMode: 'numeric', required: true })}
    ${field({
      name: 'channels',
      label: 'Channels',
      value: filled.channels ?? '',
      maxLength: 1000,
      required: true,
      hint: html`Such as <code>latest/stable, 2.0/edge/fix</code>; a branch is <code>track/risk/branch</code>.`,
    })}
    ${
      subject.namespace === 'snap' || subject.namespace === 'charm'
        ? html`${field({
            name: 'percentage',
            label: 'Progressive release',
            value: filled.percentage,
            maxLength: 5,
            inputMode: 'numeric',
            hint: 'Percentage of devices that get the release; empty for all at once.',
          })}
          ${tick('paused', 'Paused: further devices wait until the release continues', filled.paused === 'yes')}`
        : null
    }
    ${
      subject.namespace === 'charm'
        ? field({
            name: 'resources',
            label: 'Resources',
            value: filled.resources,
            maxLength: 4000,
            hint: html`Such as <code>image:3, config:1</code>; other resources keep their revision.`,
          })
        : null
    }
    <button class="second">Preview</button>
  </form>`;
