// larder assertion export
import { parseAssertion, stream } from '#assertions/format/assertion.ts';
import { withPrerequisites } from '#assertions/prerequisites.ts';
import { assertionTypes, nameTyped } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import { nearest } from '#domain/nearest.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const assertionExport = command({
  name: 'assertion export',
  summary: "Write an assertion with its prerequisites, as devices take it with 'snap ack'.",
  positionals: [
    { name: 'type', summary: 'Its type, such as model, serial or account-key.' },
    {
      name: 'key',
      value: 'KEY',
      summary: 'The values of its primary key, in order; series 16 and provenance global-upload may be left out.',
      repeated: true,
    },
  ],
  examples: [
    'larder assertion export model 16 acme pump',
    'larder assertion export serial acme pump 0001 --json',
    'larder assertion export account acme',
  ],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      refuseType(positionals.type);
      const name = nameTyped(positionals.type, positionals.key);
      const stored = await records.assertions.find(name);
      if (stored === undefined) throw new Refusal('resource-not-found', `There is no assertion '${name}' here.`);
      const chain = await withPrerequisites(parseAssertion(stored.text), (names) => records.assertions.listOf(names));
      const whole = stream(chain);
      return { text: whole.trimEnd(), json: { name, revision: stored.revision, origin: stored.origin, stream: whole } };
    }),
});

function refuseType(type: string): void {
  if (assertionTypes.includes(type)) return;
  const meant = nearest(type, assertionTypes);
  const hint = meant === undefined ? `there is ${assertionTypes.join(', ')}` : `did you mean '${meant}'?`;
  throw new Refusal('api-error', `There is no type of assertion '${type}'; ${hint}`);
}
