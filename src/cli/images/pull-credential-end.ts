// larder pull-credential end, larder pull-credential rotate
import { endPullCredential } from '#acts/images/credentials.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { presentPullCredential } from '#operations/registry/pull-credentials.ts';
import { command, type CommandResult, type CommandCall } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { readLatestTime, withStore } from '../frame/store.ts';

const positionals = [
  { name: 'id', summary: "The id of the credentials, as 'larder pull-credential list' shows it." },
] as const;

const instead =
  'Resource revisions that were already pushed contain the old credentials: push the resource again and ' +
  'release it, so that deployments get new ones. The new credentials are made at the next request for an image ' +
  'of the repository.';

export const pullCredentialEnd = command({
  name: 'pull-credential end',
  summary: 'End pull credentials of an image at once.',
  description: `The registry refuses the credentials from the next request on. ${instead}`,
  positionals,
  examples: ['larder pull-credential end pull-xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --yes'],
  confirm: {
    question: ({ positionals: { id } }) => `From the next request on the registry refuses the credentials ${id}.`,
    unattended: 'refused',
  },
  run: ({ positionals: { id }, data, world }) => end(id, 0, { data, world }),
});

export const pullCredentialRotate = command({
  name: 'pull-credential rotate',
  summary: 'Rotate the pull credentials of an image. The old ones stay valid for a grace period.',
  description: instead,
  positionals,
  options: {
    overlap: {
      type: 'string',
      value: 'TIME',
      summary: 'How long the old credentials stay valid, such as 24h. Default: 7d.',
    },
  },
  examples: ['larder pull-credential rotate pull-xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --overlap 30d'],
  run({ positionals: { id }, options: { overlap }, data, world }) {
    const length = overlap === undefined ? days(7) : readDuration(overlap, '--overlap', days(365));
    return end(id, length, { data, world });
  },
});

const end = (id: string, overlap: number, call: Pick<CommandCall, 'data' | 'world'>): Promise<CommandResult> =>
  withStore(call, async (store) => {
    const moment = await readLatestTime(store);
    const endsAt = timestamp(after(new Date(moment), overlap));
    const ended = await store.acts.do(endPullCredential, store.person, { id, moment, endsAt });
    const of = `${ended.namespace}/${ended.name}, resource ${ended.resource}`;
    return { text: `The credentials ${id} of ${of}, end at ${endsAt}.`, json: presentPullCredential(ended) };
  });
