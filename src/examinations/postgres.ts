// Examines the PostgreSQL server of the records, if there is one: its version, rights, disk, clock and connections.
import type { DatabaseServer, ServerState } from '#engine/database.ts';
import { describeFault } from '#platform/faults.ts';
import { notice, well, wrong, type Examination, type ExaminationFinding } from './examination.ts';

export const databaseServer: Examination = {
  subject: 'Database server',
  async look({ store }) {
    const { server } = (await store()).database;
    if (server === undefined) return well('the records are a file of the data directory');
    return examineServerState(server, await server.state());
  },
};

/**
 * Clock differences in milliseconds: above `notice` a notice, above `wrong` a problem. At the same limit a serving host leaves its load
 * balancer.
 */
const clockLimitsMs = { notice: 1000, wrong: 2500 };

type Concern = [level: 'wrong' | 'notice', says: string, mend: string];

/** The finding for this state of a server. */
export function examineServerState({ place }: Pick<DatabaseServer, 'place'>, state: ServerState): ExaminationFinding {
  const concerns = [...concernsOfRights(state), ...concernsOfDisk(state), ...concernsOfClock(state)];
  const { used, max: maxConnections } = state.connections;
  if (used > maxConnections * 0.9) {
    concerns.push([
      'wrong',
      `${String(used)} of the ${String(maxConnections)} connections that it takes are open`,
      'Raise max_connections there, or find the clients that hold them; each process of larder opens at most ten.',
    ]);
  }
  const says = `${place}, PostgreSQL ${state.version}, ${String(used)} of ${String(maxConnections)} connections open`;
  if (concerns.length === 0) return well(says);
  const isWrong = concerns.some(([level]) => level === 'wrong');
  const tell = isWrong ? wrong : notice;
  // Problems first; notices can wait.
  concerns.sort(([level], [other]) => Number(other === 'wrong') - Number(level === 'wrong'));
  return tell(`${says}; ${concerns.map(([, text]) => text).join('; ')}`, concerns.map(([, , mend]) => mend).join(' '));
}

function* concernsOfRights(state: ServerState): Generator<Concern> {
  const { isSuperuser, mayMakeTables, foreignTables } = state;
  if (state.isOpenToAll) {
    const { says, remedy } = describeFault('database-open', { database: state.database });
    yield ['notice', says, remedy];
  }
  if (isSuperuser) {
    yield [
      'notice',
      'the store connects as a superuser, with more rights than it needs',
      'Create a role for the store that owns its database: CREATE ROLE larder LOGIN; ALTER DATABASE … OWNER TO larder.',
    ];
  }
  if (!mayMakeTables) {
    yield [
      'wrong',
      'its user may not create tables, so an upgrade would fail',
      'GRANT CREATE ON SCHEMA … TO it, or make it the owner of the schema.',
    ];
  }
  if (foreignTables > 0) {
    yield [
      'wrong',
      `${String(foreignTables)} tables of the store belong to another user, so an upgrade would fail`,
      'Run REASSIGN OWNED BY that user TO the user in the configuration, in that database.',
    ];
  }
}

function* concernsOfDisk({ checksums, fullPageWrites }: ServerState): Generator<Concern> {
  if (!checksums) {
    yield [
      'notice',
      'it keeps no page checksums, so it does not notice changes by its disk',
      'Stop the server and run pg_checksums --enable there.',
    ];
  }
  if (!fullPageWrites) {
    yield [
      'notice',
      'full_page_writes is off, which may damage pages in a power cut',
      'Turn it on, unless the file system there replaces pages as a whole, as ZFS does.',
    ];
  }
}

function* concernsOfClock({ clock: { ahead, within } }: ServerState): Generator<Concern> {
  const surely = Math.abs(ahead) - within;
  if (surely <= clockLimitsMs.notice) return;
  const seconds = (Math.abs(ahead) / 1000).toFixed(1);
  yield [
    surely > clockLimitsMs.wrong ? 'wrong' : 'notice',
    `the clock of this machine is ${seconds} seconds ${ahead > 0 ? 'behind' : 'ahead of'} its clock`,
    'Have both follow the same time server.',
  ];
}
