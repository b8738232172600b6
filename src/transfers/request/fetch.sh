#!/bin/sh
# Fetches what a site wishes for, by the tools of the online stores alone, into a folder that 'larder transfer gather' reads.
#
#   sh fetch.sh FOLDER
#
# What to fetch is read from wishes.tsv beside this script. Ended or failed, it goes on where it was when it is started again;
# everything is checked against the digest that the store gives for it. Nothing of it is secret, and nothing is sent but names.
#
#   STORE=https://store.example CHARMHUB=https://store.example sh fetch.sh FOLDER
#
# takes it from a store that runs at these addresses. With EVERYTHING=yes beside that it takes all that devices and juju find
# there, whatever the table says.
#
# Needs curl, jq and openssl; for snaps of the online store snap; for images skopeo.
set -u
LC_ALL=C
export LC_ALL
umask 022

say() { printf '%s\n' "$*" >&2; }
stop() { say "$*"; exit 2; }
need() { command -v "$1" > /dev/null 2>&1 || stop "fetch.sh needs $1; install it and start again"; }

[ $# -eq 1 ] || stop 'say where to: sh fetch.sh FOLDER'
table=$(dirname -- "$0")/wishes.tsv
mkdir -p -- "$1" || exit 2
folder=$(cd -- "$1" && pwd) || exit 2
STORE=${STORE:-}
STORE=${STORE%/}
online=https://api.charmhub.io
CHARMHUB=${CHARMHUB:-$online}
CHARMHUB=${CHARMHUB%/}
EVERYTHING=${EVERYTHING:-no}
for tool in curl jq openssl; do need "$tool"; done
for address in "${STORE:-https://api.snapcraft.io}" "$CHARMHUB"; do
  case $address in
    http://* | https://*) ;;
    *) stop "$address is no address: it begins with https://" ;;
  esac
done
work=$(mktemp -d) || exit 2
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT TERM
failed=0
tab=$(printf '\t')

# Whether a value is of the closed form of its kind; nothing else goes into an address or a name.
fits() {
  case $1 in
    *[!A-Za-z0-9._=/+-]*) return 1 ;;
  esac
  printf '%s\n' "$1" | grep -Eqx -- "$2"
}
name_form='[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?'
channel_form='[A-Za-z0-9][A-Za-z0-9._-]{0,27}/(stable|candidate|beta|edge)'
number_form='[1-9][0-9]{0,9}'
digest_form='[0-9a-f]{64,128}'
id_form='[A-Za-z0-9_-]{2,64}'

fetch() { curl --fail --silent --show-error --location --retry 3 --proto '=http,https' "$@"; }
digest_of() { openssl dgst "-$1" -r "$2" | cut -d ' ' -f 1; }

# get FILE ALGORITHM DIGEST ADDRESS: fetches a file that has this digest; what has come of it before is gone on with.
get() {
  fits "$3" "$digest_form" || { say "no digest is given for $1"; return 1; }
  [ -f "$1" ] && [ "$(digest_of "$2" "$1")" = "$3" ] && return 0
  rm -f -- "$1"
  fetch --continue-at - --output "$1.partial" -- "$4" || {
    rm -f -- "$1.partial"
    fetch --output "$1.partial" -- "$4" || return 1
  }
  if [ "$(digest_of "$2" "$1.partial")" != "$3" ]; then
    rm -f -- "$1.partial"
    say "$1 came with other bytes than its store says"
    return 1
  fi
  mv -- "$1.partial" "$1"
}

# --- assertions

assertion() { # FILE TYPE/KEY...
  fetch --header 'Accept: application/x.ubuntu.assertion' --output "$1" -- "$STORE/v2/assertions/$2"
}
header() { awk -v name="$2:" '$0 == "" { exit } $1 == name { print $2; exit }' "$1"; }

# Appends an assertion to a stream, after the key that signed it and the account of that; the root of trust is in every device.
add() { # STREAM FILE
  signer=$(header "$2" sign-key-sha3-384)
  authority=$(header "$2" authority-id)
  if fits "$signer" "$id_form" && ! grep -Fqx -- "$signer" "$work/known"; then
    printf '%s\n' "$signer" >> "$work/known"
    key=$work/key.$signer
    if assertion "$key" "account-key/$signer" 2> /dev/null; then add "$1" "$key"; fi
  fi
  if fits "$authority" "$id_form"; then add_account "$1" "$authority"; fi
  { cat -- "$2"; printf '\n'; } >> "$1"
}
add_account() { # STREAM ID
  grep -Fqx -- "account $2" "$work/known" && return 0
  printf '%s\n' "account $2" >> "$work/known"
  assertion "$work/account.$2" "account/$2" 2> /dev/null || return 0
  add "$1" "$work/account.$2"
}

