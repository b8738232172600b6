// The page of the guardrails of a package: the patterns for names of new tracks, with forms to add and remove them.
import { addGuardrail, removeGuardrail } from '#acts/releases/tracks.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { html } from '#http/pages/html.ts';
import { Refusal } from '#domain/refusal.ts';
import { shellWord } from '#domain/shell-word.ts';
import { caller } from '#operations/caller.ts';
import { declareMessages } from '../messages.ts';
import { addressOf } from '../packages/address.ts';
import { withQuery } from '../parts/address.ts';
import { field, formOf } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';

const withMessage = declareMessages({
  'guardrail-added': 'The pattern is added. Publishers may create tracks that match it.',
  'guardrail-removed': 'The pattern is removed. Existing tracks stay.',
});

const path = '/console/packages/:namespace/:name/guardrails';

/** The maximum number of guardrails to show. */
const maxShown = 200;

export const consoleGuardrails = screen({
  name: 'console_guardrails',
  path,
  summary: "List the patterns that a package's tracks may match, with forms to add and remove them.",
  access: storeAdministratorOnPackage('store-view'),
  query: 'ConsolePageQuery',

  async show({ package: subject, records, browsing }) {
    const guardrails = await records.guardrails.list(subject.id);
    const address = addressOf(subject, 'guardrails');
    const name = `${subject.namespace}/${subject.name}`;
    return {
      title: `Guardrails of ${name}`,
      lead: html`Publishers may create tracks with names that match one of these patterns.
        <a href="${addressOf(subject, 'tracks')}">Tracks</a>`,
      content: html`${table({
          caption: 'Patterns',
          columns: [
            {
              heading: 'Pattern',
              cell: ({ pattern }: (typeof guardrails)[number]) => html`<code>${pattern}</code>`,
            },
            { heading: 'Since', cell: ({ createdAt }) => time(createdAt) },
            {
              heading: 'Remove',
              cell: ({ pattern }) =>
                html`<a href="${withQuery(`${address}/remove`, { pattern })}"
                  >Remove<span class="unseen"> ${pattern}</span></a
                >`,
            },
          ],
          rows: guardrails.slice(0, maxShown),
          empty: 'There is no pattern, so publishers create no tracks.',
        })}
        <h2>Add a pattern</h2>
        ${formOf(
          browsing,
          address,
          html`${field({
              name: 'pattern',
              label: 'Pattern',
              maxLength: 200,
              required: true,
              hint: html`A simple regular expression such as <code>[0-9]+\\.[0-9]+</code>. It must match the whole name
                of a track.`,
            })} <button>Add the pattern</button>`,
        )}
        ${hostCommand(`larder guardrail add ${name} '[0-9]+\\.[0-9]+'`)}`,
    };
  },
});

export const consoleAddGuardrail = formHandler({
  name: 'console_add_guardrail',
  path,
  summary: "Allow a package's publishers to create tracks by a pattern that must match the whole name.",
  access: storeAdministratorOnPackage('store-manage'),
  body: 'ConsoleGuardrail',
  refuses: ['conflict'],

  async perform(call) {
    const { package: subject, body, acts } = call;
    await acts.do(addGuardrail, caller(call), { package: subject, pattern: body.pattern.trim() });
    return withMessage(addressOf(subject, 'guardrails'), 'guardrail-added');
  },
});

export const consoleAskRemoveGuardrail = screen({
  name: 'console_ask_remove_guardrail',
  path: `${path}/remove`,
  summary: 'Ask whether to remove a pattern for names of tracks.',
  access: storeAdministratorOnPackage('store-manage'),
  query: 'ConsoleGuardrailQuery',
  refuses: ['resource-not-found'],

  async show({ package: subject, query, browsing, records }) {
    const { pattern = '' } = query;
    if (!(await records.guardrails.list(subject.id)).some((guardrail) => guardrail.pattern === pattern))
      throw new Refusal(
        'resource-not-found',
        `The package has no pattern '${pattern}', so there is nothing to remove.`,
      );
    const address = addressOf(subject, 'guardrails');
    return {
      title: 'Remove the pattern?',
      lead: html`Publishers can no longer create tracks of ${subject.namespace}/${subject.name} that match
        <code>${pattern}</code>. Existing tracks stay.`,
      content: html`${formOf(
          browsing,
          `${address}/remove`,
          html`<input type="hidden" name="pattern" value="${pattern}" />
            <button class="grave">Remove the pattern</button>`,
        )}
        ${hostCommand(`larder guardrail remove ${subject.namespace}/${subject.name} ${shellWord(pattern)}`)}
        <p><a href="${address}">Cancel</a></p>`,
    };
  },
});

export const consoleRemoveGuardrail = formHandler({
  name: 'console_remove_guardrail',
  path: `${path}/remove`,
  summary: 'Remove a pattern for new tracks. Existing tracks stay.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'ConsoleGuardrail',

  async perform(call) {
    const { package: subject, body, acts } = call;
    await acts.do(removeGuardrail, caller(call), { package: subject, pattern: body.pattern });
    return withMessage(addressOf(subject, 'guardrails'), 'guardrail-removed');
  },
});
