#!/bin/sh
# Writes the present digest of each image into operations/images.lock. Needs skopeo and a way to the registries.
#   operations/lock_images.sh [FILE]
set -eu
lock="${1:-$(dirname "$0")/images.lock}"
new="$lock.new"
trap 'rm -f "$new"' EXIT
while IFS= read -r line; do
  case "$line" in
    *_IMAGE=*)
      image="${line#*=}"
      image="${image%%@*}"
      digest=$(skopeo inspect --format '{{.Digest}}' "docker://$image") \
        || { echo "$image: the registry states no digest, so $lock is unchanged. Check the network and the tag" >&2; exit 1; }
      case "$digest" in
        sha256:*) echo "${line%%=*}=$image@$digest" ;;
        *) echo "$image: expected a digest sha256:..., found '$digest'. $lock is unchanged" >&2; exit 1 ;;
      esac
      ;;
    *) echo "$line" ;;
  esac
done <"$lock" >"$new"
mv "$new" "$lock"