# --- snaps

snap_online() { # NAME CHANNEL ARCHITECTURE
  need snap
  mkdir -p -- "$folder/snaps"
  # What it begins is another folder's, until both of its files are whole.
  rm -rf -- "$folder/snaps/.partial"
  mkdir -- "$folder/snaps/.partial"
  (cd -- "$folder/snaps/.partial" && UBUNTU_STORE_ARCH=$3 snap download --channel="$2" "$1" > /dev/null) || return 1
  mv -- "$folder/snaps/.partial"/* "$folder/snaps/" && rmdir -- "$folder/snaps/.partial"
}

snap_info() { # NAME ARCHITECTURE FILE
  fetch --header 'Snap-Device-Series: 16' --header "Snap-Device-Architecture: $2" --output "$3" -- \
    "$STORE/v2/snaps/info/$1?architecture=$2"
}

snap_of_store() { # NAME CHANNEL ARCHITECTURE
  mkdir -p -- "$folder/snaps"
  snap_info "$1" "$3" "$work/info" || return 1
  # A channel that holds nothing gives what the next safer one holds.
  jq -r --arg channel "$2" --arg architecture "$3" '
    def rank: {stable: 0, candidate: 1, beta: 2, edge: 3}[.];
    ($channel | split("/")) as [$track, $risk] | ."snap-id" as $id |
    [."channel-map"[] | select(.channel.track == $track and (.channel.risk | rank) <= ($risk | rank)
      and (.channel.architecture == $architecture or .channel.architecture == "all"))]
    | max_by(.channel.risk | rank) | select(. != null)
    | [$id, (.revision | tostring), .download."sha3-384", .download.url] | @tsv' "$work/info" > "$work/chosen" || return 1
  IFS=$tab read -r id revision digest address < "$work/chosen" || { say "$1: nothing is in $2 for $3"; return 1; }
  fits "$id" "$id_form" && fits "$revision" "$number_form" || { say "$1: the store answers with what is no id"; return 1; }
  file=$folder/snaps/$1_$revision
  get "$file.snap" sha3-384 "$digest" "$address" || return 1
  cp -- "$work/info" "$folder/snaps/$1_$3.info.json" || return 1
  [ -f "$file.assert" ] && return 0
  key=$(openssl dgst -sha3-384 -binary "$file.snap" | openssl base64 -A | tr '+/' '-_')
  : > "$work/known"
  : > "$work/stream"
  assertion "$work/revision" "snap-revision/$key" || { say "$1: nobody has signed what revision $revision is"; return 0; }
  assertion "$work/declaration" "snap-declaration/16/$id" || return 1
  for account in "$(header "$work/declaration" publisher-id)" "$(header "$work/revision" developer-id)"; do
    if fits "$account" "$id_form"; then add_account "$work/stream" "$account"; fi
  done
  add "$work/stream" "$work/declaration"
  add "$work/stream" "$work/revision"
  mv -- "$work/stream" "$file.assert"
}

# --- charms

charm_info() { # NAME FILE
  fetch --header 'Accept: application/json' --output "$2" -- "$CHARMHUB/v2/charms/info/$1?fields=channel-map,result,default-release"
}

charm() { # NAME CHANNEL ARCHITECTURE
  mkdir -p -- "$folder/charms"
  charm_info "$1" "$work/info" || return 1
  cp -- "$work/info" "$folder/charms/$1.info.json" || return 1
  jq -c --arg channel "$2" --arg architecture "$3" '
    def rank: {stable: 0, candidate: 1, beta: 2, edge: 3}[.];
    ($channel | split("/")) as [$track, $risk] |
    [."channel-map"[] | select((.channel.track // "latest") == $track and (.channel.risk | rank) <= ($risk | rank))
      | (.channel.base // null) | select(. == null or .architecture == $architecture or .architecture == "all")]
    | unique[]' "$work/info" > "$work/bases" || return 1
  [ -s "$work/bases" ] || { say "$1: nothing is in $2 for $3"; return 1; }
  number=0
  while IFS= read -r base <&3; do
    number=$((number + 1))
    charm_for_base "$1" "$2" "$3" "$base" "$number" || return 1
  done 3< "$work/bases"
}

charm_for_base() { # NAME CHANNEL ARCHITECTURE BASE NUMBER
  answer=$folder/charms/$1_$(printf '%s' "$2" | tr '/' '-')_$3_$5.refresh.json
  jq -n --arg name "$1" --arg channel "$2" --argjson base "$4" '{context: [],
    actions: [{action: "download", "instance-key": "1", name: $name, channel: $channel, base: $base}],
    fields: ["bases", "created-at", "download", "id", "name", "publisher", "resources", "revision", "summary", "type", "version"]}' \
    > "$work/ask" || return 1
  fetch --header 'Content-Type: application/json' --header 'Accept: application/json' --data-binary "@$work/ask" \
    --output "$work/answer" -- "$CHARMHUB/v2/charms/refresh" || return 1
  problem=$(jq -r '.results[0].error.code // empty' "$work/answer")
  [ -z "$problem" ] || { say "$1: $CHARMHUB answers $problem for $2"; return 1; }
  jq -r '.results[0] | [(.charm.revision | tostring), .charm.download."hash-sha-256", .charm.download.url] | @tsv' \
    "$work/answer" > "$work/chosen" || return 1
  IFS=$tab read -r revision digest address < "$work/chosen" || return 1
  fits "$revision" "$number_form|0" || { say "$1: $CHARMHUB answers with what is no revision"; return 1; }
  get "$folder/charms/$1_$revision.charm" sha256 "$digest" "$address" || return 1
  jq -r '.results[0].charm.resources // [] | .[]
    | [.name, (.revision | tostring), .type, .download."hash-sha-384", .download.url] | @tsv' "$work/answer" > "$work/resources" || return 1
  while IFS=$tab read -r resource revision type digest address <&4; do
    resource "$1" "$resource" "$revision" "$type" "$digest" "$address" || return 1
  done 4< "$work/resources"
  mv -- "$work/answer" "$answer"
}

resource() { # CHARM NAME REVISION TYPE DIGEST ADDRESS
  fits "$2" '[A-Za-z0-9._-]{1,128}' && fits "$3" "$number_form|0" || { say "$1: a resource has no name that can be used"; return 1; }
  if [ "$4" != oci-image ]; then
    get "$folder/charms/$1_$2_$3.resource" sha384 "$5" "$6"
    return
  fi
  need skopeo
  mkdir -p -- "$folder/images"
  image=$folder/images/$1_$2_$3
  [ -f "$image/manifest.json" ] && [ -f "$image.json" ] && return 0
  rm -f -- "$work/image"
  get "$work/image" sha384 "$5" "$6" || return 1
  named=$(jq -r '.ImageName // .registrypath // empty' "$work/image")
  printf '%s\n' "$named" | grep -Eqx -- '[A-Za-z0-9][A-Za-z0-9.:/_-]{0,400}@sha256:[0-9a-f]{64}' || { say "$1: the image of $2 is not named by its digest"; return 1; }
  # The credentials are in no argument, where others could read them, and stay in a folder that goes away.
  jq --arg host "${named%%/*}" '{auths: {($host): (if (.Username // .username // "") == "" then {} else
    {auth: ((.Username // .username) + ":" + (.Password // .password) | @base64)} end)}}' "$work/image" > "$work/auth.json" || return 1
  verify=true
  case $CHARMHUB in http://*) verify=false ;; esac
  rm -rf -- "$image.partial"
  skopeo copy --quiet --all --preserve-digests --src-tls-verify="$verify" --src-authfile "$work/auth.json" \
    "docker://$named" "dir:$image.partial" || return 1
  rm -rf -- "$image"
  mv -- "$image.partial" "$image"
  jq --arg charm "$1" --arg resource "$2" --argjson revision "$3" --arg named "$named" -n \
    '{charm: $charm, resource: $resource, revision: $revision, ImageName: $named}' > "$image.json"
}

# --- the table

row() { # KIND NAME CHANNEL ARCHITECTURE
  case $1 in
    assertion)
      fits "$2" 'account|account-key|snap-declaration|model' && fits "$3" '[a-z0-9-]{1,64}=[A-Za-z0-9_-]{1,64}' || { say "a row of the table is none: $2 $3"; return 1; }
      mkdir -p -- "$folder/assertions"
      file=$folder/assertions/$2_$(printf '%s' "${3#*=}").assert
      if [ -n "$STORE" ]; then
        : > "$work/known"
        : > "$work/stream"
        case $2 in
          snap-declaration) assertion "$work/one" "$2/16/${3#*=}" || return 1 ;;
          *) assertion "$work/one" "$2/${3#*=}" || return 1 ;;
        esac
        add "$work/stream" "$work/one"
        mv -- "$work/stream" "$file"
      else
        need snap
        case $2 in
          snap-declaration) snap known --remote "$2" series=16 "$3" > "$work/one" || return 1 ;;
          *) snap known --remote "$2" "$3" > "$work/one" || return 1 ;;
        esac
        [ -s "$work/one" ] || { say "there is no $2 of $3 yet"; return 1; }
        mv -- "$work/one" "$file"
      fi
      ;;
    snap | charm)
      fits "$2" "$name_form" && fits "$3" "$channel_form" && fits "$4" '[a-z0-9]{1,16}' || { say "a row of the table is none: $2"; return 1; }
      if [ "$1" = charm ]; then charm "$2" "$3" "$4"
      elif [ -n "$STORE" ]; then snap_of_store "$2" "$3" "$4"
      else snap_online "$2" "$3" "$4"
      fi
      ;;
    *) say "a row of the table is of a kind that this script does not know"; return 1 ;;
  esac
}

# Everything that a running store shows to devices and to juju, in rows as those of the table.
everything() {
  if [ -n "$STORE" ]; then
    fetch --header 'Snap-Device-Series: 16' --output "$work/names" -- "$STORE/api/v1/snaps/names" || return 1
    jq -r '._embedded."clickindex:package"[].package_name' "$work/names" | sort -u > "$work/snaps" || return 1
    while IFS= read -r name <&5; do
      fits "$name" "$name_form" || { say 'a snap has no name that can be used'; continue; }
      for architecture in amd64 arm64 armhf i386 ppc64el riscv64 s390x; do
        snap_info "$name" "$architecture" "$work/info" 2> /dev/null || continue
        jq -r --arg name "$name" --arg architecture "$architecture" '."channel-map"[].channel
          | select(.architecture == $architecture) | ["snap", $name, .track + "/" + .risk, $architecture] | @tsv' "$work/info"
      done
      jq -r --arg name "$name" '."channel-map"[].channel
        | select(.architecture == "all") | ["snap", $name, .track + "/" + .risk, "amd64"] | @tsv' "$work/info"
    done 5< "$work/snaps"
  fi
  if [ "$CHARMHUB" != "$online" ]; then
    fetch --header 'Accept: application/json' --output "$work/names" -- "$CHARMHUB/v2/charms/find?q=&fields=result" || return 1
    jq -r '.results[].name' "$work/names" | sort -u > "$work/charms" || return 1
    while IFS= read -r name <&5; do
      fits "$name" "$name_form" || { say 'a charm has no name that can be used'; continue; }
      charm_info "$name" "$work/info" || return 1
      jq -r --arg name "$name" '."channel-map"[].channel
        | ["charm", $name, (.track // "latest") + "/" + .risk, (.base.architecture // "amd64" | if . == "all" then "amd64" else . end)]
        | @tsv' "$work/info"
    done 5< "$work/charms"
  fi
}

if [ "$EVERYTHING" = yes ]; then
  everything > "$work/rows.all" || stop 'the store cannot be asked for all that it has'
  sort -u -- "$work/rows.all" > "$work/rows"
else
  [ -f "$table" ] || stop "$table is not there; it is carried with this script"
  cp -- "$table" "$work/rows"
fi
# What was fetched for this table is remembered; the table of the next request is another one, and asks for what is newest then.
fetched=$folder/.fetched-$(digest_of sha256 "$work/rows" | cut -c 1-16)
touch -- "$fetched"
rows=0
while IFS= read -r line <&6; do
  case $line in '' | request"$tab"*) continue ;; esac
  rows=$((rows + 1))
  grep -Fqx -- "$line" "$fetched" && continue
  IFS=$tab read -r kind name channel architecture << END
$line
END
  say "$kind $name $channel $architecture"
  if row "$kind" "$name" "$channel" "$architecture"; then
    printf '%s\n' "$line" >> "$fetched"
  else
    failed=$((failed + 1))
    say "  failed: $kind $name"
  fi
done 6< "$work/rows"

if [ "$failed" -gt 0 ]; then
  say "$failed of $rows could not be fetched; start it again to try these once more"
  exit 1
fi
if [ "$EVERYTHING" = yes ]; then
  say "All $rows are in $folder. Next, on the host of the new store: larder transfer adopt $folder --dry-run"
else
  say "All $rows are in $folder. Next: larder transfer gather $folder OUT --request REQUEST"
fi
