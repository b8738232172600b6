// The page of the present configuration: search, changed settings, and all keys in folded sections. It is changed in its file on the host.
import { storeAdministrator } from '#access/access-rules.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { configurationSections, isDefault, valuesIn, type ConfigurationKey } from '#configuration/config.ts';
import type { ConsoleSettingsQuery } from '#contract/wire.ts';
import type { Services } from '#http/services.ts';
import { choice, field, searchOf } from '../parts/form.ts';
import { badge } from '../parts/notice.ts';
import { emptyState, table } from '../parts/table.ts';
import { count, formatCount, size } from '../parts/values.ts';
import { screen } from '../screen.ts';

interface SettingsPageRow {
  name: string;
  key: ConfigurationKey;
  value: unknown;
  /** The value at the start of this process. */
  first: unknown;
}

interface SettingsPageSection {
  section: string;
  description: string;
  settings: readonly SettingsPageRow[];
}

const address = '/console/settings';

export const consoleSettings = screen({
  name: 'console_settings',
  path: address,
  summary:
    'Search the configuration, and show the settings that differ from the default or have changed since the start.',
  access: storeAdministrator('store-view'),
  query: 'ConsoleSettingsQuery',

  show({ query, config, startedWith }) {
    const sections = readSections({ config, startedWith });
    const all = sections.flatMap(({ settings }) => settings);
    const changed = all.filter(isChanged).length;
    const shown = sections
      .map((section) => ({ ...section, settings: section.settings.filter(matching(section.section, query)) }))
      .filter(({ settings }) => settings.length > 0);
    const isSearch = (query.q ?? '') !== '' || (query.show ?? '') !== '';
    return {
      title: 'Settings',
      lead:
        changed === 0
          ? 'No setting has changed since the server started.'
          : `${formatCount(changed, 'setting')} changed since the server started.`,
      content: html`<p>
          The settings are in <code>larder.toml</code> in the data directory on the host. Apply changes with
          <code>systemctl reload larder</code> or the signal HUP. If a change needs a restart, the log says so.
        </p>
        ${searchOf(address, 'found', fieldsOf(query, all), undefined)}
        <div id="found">
          ${shown.length === 0 ? emptyState('There is no such setting.') : shown.map((section) => sectionOf(section, isSearch))}
        </div>`,
    };
  },
});

const readSections = ({ config, startedWith }: Pick<Services, 'config' | 'startedWith'>): SettingsPageSection[] =>
  [...configurationSections()].map(([section, { description, keys, anyKey }]) => {
    const [values, first] = [valuesIn(config, section), valuesIn(startedWith, section)];
    const shownKeys = anyKey === undefined ? [...keys] : Object.keys(values).map((name) => [name, anyKey] as const);
    return {
      section,
      description,
      settings: shownKeys.map(([name, key]) => ({ name, key, value: values[name], first: first[name] })),
    };
  });

/** Finds a text in the dotted name or the description of a setting. */
const matching =
  (section: string, { q = '', show = '' }: ConsoleSettingsQuery) =>
  (setting: SettingsPageRow): boolean =>
    `${section}.${setting.name} ${setting.key.description}`.toLowerCase().includes(q.trim().toLowerCase()) &&
    (show !== 'set' || isSet(setting)) &&
    (show !== 'changed' || isChanged(setting));

const fieldsOf = ({ q, show }: ConsoleSettingsQuery, all: readonly SettingsPageRow[]): Html =>
  html`${field({ name: 'q', label: 'Name or description', type: 'search', value: q, maxLength: 100 })}
    ${choice({ name: 'show', label: 'Settings', value: show }, [
      ['', `All (${count(all.length)})`],
      ['set', `Changed from the default (${count(all.filter(isSet).length)})`],
      ['changed', `Changed since the start (${count(all.filter(isChanged).length)})`],
    ])} <button class="second">Search</button>`;

/** A section: open if it is the result of a search, or has a setting that changed since the start. */
function sectionOf({ section, description, settings }: SettingsPageSection, isSearch: boolean): Html {
  const set = settings.filter(isSet).length;
  const changed = settings.filter(isChanged).length;
  return html`<details class="group" ${isSearch || changed > 0 ? html`open` : nothing}>
    <summary>
      <h2>[${section}]</h2>
      <span class="hint">${formatCount(settings.length, 'setting')}</span>
      ${set === 0 ? nothing : badge('part', `${count(set)} changed from the default`)}
      ${changed === 0 ? nothing : badge('note', `${count(changed)} changed since the start`)}
    </summary>
    <p id="${section}">${toProse(description)}</p>
    ${tableOf(section, settings)}
  </details>`;
}

/** A description with its `code` as code. */
const toProse = (text: string): HtmlContent =>
  html`<span>${text.split('`').map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : piece))}</span>`;

const tableOf = (section: string, settings: readonly SettingsPageRow[]): Html =>
  table<SettingsPageRow>({
    caption: `Settings of ${section}`,
    columns: [
      { heading: 'Key', cell: ({ name }) => html`<code>${name}</code>` },
      { heading: 'Value', cell: shown },
      { heading: 'Description', cell: ({ key }) => toProse(key.description) },
    ],
    rows: settings,
    empty: 'No settings.',
  });

const shown = (setting: SettingsPageRow): HtmlContent =>
  html`${written(setting.key, setting.value)} ${isChanged(setting) ? badge('note', 'changed since the start') : nothing}
  ${isSet(setting) ? badge('part', 'changed from the default') : nothing}`;

const isSet = ({ key, value }: SettingsPageRow): boolean => !isDefault(key, value);

/** Formats a value. If a value may contain a secret, even by mistake, only "set" or "not set" is shown. */
function written({ secret, size: isSize }: ConfigurationKey, value: unknown): HtmlContent {
  if (value === undefined) return 'not set';
  if (secret) return 'set';
  if (isSize && typeof value === 'number') return size(value);
  return html`<code>${JSON.stringify(value)}</code>`;
}

const isChanged = ({ value, first }: SettingsPageRow): boolean => JSON.stringify(value) !== JSON.stringify(first);
