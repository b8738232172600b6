// The page of the present configuration, by key. It is changed in its file on the host.
import { storeAdministrator } from '#access/access-rules.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { configurationSections, type Config, type ConfigurationKey } from '#configuration/config.ts';
import { badge } from '../parts/notice.ts';
import { table } from '../parts/table.ts';
import { formatCount, size } from '../parts/values.ts';
import { screen } from '../screen.ts';

interface SettingsPageRow {
  name: string;
  key: ConfigurationKey;
  value: unknown;
  /** The value at the start of this process. */
  first: unknown;
}

export const consoleSettings = screen({
  name: 'console_settings',
  path: '/console/settings',
  summary: 'Show the configuration, and the settings that have changed since the start.',
  access: storeAdministrator('store-view'),

  show({ config, startedWith }) {
    const sections = [...configurationSections()].map(([section, { description, keys }]) => ({
      section,
      description,
      settings: [...keys].map(([name, key]): SettingsPageRow => ({
        name,
        key,
        value: valueOf(config, section, name),
        first: valueOf(startedWith, section, name),
      })),
    }));
    const changed = sections.flatMap(({ settings }) => settings.filter(isChanged)).length;
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
        ${sections.map(
          ({ section, description, settings }) =>
            html`<h2 id="${section}">[${section}]</h2>
              <p>${description}</p>
              ${tableOf(section, settings)}`,
        )}`,
    };
  },
});

const tableOf = (section: string, settings: readonly SettingsPageRow[]): Html =>
  table<SettingsPageRow>({
    caption: `Settings of ${section}`,
    columns: [
      { heading: 'Key', cell: ({ name }) => html`<code>${name}</code>` },
      { heading: 'Value', cell: shown },
      { heading: 'Description', cell: ({ key }) => key.description },
    ],
    rows: settings,
    empty: 'No settings.',
  });

function shown(setting: SettingsPageRow): HtmlContent {
  const { key, value } = setting;
  return html`${written(key, value)} ${isChanged(setting) ? badge('note', 'changed since the start') : nothing}`;
}

/** Formats a value. If a value may contain a secret, even by mistake, only "set" or "not set" is shown. */
function written({ secret, size: isSize }: ConfigurationKey, value: unknown): HtmlContent {
  if (value === undefined) return 'not set';
  if (secret) return 'set';
  if (isSize && typeof value === 'number') return size(value);
  return html`<code>${JSON.stringify(value)}</code>`;
}

const isChanged = ({ value, first }: SettingsPageRow): boolean => JSON.stringify(value) !== JSON.stringify(first);

const valueOf = (config: Config, section: string, name: string): unknown =>
  (config as unknown as Record<string, Record<string, unknown> | undefined>)[section]?.[name];
