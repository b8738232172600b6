// What juju's own reader says of the files of charms and bundles. Each group names the file of juju/charm (v12.0.1, which
// juju 3 has) that says so; all verdicts were taken from that reader.

export interface JujuVectors {
  /** Where it is said. */
  source: string;
  kind: 'charm' | 'bundle';
  /** The file that differs; `more` stands behind what every charm or bundle has, `whole` alone. */
  file: string;
  form: 'more' | 'whole';
  accepted: string[];
  /** Texts that juju refuses, with what a publisher is told. */
  refused: [text: string, why: RegExp][];
  /** Files beside it, in place of those that every charm or bundle has. */
  beside?: Record<string, string>;
}

const minimal = 'name: hello\nsummary: s\ndescription: d\n';

const metadata: JujuVectors[] = [
  {
    ...{ source: 'meta.go, charmSchema', kind: 'charm', file: 'metadata.yaml', form: 'whole' },
    accepted: [
      minimal,
      'name: hello\nsummary: ""\ndescription: ""\n',
      `${minimal}unknown: {a: [1]}\nlinks: x\nmaintainers: 5\n`,
      `${minimal}revision: 3\nformat: "1"\nsubordinate: "false"\n`,
      `${minimal}categories: [a, b]\ntags: []\n`,
      `${minimal}summary: last one counts\n`,
      `${minimal}---\nnot: [read\n`.replace('[read', 'read'),
      `${minimal}charm-user: non-root\n`,
    ],
    refused: [
      ['[a]', /has no 'name'/],
      ['name: hello\ndescription: d\n', /'summary' must be text, but is missing/],
      ['name: hello\nsummary: s\n', /'description' must be text, but is missing/],
      ['name: hello\nsummary:\ndescription: d\n', /'summary' must be text, but is empty/],
      ['name: hello\nsummary: [s]\ndescription: d\n', /'summary' must be text, but is a list/],
      ['name: hello\nsummary: 1.0\ndescription: d\n', /is the number '1\.0'\. Put it in quotes/],
      ['name: hello\nsummary: yes\ndescription: d\n', /is the boolean 'yes'\. Put it in quotes/],
      [`${minimal}subordinate: maybe\n`, /'subordinate' must be true or false/],
      [`${minimal}revision: 1.5\n`, /'revision' must be a whole number/],
      [`${minimal}categories: a\n`, /'categories' must be a list/],
      [`${minimal}tags: [a, 5]\n`, /'tags\[1\]' must be text/],
      [`${minimal}5: x\n`, /a name in the file must be text/],
      [`${minimal}charm-user: nobody\n`, /'charm-user' must be one of 'root'/],
      [`${minimal}series: [jammy]\nassumes: [juju]\n`, /'series' and 'assumes' cannot be used together/],
    ],
  },
  {
    ...{ source: 'meta.go, Check and ifaceSchema', kind: 'charm', file: 'metadata.yaml', form: 'more' },
    accepted: [
      'provides: {web: http}\n',
      'provides: {web: {interface: http, limit: 2, optional: true, scope: container}}\n',
      'requires: {db: {interface: pg, limit: null}}\npeers: {ring: {interface: ring}}\n',
      'requires: {x: juju-info}\n',
      'subordinate: true\nrequires: {juju-info: {interface: juju-info, scope: container}}\n',
      'provides: {}\n',
    ],
    refused: [
      ['provides:\n', /'provides' must be a mapping, but is empty/],
      ['provides: [web]\n', /'provides' must be a mapping, but is a list/],
      ['provides: {web: }\n', /'provides\.web' must be a mapping, but is empty/],
      ['provides: {web: {limit: 1}}\n', /'provides\.web\.interface' must be text, but is missing/],
      ['provides: {web: {interface: http, limit: many}}\n', /limit' must be a whole number/],
      ['provides: {web: {interface: http, scope: wide}}\n', /scope' must be one of 'global', 'container'/],
      ['provides: {web: {interface: http, optional: }}\n', /optional' must be true or false, but is empty/],
      ['provides: {juju-web: http}\n', /the name of the relation 'juju-web' is juju's own/],
      ['requires: {juju: http}\n', /the name of the relation 'juju' is juju's own/],
      ['provides: {web: juju-x}\n', /the interface 'juju-x' of the relation 'web' is juju's own|juju's own/],
      ['provides: {web: http}\nrequires: {web: http}\n', /two relations are called 'web'/],
      ['subordinate: true\n', /a subordinate charm needs a relation/],
      ['subordinate: true\nrequires: {a: b}\n', /a subordinate charm needs a relation/],
      ['requires: {juju-info: {interface: juju-info, scope: container}}\n', /juju's own/],
    ],
  },
  {
    ...{ source: 'extra_bindings.go', kind: 'charm', file: 'metadata.yaml', form: 'more' },
    accepted: ['extra-bindings: {admin: , "public": null}\n'],
    refused: [
      ['extra-bindings: {}\n', /'extra-bindings' must be a mapping of names, but is empty/],
      ['extra-bindings: [a]\n', /must be a mapping of names, but is a list/],
      ['extra-bindings: {admin: x}\n', /'admin' in 'extra-bindings' must have no value/],
      ['extra-bindings: {"": }\n', /a name in 'extra-bindings' must be text/],
      ['provides: {web: http}\nextra-bindings: {web: }\n', /'web' in 'extra-bindings' is the name of a relation/],
    ],
  },
  {
    ...{ source: 'meta.go, storageSchema and utils size.go', kind: 'charm', file: 'metadata.yaml', form: 'more' },
    accepted: [
      'storage: {data: {type: filesystem, location: /srv}}\n',
      'storage: {data: {type: block, shared: true, read-only: "true", description: x, properties: [transient]}}\n',
      ...['2', '"2"', '"1-"', '1+', '0-2', '"1-3"'].map(
        (range) => `storage: {d: {type: block, multiple: {range: ${range}}}}\n`,
      ),
      ...['"500"', '1G', '1.5GiB', '2TB'].map((size) => `storage: {d: {type: block, minimum-size: ${size}}}\n`),
    ],
    refused: [
      ['storage: {data: }\n', /'storage\.data' must be a mapping/],
      ['storage: {data: {}}\n', /'storage\.data\.type' must be one of 'block', 'filesystem', but is missing/],
      ['storage: {data: {type: tape}}\n', /but is 'tape'/],
      ['storage: {data: {type: block, location: /srv}}\n', /has a location, which only the type filesystem takes/],
      ['storage: {data: {type: block, shared: maybe}}\n', /shared' must be true or false/],
      ['storage: {data: {type: block, properties: [fast]}}\n', /properties\[0\]' must be 'transient'/],
      ['storage: {data: {type: block, multiple: {}}}\n', /range' must be a count/],
      ...['0', '-1', 'many', '"0-0"', '1.5', '1--2'].map((range): [string, RegExp] => [
        `storage: {d: {type: block, multiple: {range: ${range}}}}\n`,
        /range'? must|is none|at least/,
      ]),
      ...['500', 'G', '1K', '"-1"', '1.2.3'].map((size): [string, RegExp] => [
        `storage: {d: {type: block, minimum-size: ${size}}}\n`,
        /minimum-size/,
      ]),
    ],
  },
  {
    ...{ source: 'meta.go, deviceSchema', kind: 'charm', file: 'metadata.yaml', form: 'more' },
    accepted: [
      'devices: {gpu: {type: nvidia.com/gpu, countmin: 1, countmax: 2}}\n',
      'devices: {gpu: {type: gpu, countmin: 0}}\n',
    ],
    refused: [
      ['devices: {gpu: {}}\n', /type' must be text, but is missing/],
      ['devices: {gpu: {type: ""}}\n', /'devices\.gpu' has no type/],
      ['devices: {gpu: {type: gpu, countmin: -1}}\n', /must not be negative/],
      ['devices: {gpu: {type: gpu, countmin: 2}}\n', /wants at least 2, and at most 1/],
      ['devices: {gpu: {type: gpu, countmin: x}}\n', /must be a whole number/],
    ],
  },
  {
    ...{ source: 'resources.go and resource/meta.go', kind: 'charm', file: 'metadata.yaml', form: 'more' },
    accepted: [
      'resources: {}\n',
      'resources: {a: {filename: a.tgz}}\n',
      'resources: {a: {type: file, filename: a.tgz, description: d}, b: {type: oci-image}}\n',
    ],
    refused: [
      ['resources: [a]\n', /'resources' must be a mapping/],
      ['resources: {a: }\n', /'resources\.a' must be a mapping/],
      ['resources: {a: {type: file}}\n', /'resources\.a' is a file, and has no filename/],
      ['resources: {a: {}}\n', /is a file, and has no filename/],
      ['resources: {a: {type: file, filename: a/b}}\n', /must have no slash/],
      ['resources: {a: {type: snap, filename: a}}\n', /must be file or oci-image, but is 'snap'/],
      ['resources: {a: {type: oci-image, description: 5}}\n', /description' must be text/],
    ],
  },
  {
    ...{ source: 'payloads.go, meta.go ParseTerm, charm.go', kind: 'charm', file: 'metadata.yaml', form: 'more' },
    beside: { 'manifest.yaml': '' },
    accepted: [
      'payloads: {kvm-guest: {type: kvm}}\n',
      'terms: [abc, owner/terms/1, terms/3, cs:owner/terms/1, "owner@domain/terms"]\n',
      'series: [jammy, focal]\nmin-juju-version: 2.9.0\n',
      'min-juju-version: 2.9-beta1\n',
      'series: [kubernetes]\ndeployment: {type: stateful, service: omit}\n',
    ],
    refused: [
      ['payloads: {a: {}}\n', /type' must be text/],
      ['payloads: {a_b: {type: kvm}}\n', /cannot be the name of a payload/],
      ['payloads: {a: {type: ""}}\n', /'payloads\.a' has no type/],
      ...['a', 'Term', 'a_b', 'a-', 'a--b', '1a', 'o/t/x', 'o/t/-1', 'a/b/c/d', '"!!/terms"', '":: x"'].map(
        (term): [string, RegExp] => [`terms: [${term}]\n`, /is none/],
      ),
      ['min-juju-version: 2.9\n', /must be text/],
      ['min-juju-version: "2.9"\n', /is no version/],
      ['series: [Jammy]\n', /cannot be the name of a series/],
      ['deployment: {type: stateful}\n', /needs 'kubernetes' as the first of the series/],
      ['series: [kubernetes]\ndeployment: {type: other}\n', /must be one of 'stateful'/],
      ['assumes: [juju]\n', /'assumes' needs bases/],
      ['containers: {a: {}}\n', /'containers' needs bases/],
    ],
  },
  {
    ...{ source: 'assumes/parser.go and meta.go, parseContainers', kind: 'charm', file: 'metadata.yaml', form: 'more' },
    accepted: [
      'assumes: []\n',
      'assumes: [k8s-api, juju >= 3.1, juju < 4, "juju>=3.1.6", any-of: [a1, all-of: [bc, "de < 1.2-beta3.4"]]]\n',
      'containers: {}\n',
      'resources: {i: {type: oci-image}}\ncontainers: {c: {resource: i, uid: 999, gid: 10000}}\n',
      'storage: {d: {type: filesystem}}\ncontainers: {c: {mounts: [{storage: d, location: /d}]}}\n',
    ],
    refused: [
      ['assumes: juju\n', /'assumes' must be a list/],
      ['assumes: [5]\n', /is the number '5'/],
      ...['a', 'Juju', '"juju >"', '"juju => 3"', '"juju >= x"', '"juju >= 3.1.2.3.4"', '"a-"'].map(
        (one): [string, RegExp] => [`assumes: [${one}]\n`, /under 'assumes' is none/],
      ),
      ['assumes: [{one-of: [ab]}]\n', /must have one key, any-of or all-of/],
      ['assumes: [{any-of: [ab], all-of: [cd]}]\n', /must have one key/],
      ['assumes: [{any-of: ab}]\n', /any-of under 'assumes' must be a list/],
      ['containers: {c: }\n', /'containers\.c' must be a mapping/],
      ['containers: {c: {resource: i}}\n', /the resource 'i' of 'containers\.c' is not declared/],
      ['resources: {i: {filename: x}}\ncontainers: {c: {resource: i}}\n', /is no oci-image/],
      ['containers: {c: {mounts: [{storage: d, location: /d}]}}\n', /the storage 'd' .* is not declared/],
      ['storage: {d: {type: block}}\ncontainers: {c: {mounts: [{storage: d}]}}\n', /has no location/],
      ['containers: {c: {uid: 1000}}\n', /juju keeps 1000 to 9999/],
      ['containers: {c: {gid: 9999}}\n', /juju keeps 1000 to 9999/],
      ['min-juju-version: 2.9.0\n', /cannot be used beside bases/],
      ['series: [kubernetes]\ncontainers: {c: {}}\n', /cannot be used together/],
    ],
  },
];

const base = (more: string) => `bases: [{name: ubuntu, channel: "22.04"${more}}]\n`;

const otherFiles: JujuVectors[] = [
  {
    ...{
      source: 'manifest.go, base.go, channel.go and utils arch.go',
      kind: 'charm',
      file: 'manifest.yaml',
      form: 'whole',
    },
    accepted: [
      '',
      'bases: []\n',
      base(''),
      base(', architectures: []'),
      base(', architectures: [amd64, aarch64, s390x, ppc64le, x86_64, i686, armv7l, riscv64, armhf, arm64]'),
      'bases: [{name: ubuntu, channel: 18.04/stable}]\n',
      'bases: [{name: ubuntu, channel: 20.04/edge/fix}, {name: centos, channel: "7", architectures: [amd64]}]\n',
      'analysis: {}\ncharmcraft-version: 2.5\nbases: [{name: ubuntu, channel: "22.04", more: x}]\n',
    ],
    refused: [
      ['a: b\n', /'bases' must be a list, but is missing/],
      ['bases: {name: ubuntu}\n', /'bases' must be a list, but is a mapping/],
      ['bases: [{channel: "22.04"}]\n', /a base has no name/],
      ['bases: [{name: Ubuntu, channel: "22.04"}]\n', /'Ubuntu' is no base that juju knows\. Name one of ubuntu/],
      ['bases: [{name: debian, channel: "12"}]\n', /'debian' is no base that juju knows/],
      ['bases: [{name: ubuntu}]\n', /the channel '' of a base is none/],
      [
        'bases: [{name: ubuntu, channel: 22.04}]\n',
        /channel' must be text, but is the number '22\.04'\. Put it in quotes/,
      ],
      ['bases: [{name: ubuntu, channel: 22.04/solid}]\n', /the channel '22\.04\/solid' of a base is none/],
      ['bases: [{name: ubuntu, channel: a/b/c/d}]\n', /is none/],
      ['bases: [{name: ubuntu, channel: /stable}]\n', /is none/],
      [base(', architectures: [sparc]'), /'sparc' is no architecture that juju knows\. Name one of amd64/],
      [base(', architectures: [all]'), /'all' is no architecture/],
      [base(', architectures: amd64'), /must be a list/],
      [base(', architectures: '), /must be a list/],
    ],
  },
  {
    ...{ source: 'config.go', kind: 'charm', file: 'config.yaml', form: 'whole' },
    accepted: [
      'options: {}\n',
      'options:\n',
      'options: {a: , b: {}, c: {type: string}, d: {default: x}, e: {type: string, default: ""}}\n',
      'options: {a: {type: int, default: 5}, b: {type: int, default: "0x10"}, c: {type: int, default: null}}\n',
      'options: {a: {type: float, default: 5}, b: {type: float, default: 1.5e3}, c: {type: boolean, default: yes}}\n',
      'options: {a: {type: boolean, default: "T"}, b: {type: secret, default: "secret:abc"}, c: {type: secret}}\n',
      'options: {a: {type: string, default: "5", description: 5, more: x}}\nother: 1\n',
    ],
    refused: [
      ['', /it has no 'options'/],
      ['{}', /it has no 'options'/],
      ['a: b\n', /it has no 'options'/],
      ['[a]', /must be a mapping/],
      ['options: [a]\n', /'options' must be a mapping/],
      ['options: {a: x}\n', /'options\.a' must be a mapping/],
      ['options: {a: {type: number}}\n', /the option 'a' has the unknown type 'number'\. Name one of string, int/],
      ['options: {a: {type: [int]}}\n', /type' must be text/],
      ['options: {a: {type: string, default: 5}}\n', /default' must be text, but is the number '5'/],
      ['options: {a: {default: yes}}\n', /default' must be text, but is the boolean 'yes'/],
      ['options: {a: {type: int, default: 1.5}}\n', /must be a whole number/],
      ['options: {a: {type: int, default: ""}}\n', /must be a whole number/],
      ['options: {a: {type: float, default: "1.5"}}\n', /the default must be a number/],
      ['options: {a: {type: boolean, default: "yes"}}\n', /must be true or false/],
      ['options: {a: {type: secret, default: abc}}\n', /is no address of one/],
    ],
  },
  {
    ...{ source: 'actions.go and gojsonschema', kind: 'charm', file: 'actions.yaml', form: 'whole' },
    accepted: [
      '',
      'snapshot: \n',
      'snapshot: {description: d, params: {outfile: {type: string, default: x, description: d}}, required: [outfile]}\n',
      'a: {parallel: true, execution-group: g, additionalProperties: false, title: t}\n',
      'a1-b2: {params: {num: {type: [integer, string], minimum: 1, maximum: 2, exclusiveMinimum: true}}}\n',
      'a: {params: {l: {type: array, items: {type: string}, minItems: 3, maxItems: 1, uniqueItems: true, enum: [[1], [2]]}}}\n',
      'a: {params: {o: {type: object, properties: {x: {pattern: "^[a-z]+(?:x|y)*$"}}, required: [x], dependencies: {x: [z]}}}}\n',
      'a: {params: {o: {oneOf: [{type: string}, {not: {type: "null"}}], patternProperties: {"^x": {}}}}}\n',
    ],
    refused: [
      ['[a]', /must be a mapping/],
      ['a: x\n', /'a' must be a mapping/],
      ['Snapshot: {}\n', /'Snapshot' cannot be the name of an action/],
      ['a_b: {}\n', /cannot be the name of an action/],
      ['juju-run: {}\n', /the name 'juju-run' of an action is juju's own/],
      ['a: {description: 5}\n', /'a\.description' must be text/],
      ['a: {title: }\n', /'a\.title' must be text, but is empty/],
      ['a: {required: x}\n', /'a\.required' must be a list/],
      ['a: {required: [x, x]}\n', /names something twice/],
      ['a: {parallel: "true"}\n', /'a\.parallel' must be true or false/],
      ['a: {params: }\n', /'a\.params' must be a mapping/],
      ['a: {params: [x]}\n', /'a\.params' must be a mapping/],
      ['a: {params: {x: }}\n', /must be a mapping/],
      ['a: {params: {x: {type: str}}}\n', /'str', which is no type of JSON/],
      ['a: {params: {x: {$ref: y}}}\n', /'\$ref' stands in/],
      ['a: {params: {x: {5: y}}}\n', /must be text/],
      ['a: {params: {x: {minimum: "1"}}}\n', /must be a number/],
      ['a: {params: {x: {minimum: 3, maximum: 1}}}\n', /'minimum' in .* is greater than 'maximum'/],
      ['a: {params: {x: {exclusiveMinimum: true}}}\n', /needs the bound/],
      ['a: {params: {x: {minLength: -1}}}\n', /must be a whole number from 0 on/],
      ['a: {params: {x: {minLength: 3, maxLength: 1}}}\n', /greater than/],
      ['a: {params: {x: {pattern: "(a"}}}\n', /is no regular expression/],
      ['a: {params: {x: {pattern: "a(?=b)"}}}\n', /is no regular expression/],
      ['a: {params: {x: {enum: [1, 1]}}}\n', /has a value twice/],
      ['a: {params: {x: {items: 5}}}\n', /must be a mapping/],
      ['a: {additionalProperties: 5}\n', /must be a mapping/],
    ],
  },
  {
    ...{ source: 'metrics.go', kind: 'charm', file: 'metrics.yaml', form: 'whole' },
    accepted: [
      '',
      'metrics: \n',
      'metrics: {juju-units: , pings: {type: gauge, description: d}}\nplan: {required: true}\n',
    ],
    refused: [
      ['metrics: [a]\n', /must be a mapping/],
      ['metrics: {pings: {type: count, description: d}}\n', /must be gauge or absolute/],
      ['metrics: {pings: {type: gauge}}\n', /has no description/],
      ['metrics: {juju-units: {type: gauge}}\n', /is juju's own/],
      ['plan: {required: perhaps}\n', /must be true or false/],
    ],
  },
  {
    ...{ source: 'lxdprofile.go', kind: 'charm', file: 'lxd-profile.yaml', form: 'whole' },
    accepted: [
      '',
      'description: 5\nconfig: {security.nesting: true}\ndevices: {tun: {path: /dev/net/tun, type: unix-char}}\n',
    ],
    refused: [
      ['[a]', /must be a mapping/],
      ['config: [a]\n', /'config' must be a mapping/],
      ['config: {a: [b]}\n', /'config\.a' must be text/],
      ['devices: {tun: x}\n', /'devices\.tun' must be a mapping/],
    ],
  },
  {
    ...{ source: 'charmarchive.go', kind: 'charm', file: 'revision', form: 'whole' },
    accepted: ['5', ' 12\n', '+3 and more', '0x1f'],
    refused: [
      ['', /does not begin with a number/],
      ['five', /does not begin with a number/],
    ],
  },
];

const applications = 'applications: {a: {charm: a, num_units: 2}, b: {charm: "ch:b", channel: edge, num_units: 1}}\n';

const bundles: JujuVectors[] = [
  {
    ...{ source: 'bundledata.go', kind: 'bundle', file: 'bundle.yaml', form: 'whole' },
    accepted: [
      applications,
      `name: hello\ndescription: d\ntags: [a]\nseries: jammy\nunknown: x\n${applications}`,
      `default-base: ubuntu@22.04/stable\n${applications}`,
      `${applications}--- # overlay\napplications: {a: {offers: {web: {endpoints: [http]}}}}\n`,
      `bundle: kubernetes\napplications: {a: {charm: a, scale: 2, placement: disk=ssd}}\n`,
      'applications: {a: {charm: a, scale: 1, options: {x: 1, y: [2]}, constraints: mem=4G, trust: true, expose: yes}}\n',
      'applications: {a: {charm: ch:amd64/jammy/a, revision: 3, channel: stable, base: ubuntu@22.04}}\n',
      'applications: {a: {charm: local:jammy/a-3}}\n',
      'applications: {a: {charm: a, resources: {x: 3, y: ./file}, storage: {data: 1G}, bindings: {"": alpha}}}\n',
      `${applications}machines: {0: , "1": {series: jammy, base: ubuntu@22.04, constraints: x, annotations: {a: 5}}}\n`.replace(
        'num_units: 2}',
        'num_units: 2, to: [0, "lxd:1"]}',
      ),
    ],
    refused: [
      ['', /it has no 'applications'/],
      ['applications: {}\n', /it has no 'applications'/],
      ['services: {a: {charm: a}}\n', /it has no 'applications'/],
      ['applications: [a]\n', /'applications' must be a mapping/],
      ['applications: {a: }\n', /the application 'a' says nothing/],
      ['applications: {a: {num_units: 1}}\n', /the application 'a' has no charm/],
      ['applications: {a: {charm: "Bad Name"}}\n', /is no name of a charm/],
      ['applications: {a: {charm: "cs:a"}}\n', /is no name of a charm/],
      ['applications: {a: {charm: ./a}}\n', /is the path '\.\/a'/],
      ['applications: {a: {charm: ch:a-3}}\n', /names a revision\. Use the key 'revision'/],
      ['applications: {a: {charm: a, revision: 3}}\n', /has a revision and no channel/],
      [
        'applications: {a: {charm: a, channel: edge, revision: -3}}\n',
        /the revision of the application 'a' is negative/,
      ],
      ['applications: {a: {charm: a, num_units: -1}}\n', /has -1 units/],
      ['applications: {a: {charm: a, num_units: two}}\n', /num_units' must be a whole number/],
      ['applications: {a: {charm: a, num_units: 1, scale: 1}}\n', /has scale and num_units/],
      ['applications: {a: {charm: a, placement: x}}\n', /only bundles for Kubernetes/],
      ['applications: {a: {charm: a, series: Jammy}}\n', /the series 'Jammy'/],
      ['applications: {a: {charm: ch:jammy/a, series: focal}}\n', /names another series/],
      ['applications: {a: {charm: a, base: debian@12}}\n', /the base 'debian@12'/],
      ['applications: {a: {charm: a, base: ubuntu}}\n', /the base 'ubuntu'/],
      ['applications: {a: {charm: a, storage: {A: 1G}}}\n', /'A' in the storage/],
      ['applications: {a: {charm: a, resources: {x: [1]}}}\n', /must be a revision/],
      ['applications: {a: {charm: a, offers: {O: }}}\n', /'O' in the offers/],
      ['applications: {a: {charm: a, expose: true, exposed-endpoints: {x: }}}\n', /has expose and exposed-endpoints/],
      [
        'applications: {a: {charm: a, exposed-endpoints: {x: {expose-to-cidrs: [10.0.0.0]}}}}\n',
        /is no network such as/,
      ],
      [`bundle: lxd\n${applications}`, /'bundle' must be kubernetes/],
      [`series: 5-x\n${applications}`, /the series '5-x'/],
      [`default-base: ubuntu@\n${applications}`, /the base 'ubuntu@'/],
      [`${applications}saas: {a: }\n`, /'a' is an application, and in 'saas' too/],
      [`${applications}saas: {r: {url: nothing}}\n`, /is no offer/],
      [`bundle: kubernetes\n${applications}machines: {0: }\n`, /names machines/],
    ],
  },
  {
    ...{ source: 'bundledata.go, verifyRelations', kind: 'bundle', file: 'bundle.yaml', form: 'more' },
    accepted: [
      'relations: []\n',
      'relations: [[a, b]]\n',
      'relations: [["a:x", "b:y"], ["a:x", "b:z"]]\n',
      'saas: {far: {url: "ctl:admin/model.far"}}\nrelations: [[a, far]]\n',
    ],
    refused: [
      ['relations: [a, b]\n', /must be a list/],
      ['relations: [[a]]\n', /has 1 ends, and must have two/],
      ['relations: [[a, b, a]]\n', /has 3 ends/],
      ['relations: [[a, nope]]\n', /names 'nope', which the bundle does not have/],
      ['relations: [[a, "b:"]]\n', /is no end of a relation/],
      ['relations: [[a, B]]\n', /is no end of a relation/],
      ['relations: [[a, "a:x"]]\n', /the same application at both ends/],
      ['relations: [[a, b], [b, a]]\n', /stands there twice/],
    ],
  },
  {
    ...{
      source: 'bundledata.go, ParsePlacement and verifyPlacement',
      kind: 'bundle',
      file: 'bundle.yaml',
      form: 'whole',
    },
    accepted: [
      'applications: {a: {charm: a, num_units: 2, to: [new, "lxd:new"]}}\n',
      'applications: {a: {charm: a, num_units: 2}, b: {charm: b, num_units: 2, to: [a/1, "kvm:a"]}}\n',
      'applications: {a: {charm: a, num_units: 1, to: ["lxd:0"]}}\nmachines: {0: }\n',
      'bundle: kubernetes\napplications: {a: {charm: a, to: ["disk=ssd,zone=a"]}}\n',
    ],
    refused: [
      ['applications: {a: {charm: a, num_units: 1, to: new}}\n', /must be a list/],
      ['applications: {a: {charm: a, num_units: 1, to: [new, new]}}\n', /has more placements than units/],
      ['applications: {a: {charm: a, num_units: 1, to: [0]}}\n', /names a machine that the bundle does not have/],
      ['applications: {a: {charm: a, num_units: 1, to: [b]}}\n', /names an application that the bundle does not have/],
      ['applications: {a: {charm: a, num_units: 1, to: [a/1]}}\n', /names a unit that is not there: 'a' has 1/],
      ['applications: {a: {charm: a, num_units: 1, to: [new/0]}}\n', /is none/],
      ['applications: {a: {charm: a, num_units: 1, to: ["LXD:0"]}}\n', /is none/],
      ['applications: {a: {charm: a, num_units: 1}}\nmachines: {0: }\n', /no unit is placed on the machine '0'/],
      ['applications: {a: {charm: a, num_units: 1, to: [x]}}\nmachines: {x: }\n', /cannot be the number of a machine/],
      ['bundle: kubernetes\napplications: {a: {charm: a, to: [x]}}\n', /is no label with its value/],
      ['bundle: kubernetes\napplications: {a: {charm: a, to: [x=1, y=2]}}\n', /more than one placement/],
    ],
  },
];

export const jujuVectors = [...metadata, ...otherFiles, ...bundles];

const charmFiles = { 'metadata.yaml': minimal, 'manifest.yaml': base('') };
const bundleFiles = { 'bundle.yaml': applications, 'README.md': '# hello\n' };

/** The files of the archive of one vector. */
export function filesOf({ kind, file, form, beside = {} }: JujuVectors, text: string): Record<string, string> {
  const files: Record<string, string> = { ...(kind === 'charm' ? charmFiles : bundleFiles), ...beside };
  return { ...files, [file]: form === 'more' ? `${files[file] ?? ''}${text}` : text };
}
