# construct: pipefail
# shells: bash
set -o pipefail; sort in.txt | grep nothing > out || cp body fallback
