// larder pull-credential end, larder pull-credential rotate
import { endPullCredential } from '#acts/images/credentials.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { presentPullCredential } from '#operations/registry/pull-credentials.ts';
import { command, type CommandResult, type CommandCall } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { readLatestTime, withStore } from '../frame/store.ts';

const positionals = [{ name: 'id', summary: "Their id, as 'larder pull-credential list' shows it." }] as const;

const instead =
  'What was pushed before carries the old ones in its content: push the resource again, and release it, so that ' +
  'deployments get others, which are made when the next image of the repository is asked for.';

export const pullCredentialEnd = command({
  name: 'pull-credential end',
  summary: 'End credentials to pull an image at once.',
  description: `From the next request on nobody pulls with them. ${instead}`,
  positionals,
  examples: ['larder pull-credential end pull-xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --yes'],
  confirm: {
    question: ({ positionals: { id } }) => `From the next request on nobody pulls an image with ${id}.`,
    unattended: 'refused',
  },
  run: ({ positionals: { id }, data, world }) => end(id, 0, { data, world }),
});

export const pullCredentialRotate = command({
  name: 'pull-credential rotate',
  summary: 'Have others in the place of credentials to pull an image, which stay good for a while.',
  description: instead,
  positionals,
  options: {
    overlap: { type: 'string', value: 'TIME', summary: 'How long the old ones stay good, such as 24h; otherwise 7d.' },
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
