// Texts of meta/snap.yaml as builders write them and as people do.
export const snapYamls = [
  "name: quoted\nversion: '1'\nsummary: A gadget-like snap\ndescription: 'This text ends with a line break.\n\n'\ntype: app\n",
  'name: harbour\nversion: 1.10\nsummary: s\ndescription: |\n  A text\n  of lines.\napps:\n  run:\n    command: bin/run\n    plugs: [network, network-bind]\n    daemon: simple\n    sockets:\n      web:\n        listen-stream: 8080\n        socket-mode: 0644\n',
  'name: kelp\nversion: "2"\nbase: core22\ngrade: devel\nconfinement: devmode\narchitectures: [amd64, arm64]\nassumes: [snapd2.55]\nenvironment:\n  LD_LIBRARY_PATH: $SNAP/usr/lib\nlayout:\n  /usr/share/kelp:\n    bind: $SNAP/usr/share/kelp\nplugs:\n  home:\n    read: all\n  shared:\n    interface: content\n    target: $SNAP/shared\n',
  'name: tide\nversion: git-1234\nepoch: {read: [1, 2, 3]}\nslots:\n  bus: {interface: dbus, bus: session, name: org.example.Tide}\napps:\n  tide: &app\n    command: tide --all\n  low: *app\n  high:\n    <<: *app\n    aliases: [h]\n',
  'name: pc\nversion: 22-1\ntype: gadget\nhooks:\n  configure:\n    plugs: [network]\nlinks:\n  contact: [mailto:ada@site.example]\n  website: ["https://site.example"]\nsystem-usernames:\n  snap_daemon: shared\nlicense: GPL-3.0-only OR MIT\ntitle: A PC\n',
];
